"""The growth of an overlay: its points, its table, its figure."""

import pytest

from overlay.report.convergence import ConvergencePoint, ConvergenceStudy, converge, csv, figure, page, rows, sheet, told
from overlay.simulator.poldercast.options import PolderOptions, SpreadOptions
from tests.support.even_workload import even_workload


@pytest.fixture(scope="module")
def study() -> ConvergenceStudy:
    """A small overlay, until its rings are complete."""
    points: list[ConvergencePoint] = []
    found = converge(
        "A <small> one",
        even_workload(nodes=200, topics=60, each=4, seed=1),
        3,
        options=PolderOptions(),
        how=SpreadOptions(),
        cycles=100,
        told=lambda cycle, point: points.append(point),
    )
    assert points == found.points
    return found


def test_it_begins_with_nothing_and_ends_when_all_rings_are_complete(study: ConvergenceStudy) -> None:
    first, last = study.points[0], study.points[-1]
    assert (first.cycle, first.missing_links, first.incomplete_rings, first.disconnected_topics) == (0, 1, 1, 1)
    assert (last.missing_links, last.incomplete_rings, last.missed_deliveries, last.disconnected_topics) == (0, 0, 0, 0)
    assert [point.cycle for point in study.points] == list(range(len(study.points)))
    assert study.converged_at is not None
    assert 0 < study.converged_at <= last.cycle


def test_the_figure_has_a_line_for_each_share_and_none_of_them_at_zero(study: ConvergenceStudy) -> None:
    found = figure(study)
    assert [key.label for key in found.plots[0].keys] == [
        "missing links",
        "incomplete rings",
        "missed deliveries",
        "events that missed somebody",
    ]
    assert found.source == "3.5"


def test_table_and_file_have_the_same_numbers(study: ConvergenceStudy) -> None:
    lines = csv(study).splitlines()
    assert lines[0].startswith("cycle,missing_links_percent")
    assert [float(line.split(",")[2]) for line in lines[1:]] == pytest.approx([row[2] for row in rows(study)], rel=1e-5)
    shown = [row[0] for row in sheet(study).rows]
    assert shown[0] == "0"
    assert {str(study.converged_at), str(study.points[-1].cycle)} <= set(shown)


def test_the_page_says_what_was_simulated_and_escapes_its_name(study: ConvergenceStudy) -> None:
    text = page(study)
    assert "A &lt;small&gt; one" in text
    assert "200 nodes" in text
    assert f"99 % of the rings are complete after {study.converged_at} cycles" in text
    assert "<svg" in text


def test_an_overlay_that_is_stopped_early_has_not_converged() -> None:
    found = converge(
        "x",
        even_workload(nodes=200, topics=60, each=4, seed=1),
        3,
        options=PolderOptions(),
        how=SpreadOptions(),
        cycles=1,
        told=lambda *_: None,
    )
    assert found.converged_at is None
    assert "After 1 cycles less than 99 %" in told(found)
