"""The study of churn: which minutes are judged, and by what."""

import pytest

from overlay.report.studies.churn import CHURN, ChurnRun, claims
from overlay.simulator.churn.maker import ChurnShape
from overlay.simulator.churning import ChurnedCycle, MissCounts
from tests.support.tiny_studies import tiny

SHAPE = ChurnShape(crowd_h=1.0, crowd_min=10.0, drop_h=2.0)


def minutes(name: str, missing: dict[int, int], *, healed: int | None = 3, missed: int = 1) -> ChurnRun:
    """Returns 180 minutes of 1,000 nodes, of whom so many missed an event in some of them; each delivery is one of 10,000."""
    cycles = [
        ChurnedCycle(at, 1000, 0, 0, *[MissCounts(1000, missing.get(at, 0), 10_000, missed + missing.get(at, 0))] * 2) for at in range(180)
    ]
    return ChurnRun(name, cycles, healed)


USUAL = {30: 10, 65: 9, 120: 40, 124: 11}


@pytest.mark.parametrize(
    ("run", "narrow", "differs"),
    [
        (minutes("ring-4", USUAL), minutes("ring-2", USUAL, missed=2), []),
        (minutes("ring-4", {**USUAL, 31: 11}), minutes("ring-2", USUAL, missed=2), ["P2P-26"]),
        (minutes("ring-4", {**USUAL, 121: 41}), minutes("ring-2", USUAL, missed=2), ["P2P-27"]),
        (minutes("ring-4", {**USUAL, 125: 11}), minutes("ring-2", USUAL, missed=2), ["P2P-27"]),
        (minutes("ring-4", {**USUAL, 66: 11}), minutes("ring-2", USUAL, missed=2), ["P2P-28"]),
        (minutes("ring-4", USUAL), minutes("ring-2", USUAL, missed=0), ["P2P-30"]),
        (minutes("ring-4", USUAL, healed=None), minutes("ring-2", USUAL, missed=2), ["P2P-31"]),
    ],
    ids=["as published", "a bad minute", "a high spike", "a long spike", "a bad crowd", "no worse with 2", "never whole"],
)
def test_each_claim_is_missed_alone(run: ChurnRun, narrow: ChurnRun, differs: list[str]) -> None:
    """A judge that is given invented minutes, and calls the requirement by its id; whether it holds is for the full study."""
    assert [each.requirement for each in claims([run, narrow, run], SHAPE, is_full=True) if each.holds is False] == differs


def test_a_small_run_has_a_row_for_each_minute_and_heals() -> None:
    """P2P-31, in small: after the churn nobody misses anything any more."""
    result = tiny(CHURN)
    assert [each.name for each in result.tables] == ["ring-4", "ring-2", "ring-4-noticed"]
    rows = result.table("ring-4").rows
    assert len(rows) == 45
    assert sum(int(row[2]) for row in rows) >= 30
    assert next(each.holds for each in result.claims if each.requirement == "P2P-31") is True
