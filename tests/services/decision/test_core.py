"""What the decision service makes of counts and follows, and how it tells it."""

from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.offloading.plan import MOST_THRESHOLD, PlanOptions
from analytics.offloading.solving import solve
from infra.kernel.assignment import Assigned
from infra.kernel.codec import FrameDecoder, encode
from infra.kernel.frames import MOST_NUMBER
from infra.kernel.topics import Topic, inbox_topic, user_topic
from services.decision import core as core_module
from services.decision import decision as decision_module
from services.decision.core import DecisionCore
from services.decision.decision import OffloadingDecision
from services.decision.options import DecisionOptions
from tests.support.assignments import assignment

AP1, AP2 = ("sto", "ap1"), ("lon", "ap1")
BORN_MS = 1_700_000_000_000


def core(max_pairs: int = 1000, max_topics: int = 1000, keep_s: float = 60.0, **plan: object) -> DecisionCore:
    """Returns a core that wants two events for everybody and takes the last period for the next, but for `plan`."""
    wanted = PlanOptions(**({"threshold": 2, "weight": 1.0} | plan))  # type: ignore[arg-type]
    options = DecisionOptions(
        site="sto", node="o", sites={"sto": {}}, plan=wanted, max_pairs=max_pairs, max_topics=max_topics, keep_s=keep_s
    )
    found = DecisionCore(options, BORN_MS)
    found.link_up(AP1)
    found.link_up(AP2)
    return found


def follow(found: DecisionCore, point: tuple[str, str], **follows: str) -> None:
    """Notes that with `ann="bob eve"` ann follows bob and eve there."""
    pairs = [(user, user_topic(name)) for user, names in follows.items() for name in names.split()]
    found.followed(point, *zip(*pairs, strict=True))


def tally(found: DecisionCore, **counts: int) -> None:
    found.tally(list(map(user_topic, counts)), counts.values())


def decide(found: DecisionCore) -> OffloadingDecision:
    plan = found._options.plan
    return found.decide(solve(found.problem(), plan.metric, plan.threshold, plan.capacity), 3)


def names(topics: object) -> set[str]:
    return {topic.decode()[1:] for topic in topics}  # type: ignore[attr-defined]


def test_under_a_capacity_the_topics_that_satisfy_most_are_served_and_the_others_leave() -> None:
    """WA-29: the served list, and a cost within the capacity. bob: 2 events to 3 users; eve: 4 events to 1."""
    found = core(capacity=6)
    follow(found, AP1, ann="bob", cat="bob", dan="bob", fay="eve")
    tally(found, bob=2, eve=4)
    made = decide(found)
    assert (names(made.served), names(made.out), names(made.left), made.came) == ({"bob"}, {"eve"}, {"eve"}, [])
    assert (made.cost, made.value, made.bound, made.topics, made.ratio) == (6, 3.0, 3.0, 2, 1.0)
    assert (made.epoch, made.base, made.run_ms, found.moves) == (BORN_MS, 0, 3, 1)


@pytest.mark.parametrize(
    ("overlap_ms", "every_ms", "first", "second"),
    [
        (0, 0, ("dan eve", 14, 0), ("dan eve", 14, 0)),
        (0, 1_800_000, ("bob eve", 10, 4), ("bob eve", 10, 4)),
        (1_800_000, 0, ("dan eve", 14, 3), ("dan eve", 14, 0)),
        (1_800_000, 1_800_000, ("bob eve", 10, 9), ("bob eve", 10, 4)),
        (0, 1, ("", 0, 20), ("", 0, 20)),
    ],
)
def test_what_topics_that_are_out_cost_for_ever_has_its_room_in_the_capacity_and_all_that_they_cost_is_told(
    overlap_ms: int, every_ms: int, first: tuple[str, int, int], second: tuple[str, int, int]
) -> None:
    """SB-65: two events in the hour of whatever is out at a reduced rate, half of the events of whatever leaves, once. Where the
    reduced rate alone is too much, nothing is served."""
    found = core(capacity=16, threshold=3, overlap_ms=overlap_ms, every_ms=every_ms)
    follow(found, AP1, ann="bob", cat="dan", fay="dan", gus="eve")
    for served, cost, reduced in (first, second):
        tally(found, bob=6, eve=4, dan=5)
        made = decide(found)
        assert (names(made.served), made.cost, made.reduced) == (set(served.split()), cost, reduced)


@given(st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 9)), st.integers(0, 60), st.integers(0, 4), st.sampled_from([0, 900_000]))
@settings(max_examples=60)
def test_whatever_goes_out_at_a_reduced_rate_the_capacity_holds(
    events: Mapping[str, int], capacity: int, rate: int, overlap_ms: int
) -> None:
    """SB-65, counted by hand: `rate` events a period of each topic that is out, and a quarter of those that leave."""
    follows = {"ann": "a b c", "bob": "c d", "cat": "e f", "dan": "f"}
    popularity = {name: sum(name in theirs for theirs in follows.values()) for name in "abcdef"}
    found = core(capacity=capacity, overlap_ms=overlap_ms, every_ms=3_600_000 // rate if rate else 0)
    follow(found, AP1, **follows)
    for _ in range(2):
        before = names(found.out)
        tally(found, **events)
        made = decide(found)
        first = {name: 0 if name in before else count * overlap_ms / 3_600_000 for name, count in events.items()}
        later = sum(min(events[name], rate) * popularity[name] for name in names(made.out))
        reduced = sum(min(events[name], rate + first[name]) * popularity[name] for name in names(made.out))
        assert made.cost == sum(events[name] * popularity[name] for name in names(made.served))
        assert made.reduced == int(reduced)
        assert made.cost + later <= capacity or not made.served


def test_without_a_limit_nothing_leaves_and_with_none_at_all_everything_that_is_heard() -> None:
    free, nothing = core(capacity=None), core(capacity=0)
    for found in (free, nothing):
        follow(found, AP1, ann="bob eve")
        tally(found, bob=2, eve=4)
    assert (names(decide(free).served), names(decide(nothing).out)) == ({"bob", "eve"}, {"bob", "eve"})
    assert decide(core(capacity=0)).out == decide(core(capacity=None)).out == frozenset()


def test_a_user_at_two_access_points_is_one_subscriber() -> None:
    found = core(capacity=2)
    follow(found, AP1, ann="bob")
    follow(found, AP2, ann="bob")
    tally(found, bob=2)
    made = decide(found)
    assert (made.cost, made.value, made.out) == (2, 1.0, frozenset())


def test_idle_topics_are_left_out_and_stay_on_their_side_while_they_are_remembered() -> None:
    """WA-29, spec C7.4."""
    found = core(capacity=4, weight=0.5)
    follow(found, AP1, ann="bob eve", cat="bob")
    tally(found, bob=2, eve=4)
    assert names(decide(found).out) == {"eve"}
    tally(found, bob=2)
    idle = decide(found)
    assert (idle.topics, names(idle.out), idle.left, idle.came) == (1, {"eve"}, [], [])
    for _ in range(3):
        decide(found)
    assert (names(found.out), found.epoch) == (set(), BORN_MS + 4)


def test_of_two_solutions_of_equal_value_the_old_one_stays() -> None:
    """Spec C7: to limit moves. eve would satisfy as many for less, and nobody more."""
    found = core(capacity=2)
    follow(found, AP1, ann="bob", cat="eve")
    tally(found, bob=2, eve=3)
    assert names(decide(found).out) == {"eve"}
    tally(found, bob=2, eve=1)
    same = decide(found)
    assert (names(same.out), same.left, same.came, same.cost) == ({"eve"}, [], [], 2)
    follow(found, AP1, dan="eve")
    tally(found, bob=2, eve=1)
    better = decide(found)
    assert (names(better.left), names(better.came), better.value) == ({"bob"}, {"eve"}, 2.0)


def test_topics_that_are_stored_for_their_followers_are_no_concern_of_the_plan() -> None:
    """SB-67: an inbox or an artist in a report, or a count, is passed over."""
    found = core(capacity=0)
    stored = [inbox_topic("ann"), Topic(b"Abjork%new-album"), Topic(b"Sann%friend-joined")]
    found.followed(AP1, ["ann"] * 3, stored)
    found.tally(stored, [5, 5, 5])
    assert decide(found).out == frozenset()
    assert found.pairs() == 0


def test_what_ends_is_forgotten_also_if_it_was_never_known() -> None:
    found = core(capacity=0)
    follow(found, AP1, ann="bob eve")
    found.unfollowed(AP1, ["ann", "ann", "nobody"], [user_topic("bob"), user_topic("nobody"), user_topic("eve")])
    tally(found, bob=2, eve=2)
    assert names(decide(found).out) == {"eve"}


def test_an_access_point_that_comes_back_says_everything_anew_and_counts_as_before_until_it_has() -> None:
    found = core(capacity=0)
    follow(found, AP1, ann="bob eve")
    found.reported(AP1)
    found.link_down(AP1, 10.0)
    found.link_up(AP1)
    follow(found, AP1, ann="dan")
    tally(found, bob=1, eve=1, dan=1)
    assert names(decide(found).out) == {"bob", "eve", "dan"}
    found.reported(AP1)
    found.tick(1000.0)
    tally(found, bob=1, eve=1, dan=1)
    assert names(decide(found).out) == {"dan"}


def test_an_access_point_that_stays_away_is_forgotten_after_a_while() -> None:
    found = core(capacity=0, keep_s=5.0)
    follow(found, AP1, ann="bob")
    found.reported(AP1)
    found.link_down(AP1, 10.0)
    found.tick(15.0)
    tally(found, bob=1)
    assert names(decide(found).out) == {"bob"}
    found.tick(15.1)
    tally(found, bob=1)
    assert names(decide(found).out) == set()


def test_pairs_and_topics_beyond_the_bounds_are_not_planned_for_and_counted() -> None:
    found = core(capacity=0, max_pairs=2, max_topics=3)
    follow(found, AP1, ann="a b c", bob="d")
    tally(found, a=1, b=1, c=1, d=1)
    assert len(decide(found).out) == 2
    assert (found.pairs(), found.pairs_refused, found.counts_refused) == (2, 2, 1)


def test_names_that_nobody_follows_and_nobody_speaks_of_give_their_numbers_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core_module, "SPARE", 0)
    found = core(capacity=2, max_topics=5)
    follow(found, AP1, ann="x1 x2 x3 bob", cat="bob eve")
    found.unfollowed(AP1, ["ann"] * 3, [user_topic(f"x{n}") for n in (1, 2, 3)])
    tally(found, bob=1, eve=3)
    assert (names(decide(found).out), len(found._topics)) == ({"eve"}, 2)
    follow(found, AP1, dan="y1 y2 y3")
    tally(found, bob=1, eve=3, y1=9)
    assert (names(decide(found).out), found.pairs_refused) == ({"eve", "y1"}, 0)


MOVES = st.lists(st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 5)), min_size=1, max_size=5)


@given(MOVES)
@settings(max_examples=40)
def test_receivers_that_hear_changes_and_those_that_hear_the_whole_hold_the_same(periods: list[Mapping[str, int]]) -> None:
    """SB-68's other half: whoever has followed every epoch, or comes at any of them, knows the same topics to be out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(decision_module, "FRAME_TOPICS", 2)
        found, follower = core(capacity=4), Assigned()
        follow(found, AP1, ann="a b c", bob="c d", cat="e f", dan="f")
        for period in periods:
            tally(found, **period)
            made, newcomer = decide(found), Assigned()
            change, whole = made.change() if follower.epoch else made.whole(), made.whole()
            assert [newcomer.offer(frame) is None for frame in whole] == [True] * (len(whole) - 1) + [False]
            assert [follower.offer(frame) is None for frame in change] == [True] * (len(change) - 1) + [False]
            assert follower.out == newcomer.out == made.out
            assert made.cost <= 4
            assert all(len(frame.leave) + len(frame.come) <= 2 for frame in [*change, *whole])


def test_whatever_the_options_allow_a_link_can_carry() -> None:
    """A limit that receivers refuse would end every link, again and again."""
    most: dict[str, Any] = {
        "capacity": MOST_NUMBER,
        "threshold": MOST_THRESHOLD,
        "every_ms": MOST_NUMBER,
        "overlap_ms": MOST_NUMBER,
        "period_s": 1e300,
    }
    PlanOptions(**most).check()
    found = core(**most)
    follow(found, AP1, ann="bob")
    tally(found, bob=1)
    frames = decide(found).whole()
    assert [frame for sent in frames for frame in FrameDecoder().feed(encode(sent))] == frames


def test_a_service_whose_clock_is_behind_goes_on_from_the_epoch_that_holds() -> None:
    """SB-68: what is not newer would be ignored everywhere, and nobody would know."""
    found, receiver = core(capacity=0), Assigned()
    receiver.offer(assignment(2 * BORN_MS, user_topic("eve")))
    found.holds(receiver.epoch)
    found.holds(7)
    follow(found, AP1, ann="bob")
    tally(found, bob=1)
    for frame in decide(found).whole():
        receiver.offer(frame)
    assert (found.epoch, receiver.epoch, names(receiver.out)) == (2 * BORN_MS + 1, 2 * BORN_MS + 1, {"bob"})
    assert decide(found).epoch == 2 * BORN_MS + 2


def test_frames_say_on_what_terms() -> None:
    found = core(capacity=None, overlap_ms=7, every_ms=9)
    (frame,) = decide(found).whole()
    assert (frame.base, frame.last, frame.overlap_ms, frame.every_ms) == (0, True, 7, 9)
    assert (frame.metric, frame.threshold, frame.capacity) == ("b3m", 2, MOST_NUMBER)
    assert (frame.expected, frame.bound, frame.run_ms) == (0.0, 0.0, 3)
