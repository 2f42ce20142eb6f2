"""Steps of a ring, as a table: who comes, who leaves, who is gone, in any order."""

from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.kernel.ring import POINTS
from infra.kernel.steps import CHANGES, FINEST, STEP_TOPICS, Change, Known, RingPlace, at_once, next_places, step_width

FULL = RingPlace(POINTS, POINTS)
HERE, ANEW, LEAVING, OVERDUE, GONE = Known
SLOTS = ("b1", "b2", "b3", "b4")


def after(
    before: Mapping[str, RingPlace], known: Mapping[str, Known], *, settled: bool = True, steps: int = 8, topics: float = 0.0
) -> dict[str, RingPlace]:
    return next_places(before, known, steps, settled=settled, topics=topics)


def test_the_table_says_something_of_every_slot_whatever_is_known_of_it() -> None:
    assert set(CHANGES) == {(is_in, known) for is_in in (False, True) for known in Known}
    assert {known for (is_in, known), change in CHANGES.items() if change is Change.COME} == {HERE, ANEW}


@pytest.mark.parametrize(
    ("before", "known", "expected"),
    [
        ({"b1": FULL}, {"b1": HERE, "b2": HERE}, {"b1": FULL, "b2": RingPlace(0, 256)}),
        ({"b1": FULL, "b2": RingPlace(0, 256)}, {"b1": HERE, "b2": HERE}, {"b1": FULL, "b2": RingPlace(32, 256)}),
        ({"b1": FULL, "b2": RingPlace(250, 256)}, {"b1": HERE, "b2": HERE}, {"b1": FULL, "b2": FULL}),
        ({"b1": FULL, "b2": FULL}, {"b1": HERE, "b2": LEAVING}, {"b1": FULL, "b2": RingPlace(256, 0)}),
        ({"b1": FULL, "b2": RingPlace(256, 0)}, {"b1": HERE, "b2": LEAVING}, {"b1": FULL, "b2": RingPlace(224, 0)}),
        ({"b1": FULL, "b2": RingPlace(32, 0)}, {"b1": HERE, "b2": LEAVING}, {"b1": FULL}),
        ({"b1": FULL, "b2": RingPlace(32, 0)}, {"b1": HERE, "b2": HERE}, {"b1": FULL, "b2": RingPlace(0, 0)}),
        ({"b1": FULL, "b2": RingPlace(0, 0)}, {"b1": HERE, "b2": HERE}, {"b1": FULL, "b2": RingPlace(0, 0)}),
        ({"b1": FULL, "b2": RingPlace(0, 0)}, {"b1": HERE, "b2": ANEW}, {"b1": FULL, "b2": RingPlace(0, 256)}),
        ({"b1": FULL, "b2": RingPlace(32, 0)}, {"b1": HERE, "b2": ANEW}, {"b1": FULL, "b2": RingPlace(32, 256)}),
        ({"b1": FULL, "b2": RingPlace(256, 0)}, {"b1": HERE, "b2": OVERDUE}, {"b1": FULL}),
        ({"b1": FULL, "b2": FULL}, {"b1": HERE, "b2": GONE}, {"b1": FULL}),
        ({"b1": FULL}, {"b1": HERE, "b2": LEAVING}, {"b1": FULL}),
        ({}, {"b1": HERE, "b2": HERE, "b3": GONE}, {"b1": FULL, "b2": FULL}),
    ],
)
def test_a_slot_comes_grows_shrinks_and_goes(before: dict[str, RingPlace], known: dict[str, Known], expected: dict[str, RingPlace]) -> None:
    assert after(before, known) == expected


def test_who_comes_and_who_leaves_take_their_steps_together() -> None:
    before = {"b1": FULL, "b2": RingPlace(64, 0), "b3": RingPlace(64, 256)}
    assert after(before, {"b1": HERE, "b2": LEAVING, "b3": HERE}) == {"b1": FULL, "b2": RingPlace(32, 0), "b3": RingPlace(96, 256)}


def test_a_change_of_who_is_here_waits_for_nothing_and_a_step_waits() -> None:
    before = {"b1": FULL, "b2": RingPlace(64, 256)}
    assert after(before, {"b1": HERE, "b2": HERE}, settled=False) == before
    assert after(before, {"b1": HERE, "b2": HERE, "b3": HERE}, settled=False) == before | {"b3": RingPlace(0, 256)}
    assert after(before, {"b1": GONE, "b2": HERE}, settled=False) == {"b2": RingPlace(64, 256)}


def test_somebody_always_owns_the_topics() -> None:
    assert after({"b1": FULL, "b2": RingPlace(0, 256)}, {"b1": GONE, "b2": HERE}) == {"b2": FULL}
    assert after({"b1": FULL, "b2": RingPlace(0, 0)}, {"b1": GONE, "b2": HERE}) == {"b2": FULL}
    assert after({"b1": FULL, "b2": RingPlace(9, 0)}, {"b1": GONE, "b2": HERE}, settled=False) == {"b2": RingPlace(9, 256)}


def test_where_all_are_to_leave_who_is_on_the_way_goes_on() -> None:
    before = {"b1": FULL, "b2": RingPlace(128, 0)}
    first = after(before, {"b1": LEAVING, "b2": LEAVING}, steps=2)
    assert first == {"b1": FULL, "b2": RingPlace(128, 256)}
    assert after(first, {"b1": LEAVING, "b2": LEAVING}, steps=2) == {"b1": FULL, "b2": FULL}


def test_with_one_step_who_comes_has_everything_in_the_view_after_the_first_one_and_with_none_it_waits() -> None:
    """DPS-15: one that is asked to stop before it knows that it is in the view must not have been given anything."""
    before, known = {"b1": FULL}, {"b1": HERE, "b2": HERE}
    told = after(before, known, settled=False, steps=1)
    assert told == {"b1": FULL, "b2": RingPlace(0, 256)}
    assert after(told, known, settled=False, steps=1) == told
    assert after(told, known, steps=1) == {"b1": FULL, "b2": FULL}
    assert after(told, {"b1": HERE, "b2": LEAVING}, settled=False, steps=1) == {"b1": FULL, "b2": RingPlace(0, 0)}
    assert after({"b1": FULL}, {"b1": HERE, "b3": HERE}, steps=0) == {"b1": FULL, "b3": RingPlace(0, 0)}
    assert after({"b1": FULL, "b3": RingPlace(64, 0)}, {"b1": HERE, "b3": ANEW}, steps=0) == {"b1": FULL, "b3": RingPlace(0, 0)}
    assert after({"b1": FULL, "b3": RingPlace(0, 256)}, {"b1": HERE, "b3": HERE}, steps=0) == {"b1": FULL, "b3": FULL}


def test_with_one_step_what_one_that_leaves_has_goes_at_once() -> None:
    before, known = {"b1": FULL, "b2": FULL}, {"b1": HERE, "b2": LEAVING}
    told = after(before, known, settled=False, steps=1)
    assert told == {"b1": FULL, "b2": RingPlace(256, 0)}, "one that leaves must not look like one that is dead (DPS-13)"
    assert after(told, known, settled=False, steps=1) == {"b1": FULL}
    assert after({"b1": FULL, "b2": RingPlace(0, 0)}, {"b1": HERE, "b2": HERE}, steps=1) == {"b1": FULL, "b2": RingPlace(0, 0)}


@pytest.mark.parametrize("steps", [0, 1, 8])
def test_one_that_leaves_for_too_long_goes_at_once_behind_a_view_that_says_that_it_leaves(steps: int) -> None:
    """DPS-13: where it was alone, or all left, it was to have everything. It must not look like one that is dead."""
    before, known = {"b2": RingPlace(32, 256)}, {"b1": HERE, "b2": OVERDUE}
    places = [before]
    while len(places) == 1 or places[-1] != places[-2]:
        places.append(after(places[-1], known, settled=False, steps=steps))
    assert places[-1] == {"b1": FULL}
    assert places[-3]["b2"] == RingPlace(32, 0)
    assert not places[-3]["b1"].share, "and who comes has nothing before"
    assert after(before, {"b2": OVERDUE}).keys() == {"b2"}, "nobody is there who takes over"


@pytest.mark.parametrize(
    ("topics", "share"),
    [(0, 32), (1_000, 32), (120_000, 32), (200_000, 19), (400_000, 9), (1_000_000, FINEST), (100_000_000, FINEST)],
)
def test_where_topics_are_many_a_step_is_finer(topics: float, share: int) -> None:
    """DPS-15: what moves in one step is held until all of it is announced."""
    before = {"b1": FULL, "b2": FULL, "b3": FULL, "b4": RingPlace(0, 256), "b5": RingPlace(0, 256)}
    places = after(before, dict.fromkeys(before, HERE), topics=topics)
    assert {places[slot].share for slot in ("b4", "b5")} == {share}
    if share not in (32, FINEST):
        assert 0.9 * STEP_TOPICS < topics * 2 * share / (3 * POINTS) <= STEP_TOPICS


def test_who_leaves_takes_its_steps_however_many_topics_there_are_and_so_does_who_has_one_step() -> None:
    """DPS-16: one that is asked to stop has not much time; by plan there is as much as it takes."""
    before = {"b1": FULL, "b2": RingPlace(128, 0), "b3": RingPlace(128, 0)}
    places = after(before, {"b1": HERE, "b2": LEAVING, "b3": HERE}, topics=1e7)
    assert (places["b2"].share, places["b3"].share) == (96, 128 - FINEST)
    assert [step_width(before, steps, 1e7) for steps in (0, 1, 2, 256)] == [256, 256, FINEST, 1]


def test_without_steps_who_is_here_has_everything() -> None:
    assert at_once({"b2": HERE, "b1": LEAVING, "b3": GONE}) == {"b2": FULL}


HISTORIES = st.lists(st.tuples(st.dictionaries(st.sampled_from(SLOTS), st.sampled_from(Known)), st.booleans()), max_size=40)


@given(HISTORIES, st.integers(0, 9), st.sampled_from((0, 300_000, 10**9)))
@settings(max_examples=150)
def test_whatever_comes_leaves_and_dies_shares_move_towards_their_goal_and_somebody_owns_the_topics(
    history: list[tuple[dict[str, Known], bool]], steps: int, topics: float
) -> None:
    """DPS-15: join, leave, die and settle in any order; when nothing more happens, all is where it shall be after so many steps."""
    places: dict[str, RingPlace] = {}
    known = dict.fromkeys(SLOTS, GONE)
    for news, settled in history:
        known |= news
        before, places = places, after(places, known, settled=settled, steps=steps, topics=topics)
        out = before.keys() - places.keys()
        assert all(known[slot] is GONE or not before[slot].goal for slot in out), "one that leaves must not look like one that is dead"
        assert not places or (any(place.share for place in places.values()) and any(place.goal for place in places.values()))
        assert places.keys() <= {slot for slot in SLOTS if known[slot] is not GONE}
        assert all(known[slot] is not OVERDUE or slot in before for slot in places)
        if steps > 1 and before.keys() & places.keys() and sum(place.share for place in before.values()):
            width = -(-POINTS // steps)
            moved = [abs(place.share - before[slot].share) for slot, place in places.items() if slot in before]
            assert max(moved) <= width or not any(before[slot].share for slot in places if slot in before)
    for _ in range((POINTS // FINEST if topics else max(steps, 1)) + 4):
        places = after(places, known, settled=True, steps=steps, topics=topics)
    assert after(places, known, settled=True, steps=steps, topics=topics) == places
    assert all(place.share == place.goal for place in places.values())
