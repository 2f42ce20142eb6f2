"""The study of Scribe under churn: what it claims follows from its cycles."""

import pytest

from overlay.report.studies.scribe_churn import SCRIBE_CHURN, claim, plots, summary
from overlay.report.study import StudyTable
from overlay.simulator.churn.maker import ChurnShape
from tests.support.tiny_studies import tiny

# The crowd comes from cycle 60 on, the drop is at cycle 120.
SHAPE = ChurnShape(crowd_h=1.0, crowd_min=10, drop_h=2.0)


def course(theirs: float, ours: float, crowd: float, drop: float) -> StudyTable:
    """Returns 180 cycles with these misses of Scribe and PolderCast, and Scribe's own at crowd and drop."""
    rows: list[tuple[float | str, ...]] = []
    for cycle in range(180):
        now = {65: crowd, 120: drop}.get(cycle, theirs)
        rows.append((cycle, 100, 0, 0, now, now / 2, ours, ours / 2))
    return StudyTable(name="misses", head=("",) * 8, rows=rows)


@pytest.mark.parametrize(
    ("theirs", "ours", "crowd", "drop", "holds"),
    [(5, 1, 30, 40, True), (4, 1, 30, 40, False), (5, 1, 5, 40, False), (5, 1, 30, 5, False), (5, 0, 30, 40, True)],
)
def test_scribe_must_miss_five_times_as_much_and_most_at_crowd_and_drop(
    theirs: float, ours: float, crowd: float, drop: float, holds: bool
) -> None:
    found = claim(course(theirs, ours, crowd, drop), SHAPE, is_full=True)
    assert (found.requirement, found.holds) == ("P2P-29", holds)
    assert claim(course(theirs, ours, crowd, drop), SHAPE, is_full=False).holds is None


def test_peaks_are_found_where_they_are() -> None:
    found = {(row[0], row[1]): row for row in summary(course(5, 1, 30, 40), SHAPE).rows}
    assert found["Scribe", "by node"][3:] == (5, 30, 40)
    assert found["Scribe", "by delivery"][4:] == (15, 20)
    assert found["PolderCast", "by node"][2:] == (1, 1, 1, 1)


def test_short_churn_of_few_nodes_breaks_trees_when_many_leave() -> None:
    """P2P-29 in small: a drop of a tenth is seen by Scribe's nodes, and mended soon."""
    result = tiny(SCRIBE_CHURN)
    rows = {float(row[0]): row for row in result.table("misses").rows}
    drop = max(rows, key=lambda cycle: float(rows[cycle][3]))
    assert float(rows[drop][4]) > 20
    assert float(rows[drop + 3][4]) == 0
    assert len(plots(result)) == 2
