"""The report as a whole: complete, self-contained, and safe whatever a manifest says."""

import re
from html.parser import HTMLParser
from pathlib import Path

import msgspec
import pytest

from analytics import summary as summaries
from analytics.figures import FIGURES
from analytics.findings import JudgedFinding, findings
from analytics.report.figure_section import figure_section
from analytics.report.page import write_page
from analytics.report.verdicts import MARKS
from tests.support.characterizations import ABOUT, SUMMARY, make

EVIL = "<script>alert('x')</script>"
MOST_BYTES = 3_000_000


class Reader(HTMLParser):
    """A reader of a page's tags and texts. Raises AssertionError where tags do not match."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            if name in ("href", "src", "xlink:href"):
                self.links.append(value or "")
        if tag not in ("meta", "br", "hr"):
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        self._open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag


def all_but(*keys: str) -> tuple[str, ...]:
    """Returns the keys of the other figures."""
    return tuple(key for key in FIGURES if key not in keys)


def findings_of(key: str) -> list[JudgedFinding]:
    """Returns the findings about one figure."""
    return [each for each in findings(SUMMARY) if each.figure == key]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Makes a characterization with every figure, and its report."""
    made = make(tmp_path_factory.mktemp("report") / "full")
    write_page(made)
    return made


@pytest.fixture
def text(folder: Path) -> str:
    """Reads the report."""
    return (folder / "report.html").read_text(encoding="utf-8")


def test_every_figure_has_a_plot(text: str) -> None:
    """WA-2: a plot for each figure of A3."""
    page = Reader(text)

    assert set(FIGURES) <= set(page.ids)
    assert len(re.findall(r'<svg class="plot"', text)) == len(FIGURES)
    assert len(text.encode()) < MOST_BYTES


def test_the_page_needs_nothing_but_itself_and_its_curves(folder: Path, text: str) -> None:
    page = Reader(text)

    assert not {"script", "img", "link", "iframe"} & set(page.tags)
    assert "http:" not in text
    assert "https:" not in text
    assert "@import" not in text
    for link in page.links:
        if link.startswith("#"):
            assert link[1:] in page.ids
        else:
            assert (folder / link).exists()
    assert len(page.ids) == len(set(page.ids))


def test_words_in_plots_are_text_and_colours_those_of_the_page(text: str) -> None:
    plots = re.findall(r'<svg class="plot".*?</svg>', text, re.DOTALL)

    assert all("<text" in plot and "var(--series-1)" in plot for plot in plots)
    assert not any(re.search(r"#[0-9a-f]{6}\b", plot) for plot in plots)
    used = set(re.findall(r"var\(--([\w-]+)\)", text))
    assert all(text.count(f"--{name}:") >= 2 for name in used), "a colour for light and one for dark"


def test_the_page_tells_where_the_trace_is_from_and_what_is_not_in_it(text: str) -> None:
    assert "Thu 10 Jan 2013 00:00 to Sun 20 Jan 2013 00:00, times in Europe/Stockholm" in text
    assert "30 of 3,030 rows are diagnostic" in text
    assert "publications holds 10 % of the rows" in text
    assert "segue analyze generate --profile spotify --scale 0.01 --seed 7 TRACE" in text
    assert "segue analyze characterize TRACE --service presence --diagnostic diagnostic --diagnostic ping --bootstraps 50" in text
    assert "scaled up." in text
    assert "topics are no users" in text


def test_every_published_finding_stands_there_with_a_mark_that_needs_no_colour(text: str) -> None:
    judged = findings(SUMMARY)

    assert judged
    told = re.findall(r'<strong class="verdict [a-z-]+">(\S) ([a-z ]+)</strong>', text)
    assert len(told) == len(judged)
    assert all(MARKS[verdict] == mark for mark, verdict in told)


def test_the_same_characterization_gives_the_same_section_of_each_kind(folder: Path, text: str) -> None:
    for key in ("nnr", "size_nnr", "churn", "weekly"):
        assert figure_section(folder, FIGURES[key], summaries.read(folder), findings_of(key)) in text


def test_a_figure_that_could_not_be_computed_is_explained(tmp_path: Path) -> None:
    missing = all_but("popularity")

    text = write_page(make(tmp_path / "a", without=missing)).read_text(encoding="utf-8")

    assert text.count("Not drawn: there are no times.") == len(missing)
    assert len(re.findall(r'<svg class="plot"', text)) == 1
    Reader(text)


def test_what_a_manifest_says_is_never_markup(tmp_path: Path) -> None:
    about = msgspec.structs.replace(
        ABOUT, name=EVIL, source=EVIL, pseudonymisation=EVIL, sites=(EVIL,), notes=(EVIL,), limits={"days": EVIL}
    )
    folder = make(tmp_path / "a", about=about, without=all_but("size", "churn"))
    summary = summaries.read(folder)
    summaries.write(
        folder,
        msgspec.structs.replace(
            summary,
            binning=dict.fromkeys(FIGURES, EVIL),
            skipped={EVIL: EVIL},
            settings={EVIL: EVIL},
            timings_s={EVIL: 1.0},
            measures=summary.measures | {EVIL: 1.0},
        ),
    )

    text = write_page(folder).read_text(encoding="utf-8")

    assert "<script" not in text
    assert text.count("&lt;script&gt;") >= 10
    Reader(text)


def test_curves_without_a_row_do_not_stop_the_report(tmp_path: Path) -> None:
    folder = make(tmp_path / "a", without=all_but("size", "size_nnr", "churn", "daily"))
    for path in (folder / "curves").glob("*.csv"):
        path.write_text(path.read_text().partition("\n")[0] + "\n")

    Reader(write_page(folder).read_text(encoding="utf-8"))


def test_figures_of_twitter_count_and_those_of_spotify_are_percentages(tmp_path: Path) -> None:
    """WA-2: the axes of the source, for both profiles."""
    folder = make(tmp_path / "a", without=all_but("popularity"))
    spotify = summaries.read(folder)
    twitter = msgspec.structs.replace(spotify, manifest=msgspec.structs.replace(ABOUT, profile="twitter"))

    assert ">% of subscribers on a topic<" in figure_section(folder, FIGURES["popularity"], spotify, [])
    counted = figure_section(folder, FIGURES["popularity"], twitter, [])
    assert ">% of subscribers on a topic<" not in counted
    assert ">subscribers of a topic<" in counted


def test_a_distribution_of_one_value_is_drawn(tmp_path: Path) -> None:
    folder = make(tmp_path / "a", without=all_but("size"))
    (folder / "curves" / "size.csv").write_text("value,percent,count,ccdf\n3,0.1,50,1\n")

    assert '<svg class="plot"' in write_page(folder).read_text(encoding="utf-8")


def test_a_period_of_one_hour_is_drawn(tmp_path: Path) -> None:
    folder = make(tmp_path / "a", without=all_but("publications"))
    path = folder / "curves" / "publications.csv"
    path.write_text("\n".join(path.read_text().splitlines()[:2]) + "\n")

    assert '<svg class="plot"' in write_page(folder).read_text(encoding="utf-8")
