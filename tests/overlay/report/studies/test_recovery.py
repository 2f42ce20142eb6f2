"""The study of deaths and new topics."""

import pytest

from overlay.report.studies.recovery import RECOVERY, ChangedRings, DeathToll, claims
from overlay.report.study import StudyTable
from tests.support.tiny_studies import tiny

TOGETHER = StudyTable(
    name="components", head=("dead", "together", "mean", "spread", "least", "most"), rows=[(50, 100, 10, 3, 2, 20), (95, 80, 1, 1, 0, 4)]
)
APART = StudyTable(name="components", head=TOGETHER.head, rows=[(50, 99.9, 10, 3, 0, 20)])
TOLL = DeathToll([1000, 400, 10, 0], 20, 5)


@pytest.mark.parametrize(
    ("toll", "table", "changed", "differs"),
    [
        (TOLL, TOGETHER, ChangedRings(50, 40, 30), []),
        (DeathToll([1000, 400, 1], 20, 5), TOGETHER, ChangedRings(50, 40, 30), ["P2P-7"]),
        (DeathToll([1000] * 70 + [0], 20, 5), TOGETHER, ChangedRings(50, 40, 30), ["P2P-7"]),
        (TOLL, APART, ChangedRings(50, 40, 30), ["P2P-8"]),
        (DeathToll([1000, 0], 20, None), TOGETHER, ChangedRings(50, 40, 30), ["P2P-31"]),
        (TOLL, TOGETHER, ChangedRings(50, 50, 30), ["P2P-32"]),
        (TOLL, TOGETHER, ChangedRings(50, None, 30), ["P2P-32"]),
    ],
    ids=["as demanded", "one is left", "too late", "apart", "rings stay open", "no sooner", "never"],
)
def test_each_claim_is_missed_alone(toll: DeathToll, table: StudyTable, changed: ChangedRings, differs: list[str]) -> None:
    """A judge that is given invented numbers."""
    found = claims(toll, table, changed, is_full=True)
    assert [each.requirement for each in found if each.holds is False] == differs


def test_how_fast_the_dead_vanish_is_told() -> None:
    """P2P-7: half of the entries, 99 % of them, all."""
    first = claims(TOLL, TOGETHER, ChangedRings(1, 1, 1), is_full=False)
    assert "half gone after 1 cycles, 99 % after 2 cycles, all after 3 cycles" in first[0].measured
    assert "broken at 95 %" in first[1].measured


def test_a_small_overlay_forgets_its_dead_and_stays_together() -> None:
    """P2P-7, P2P-8."""
    result = tiny(RECOVERY)
    entries = [int(row[1]) for row in result.table("dead-entries").rows]
    assert entries[0] > 1000
    assert entries[-1] == 0
    assert [each.holds for each in result.claims[:2]] == [True, True]
