"""Plans of rings: their rounds, what they cost, and how a ring stands to them."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.kernel.ring import POINTS
from segue.cli.ring.ring_plan import RingPlan, RingRound, RoundStanding, WrongPlan, next_round, planned, standing
from segue.sdk.operator_answers import StandingRing, StandingSlot

FULL = {"b1": 256, "b2": 256, "b3": 256}
CONFIGURED = ("b1", "b2", "b3", "b4", "b5")


def ring(
    goal: Mapping[str, int], shares: Mapping[str, int] | None = None, *, site: str = "sto", done: bool = True, lag_s: float = 0.0
) -> StandingRing:
    now = goal if shares is None else shares
    slots = tuple(StandingSlot(slot, now[slot], share, done) for slot, share in sorted(goal.items()))
    return StandingRing(site, "b1", 7, slots, CONFIGURED, 8, 100_000, 23.0, lag_s)


def test_a_plan_names_each_site_and_what_moves_there() -> None:
    """DPS-15: of three brokers with 100,000 topics each, one that is drained gives a third away."""
    plan = planned([ring(FULL), ring(FULL, site="lon")], (), ("b2",), gentle=False)
    assert [(each.site, each.before, each.goal) for each in plan.rounds] == [
        ("sto", FULL, FULL | {"b2": 0}),
        ("lon", FULL, FULL | {"b2": 0}),
    ]
    one = plan.rounds[0]
    assert 70_000 < one.rows < 130_000
    assert one.bytes == one.rows * 30
    assert one.seconds == pytest.approx(11 * (0.5 + 0.06), rel=0.2)  # of 10,000 topics each, where it has not to be stopped


def test_fast_is_one_round_and_gentle_is_one_for_each_broker() -> None:
    fast = planned([ring(FULL)], ("b4", "b5"), (), gentle=False)
    gentle = planned([ring(FULL)], ("b4", "b5"), (), gentle=True)
    assert [each.goal for each in fast.rounds] == [FULL | {"b4": 256, "b5": 256}]
    assert [each.goal for each in gentle.rounds] == [FULL | {"b4": 256}, FULL | {"b4": 256, "b5": 256}]
    assert gentle.rounds[1].before == gentle.rounds[0].goal
    assert max(each.rows for each in gentle.rounds) < fast.rounds[0].rows <= sum(each.rows for each in gentle.rounds)


def test_what_is_as_it_shall_be_needs_no_round() -> None:
    assert planned([ring(FULL | {"b4": 0})], ("b1",), ("b4", "b5"), gentle=False).rounds == ()


@pytest.mark.parametrize(
    ("add", "drain", "state", "why"),
    [
        (("b9",), (), ring(FULL), "there is no slot b9 at sto; there are b1, b2"),
        (("b4",), ("b4",), ring(FULL), "b4 cannot be added and drained at once"),
        ((), (), ring(FULL), "say which brokers"),
        ((), ("b1", "b2", "b3"), ring(FULL), "nobody at sto would own any topic"),
        (("b4",), (), ring(FULL, FULL | {"b2": 32}), "on its way: wait until it is there, or stop it"),
    ],
)
def test_a_plan_that_cannot_be_meant_is_refused(add: tuple[str, ...], drain: tuple[str, ...], state: StandingRing, why: str) -> None:
    """Slots that do not exist, shares of 0 everywhere, two plans at once."""
    with pytest.raises(WrongPlan, match=why):
        planned([state], add, drain, gentle=False)


ROUND = RingRound("sto", FULL, FULL | {"b2": 0, "b4": 256}, 1, 1, 1.0)


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        (ring(FULL), RoundStanding.ABSENT),
        (ring(FULL | {"b4": 0}), RoundStanding.OPEN),
        (ring(FULL | {"b2": 0, "b4": 256}, FULL | {"b4": 32}), RoundStanding.OPEN),
        (ring(FULL | {"b2": 96, "b4": 160}), RoundStanding.OPEN),
        (ring(FULL | {"b2": 0, "b4": 256}, done=False), RoundStanding.OPEN),
        (ring(FULL | {"b2": 0, "b4": 256}), RoundStanding.DONE),
        (ring({"b1": 256, "b3": 256, "b4": 256}), RoundStanding.DONE),
        (ring(FULL | {"b1": 128, "b4": 0}), RoundStanding.STRANGE),
        (ring(FULL | {"b4": 0, "b5": 0}), RoundStanding.STRANGE),
        (ring({"b1": 256, "b2": 256, "b4": 0}), RoundStanding.STRANGE),
    ],
)
def test_a_ring_is_in_front_of_a_round_on_the_way_through_or_somewhere_else(state: StandingRing, expected: RoundStanding) -> None:
    assert standing(ROUND, state) is expected


def test_what_has_been_done_is_skipped_and_a_plan_of_yesterday_is_refused() -> None:
    plan = planned([ring(FULL)], ("b4", "b5"), ("b2",), gentle=True)
    assert next_round(plan.rounds, ring(FULL)) == 0
    assert next_round(plan.rounds, ring(FULL | {"b4": 64})) == 0
    assert next_round(plan.rounds, ring(FULL | {"b4": 256, "b5": 64})) == 1
    assert next_round(plan.rounds, ring(FULL | {"b4": 256, "b5": 256, "b2": 0})) == 2
    with pytest.raises(WrongPlan, match="does not fit sto any more, whose ring is to go to b1 256, b3 9"):
        next_round(plan.rounds, ring({"b1": 256, "b3": 9}))


@given(st.lists(st.sampled_from(CONFIGURED[3:]), unique=True), st.sampled_from([(), ("b1",), ("b1", "b3")]), st.booleans())
@settings(max_examples=40)
def test_a_plan_that_is_followed_round_by_round_ends_where_it_should(add: list[str], drain: tuple[str, ...], gentle: bool) -> None:
    """DPS-15: wherever it is interrupted, the next round is found again."""
    if not add and not drain:
        return
    plan: RingPlan = planned([ring(FULL)], add, drain, gentle=gentle)
    for number, each in enumerate(plan.rounds):
        half = {slot: (each.before.get(slot, 0) + share) // 2 for slot, share in each.goal.items()}
        assert next_round(plan.rounds, ring(half)) == number
        assert standing(each, ring(each.goal)) is RoundStanding.DONE
    assert plan.rounds[-1].goal == FULL | dict.fromkeys(add, POINTS) | dict.fromkeys(drain, 0)
