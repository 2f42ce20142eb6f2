"""The page of the laboratory: what was published, demanded and measured, and the figures; one file that needs no other."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from analytics.report.document import ContentsEntry, document, section
from analytics.report.markup import element
from analytics.report.plot import figures
from infra.kernel.html import Html, joined

from .claims import AnsweredStudy, listed, summary
from .study import StudyScale, StudyTable
from .tables import as_csv, as_sheet

PAGE: Final = "report.html"
TITLE: Final = "Peer-to-peer overlays, beside what was published"
_SCALES: Final[dict[StudyScale, str]] = {
    "tiny": "Sizes for a test of the report itself: no figure means anything.",
    "quick": "Quick: a tenth of the published sizes and less, for the shape of each figure. A full report has the sizes of the papers.",
    "full": "Full: the sizes of the papers, and ten times these where it says so.",
}


def write(folder: Path, answered: Sequence[AnsweredStudy], scale: StudyScale, seed: int) -> Path:
    """Writes the page to `folder`, and a file for each table to a folder of its study. Returns the page's path. Raises OSError."""
    for study, result in answered:
        (folder / study.key).mkdir()
        for each in result.tables:
            (folder / study.key / f"{each.name}.csv").write_text(as_csv(each), encoding="utf-8")
    page = folder / PAGE
    page.write_text(render(answered, scale, seed), encoding="utf-8")
    return page


def render(answered: Sequence[AnsweredStudy], scale: StudyScale, seed: int) -> Html:
    """Returns the page."""
    contents = [ContentsEntry("claims", "All claims"), *(ContentsEntry(each.study.key, each.study.title, each.tally) for each in answered)]
    head = element(
        "header",
        element("p", "Overlay laboratory", class_="kicker"),
        element("h1", TITLE),
        element("p", f"{_SCALES[scale]} Seed {seed}.", class_="lead"),
    )
    claims = section("claims", "All claims", summary(answered))
    return document(TITLE, contents, head, claims, *map(_section, answered))


def _section(answered: AnsweredStudy) -> Html:
    study, result = answered
    return section(
        study.key,
        study.title,
        element("p", f"Drawn anew: {study.sources}" if study.sources else "Not in the papers", class_="source"),
        figures(study.plots(result), titled=True),
        listed(result.claims),
        *(_table(study.key, each) for each in result.tables),
        kind="figure",
    )


def _table(key: str, table: StudyTable) -> Html:
    sheet = as_sheet(table)
    file = element("p", element("a", f"{table.name}.csv", href=f"{key}/{table.name}.csv"), class_="source")
    return joined(element("h3", sheet.title), sheet.html(), file)
