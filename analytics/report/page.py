"""The report of a characterization: `report.html` beside its summary and curves."""

from pathlib import Path
from typing import Final

from analytics.figures import FIGURES
from analytics.findings import JudgedFinding, findings
from analytics.summary import WorkloadSummary, read

from .document import ContentsEntry, document, section
from .figure_section import figure_section
from .head import head, skipped
from .making import making
from .markup import element
from .measure_table import measure_table
from .verdicts import compared, in_words, tally, which_differ

PAGE: Final = "report.html"


def write_page(folder: Path) -> Path:
    """Writes the report of the characterization in `folder` there and returns its path. Raises TraceError, OSError."""
    path = folder / PAGE
    path.write_text(render(folder, read(folder)), encoding="utf-8")
    return path


def render(folder: Path, summary: WorkloadSummary) -> str:
    """Returns the page. Raises TraceError if a curve cannot be read."""
    judged = findings(summary)
    of_figure = {key: [each for each in judged if each.figure == key] for key in FIGURES}
    others = [each for each in judged if each.figure not in FIGURES]
    return document(
        f"{summary.manifest.name}: characterization",
        _contents(summary, of_figure),
        head(summary),
        section("verdicts", "Held against what was published", element("p", in_words(judged)), which_differ(judged), compared(others)),
        *(figure_section(folder, figure, summary, of_figure[key]) for key, figure in FIGURES.items()),
        section("skipped", "What could not be computed", skipped(summary)),
        section("measures", "All measures", measure_table(summary.measures)),
        section("making", "How to make this report again", making(summary)),
    )


def _contents(summary: WorkloadSummary, of_figure: dict[str, list[JudgedFinding]]) -> list[ContentsEntry]:
    drawn = [
        ContentsEntry(key, figure.title, tally(of_figure[key]) if key in summary.rows else "not drawn") for key, figure in FIGURES.items()
    ]
    return [
        ContentsEntry("verdicts", "Held against what was published"),
        *drawn,
        ContentsEntry("skipped", "What could not be computed"),
        ContentsEntry("measures", "All measures"),
        ContentsEntry("making", "How to make this report again"),
    ]
