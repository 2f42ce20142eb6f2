"""The study of churn: which minutes are judged, and by what."""

import pytest

from overlay.report.studies.churn import CHURN, ChurnRun, claims
from overlay.simulator.churn.maker import ChurnShape
from overlay.simulator.churning import ChurnedCycle, MissCounts
from tests.support.tiny_studies import tiny

VARIANTS = ("ring-4", "ring-2", "ring-4-noticed")
# Columns of their tables.
BY_NODE, BY_DELIVERY = 4, 5
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
    """P2P-26, 27, 28, 30 and 31: a judge that is given invented minutes; whether they hold is for the full study."""
    assert [each.requirement for each in claims([run, narrow, run], SHAPE, is_full=True) if each.holds is False] == differs


def test_a_small_run_has_a_row_for_each_minute_and_heals() -> None:
    """P2P-31, in small: after the churn nobody misses anything any more."""
    result = tiny(CHURN)
    assert [each.name for each in result.tables] == ["ring-4", "ring-2", "ring-4-noticed"]
    rows = result.table("ring-4").rows
    assert len(rows) == 45
    assert sum(int(row[2]) for row in rows) >= 30
    assert next(each.holds for each in result.claims if each.requirement == "P2P-31") is True


def mean(variant: str, minutes: range, column: int) -> float:
    """Returns the mean of a column over these minutes of the smallest run."""
    rows = tiny(CHURN).table(variant).rows
    return sum(float(rows[minute][column]) for minute in minutes) / len(minutes)


def test_before_anything_happens_hardly_a_node_misses_an_event() -> None:
    """P2P-26, in small: the 12 minutes before the crowd."""
    assert all(mean(variant, range(12), BY_NODE) <= 1 for variant in VARIANTS)


def test_stand_bys_carry_events_over_a_drop_where_senders_notice_who_is_dead() -> None:
    """P2P-27, P2P-30, in small: a tenth of the nodes leaves at minute 30. Without notice the dead stay in rings, with stand-bys or not."""
    assert max(mean("ring-4-noticed", range(at, at + 1), BY_NODE) for at in range(30, 36)) <= 4
    assert mean("ring-4-noticed", range(35, 36), BY_NODE) <= 1
    assert min(mean(narrow, range(30, 36), BY_NODE) for narrow in ("ring-2", "ring-4")) > 20
    assert mean("ring-4-noticed", range(45), BY_DELIVERY) < mean("ring-2", range(45), BY_DELIVERY)


def test_a_crowd_costs_deliveries_while_it_comes_and_hardly_any_soon_after() -> None:
    """P2P-28, in small: 30 nodes come to 100 from minute 12 on, within ten minutes; newcomers need longer to find their rings."""
    for variant in VARIANTS:
        assert 0.1 < mean(variant, range(12, 23), BY_DELIVERY) < 5
        assert mean(variant, range(27, 30), BY_DELIVERY) < 0.5
