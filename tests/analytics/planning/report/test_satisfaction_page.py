"""The page and the tables of a satisfaction study."""

import re

import msgspec
import pytest

from analytics.planning.report import satisfaction_tables as tables
from analytics.planning.report.satisfaction_page import render
from analytics.planning.report.satisfaction_plots import figures, progress
from analytics.planning.satisfaction.study import SatisfactionStudy
from analytics.report.plot import Key
from tests.analytics.report.test_page import Reader
from tests.support.plans import THRESHOLDS, satisfied


@pytest.fixture(scope="module")
def text() -> str:
    """The page with everything."""
    return render(satisfied())


def marks(study: SatisfactionStudy) -> list[Key]:
    """Returns what was published, in the figure of B3M over capacity."""
    return [key for key in progress(study, "b3m").plots[0].keys if key.mark == "published"]


def test_every_solution_is_told_with_its_bounds_and_ratios() -> None:
    """WA-45."""
    found = tables.solutions(satisfied())
    assert len(found.rows) == 2 * 3 * 3
    assert dict(zip(found.head, found.rows[0], strict=True)) == {
        "metric": "B3M",
        "threshold": "27",
        "algorithm": "greedy",
        "topics": "5",
        "value": "700",
        "share": "70.0 %",
        "bound": "800",
        "ratio": "0.875",
        "best bound": "750",
        "ratio to it": "0.933",
        "seconds": "0.50",
    }


def test_published_ratios_stand_beside_ours_where_threshold_and_capacity_are_the_same_shares() -> None:
    assert [(row[0], row[1], row[3]) for row in tables.compared(satisfied()).rows] == [
        ("B3M", "27", "0.87"),
        ("B3M", "276", "0.75"),
        ("B3M", "2,763", "0.82"),
        ("F-B3M", "27", "0.86"),
        ("F-B3M", "2,763", "0.90"),
    ]
    assert tables.compared(msgspec.structs.replace(satisfied(), capacity=20_000)).rows == []


def test_hours_are_told_as_means_and_extremes() -> None:
    found = tables.windows(satisfied().windows)
    assert found.rows[0] == ("B3M", "10.0 %", "0.755", "0.750", "0.0100", "0.0100")
    assert found.notes == (
        "2 windows of one hour, 8 active topics and 100 pairs on average. "
        "Threshold 20, as in the thesis; a capacity is a share of what all active topics of its hour take.",
    )


def test_online_is_held_against_fresh_solutions() -> None:
    """WA-46: what is reported of the hours that have one before them; that it holds is tested with the solver."""
    found = tables.online(satisfied(windows=3))
    assert found.rows[0] == ("B3M", "2", "0", "0.965", "0.960", "1.50", "2.50", "0.0055", "0.10")
    assert found.notes[0].startswith("Threshold 20, as in the thesis; the capacity is 10.0 %")
    assert tables.online(satisfied(windows=1)).rows == []


def test_the_best_solutions_are_told_in_short_with_what_greedy_gains_by_more_capacity() -> None:
    found = tables.short(satisfied())
    assert len(found.rows) == 2 * 3
    assert found.rows[0] == ("B3M", "27", "greedy", "700", "70.0 %", "0.933", "14 (+2.0 %)")
    assert "greedy gains" in found.notes[1]


def test_the_page_has_the_figures_of_the_thesis_with_what_was_published(text: str) -> None:
    """WA-2 of plans: figures 6.2 to 6.7."""
    assert [figure.source for figure in figures(satisfied())] == ["6.2", "6.4", "6.3", "6.5", "6.6", "6.7"]
    assert all(figure.published for figure in figures(satisfied()))
    assert text.count('<svg class="plot"') == 6
    for words in ("published at 27", "published bound at 27", "B3M, published", "published limit for F-B3M: 20 s", "published least: 0.7"):
        assert words in text
    for threshold in THRESHOLDS:
        assert f"bound at {threshold:,}" in text


@pytest.mark.parametrize("profile", ["twitter", None])
def test_of_other_traces_nothing_was_published(profile: str | None) -> None:
    text = render(satisfied(profile=profile))
    assert "ublished" not in text
    assert "In the thesis" not in text


def test_published_marks_have_the_style_of_their_threshold_and_are_left_out_where_it_was_not_run() -> None:
    assert marks(satisfied()) == [Key("published at 27", 0, "published"), Key("published bound at 27", 0, "published")]
    assert marks(satisfied(thresholds=(276, 27))) == [Key("published at 27", 1, "published"), Key("published bound at 27", 1, "published")]
    assert marks(satisfied(thresholds=(5, 276))) == []


def test_published_ratios_stand_at_the_thresholds_that_were_run() -> None:
    assert [run.threshold for _, run in tables.matched(satisfied())] == [27, 276, 2763, 27, 2763]
    assert [run.threshold for _, run in tables.matched(satisfied(thresholds=(5, 276)))] == [276]


def test_what_has_no_points_is_neither_drawn_nor_listed() -> None:
    found = satisfied()
    cuckoo = msgspec.structs.replace(found, runs=[run for run in found.runs if run.algorithm == "cuckoo"], windows=[])
    assert [figure.source for figure in figures(cuckoo)] == ["6.2", "6.4"]
    assert "our best" not in render(cuckoo)


def test_the_page_needs_nothing_but_itself(text: str) -> None:
    page = Reader(text)
    assert not {"script", "img", "link", "iframe"} & set(page.tags)
    assert "http" not in text
    assert len(page.ids) == len(set(page.ids))
    assert all(link[1:] in page.ids for link in page.links)


def test_names_are_text_and_colours_those_of_the_page(text: str) -> None:
    assert "&lt;b&gt;spotify&lt;/b&gt;" in text
    assert "<b>spotify</b>" not in text
    plots = re.findall(r'<svg class="plot".*?</svg>', text, re.DOTALL)
    assert not any(re.search(r"#[0-9a-f]{6}\b", plot) for plot in plots)


def test_what_was_not_asked_is_not_there() -> None:
    bare = msgspec.structs.replace(satisfied(), windows=[], online=[], runs=[run for run in satisfied().runs if run.metric == "fb3m"])
    text = render(bare)
    assert "Hour by hour" not in text
    assert "Online" not in text
    assert "published limit for B3M" not in text
    assert [figure.source for figure in figures(bare)] == ["6.4", "6.3", "6.5"]
