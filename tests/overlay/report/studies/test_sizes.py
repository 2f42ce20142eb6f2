"""The study of sizes."""

import pytest

from overlay.report.studies.sizes import SIZES, SizePoint, claims, plots
from overlay.report.study import StudyResult, StudyTable
from tests.support.tiny_studies import tiny


def point(nodes: int, cycle_s: float) -> SizePoint:
    """Returns an overlay whose late cycles took so many seconds each."""
    return SizePoint(nodes, 16 * nodes, 10, 10 * cycle_s, cycle_s, 0.1, 0.01, 0.0)


@pytest.mark.parametrize(("power", "holds"), [(1.0, True), (1.25, True), (1.5, False)])
def test_time_grows_with_a_power_near_one(power: float, holds: bool) -> None:
    """OV-6."""
    found = [point(nodes, nodes**power / 1000) for nodes in (1000, 10_000, 100_000)]
    claim = claims(found, is_full=True)[0]
    assert claim.holds is holds
    assert f"power of {power - 1:.2f}" in claim.measured
    assert claims(found, is_full=False)[0].holds is None


def test_small_overlays_are_measured() -> None:
    rows = tiny(SIZES).table("sizes").rows
    assert [row[0] for row in rows] == [200, 400]
    assert all(min(float(row[3]), float(row[4])) > 0 and float(row[6]) <= 1 for row in rows)


def test_an_overlay_that_was_not_let_grow_to_its_end_has_no_number_of_cycles_in_the_plot() -> None:
    head = tiny(SIZES).table("sizes").head
    grown, young = (1000, 16_000, 40, 4.0, 0.1, 0.1, 0.9, 0.0), (9000, 144_000, 12, 9.0, 0.9, 0.2, 99.0, 50.0)
    rows: list[list[tuple[float | str, ...]]] = [[grown], [grown, young]]
    (some_s, some), (all_s, cycles) = (
        plots(StudyResult(tables=[StudyTable(name="sizes", head=head, rows=each)], claims=[])) for each in rows
    )
    assert cycles.svg == some.svg
    assert all_s.svg != some_s.svg
