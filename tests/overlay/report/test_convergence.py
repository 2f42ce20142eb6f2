"""The growth of an overlay: its points and its rows."""

import pytest

from overlay.report.convergence import HEAD, ConvergencePoint, ConvergenceStudy, converge, rows
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


def test_the_rows_are_the_points_in_percent(study: ConvergenceStudy) -> None:
    found = rows(study)
    assert {len(row) for row in found} == {len(HEAD)}
    assert list(found[0]) == pytest.approx([0, 100, 100, 100 * study.points[0].missed_deliveries, 100])
    assert [row[2] for row in found] == [100 * point.incomplete_rings for point in study.points]


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
