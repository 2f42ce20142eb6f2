"""What holds after any assignments, whole or as changes, in parts, repeated, late."""

from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.kernel.assignment import Assigned, Switch
from infra.kernel.errors import Refused
from infra.kernel.topics import Topic, inbox_topic, parse_topic, user_topic
from tests.support.assignments import assignment, playlist

BOB, EVE, MIX = user_topic("bob"), user_topic("eve"), playlist("dan", "mix")
STORED = (inbox_topic("bob"), parse_topic("hm://notifications/feed/a%new-album/"), parse_topic("hm://notifications/feed/b%friend-joined/"))


def taken(assigned: Assigned, *frames: object) -> Switch:
    """Returns what the last of the frames changes. The others change nothing yet."""
    *parts, last = frames
    assert [assigned.offer(part) for part in parts] == [None] * len(parts)  # type: ignore[arg-type]
    switch = assigned.offer(last)  # type: ignore[arg-type]
    assert switch is not None
    return switch


def test_the_first_assignment_is_the_whole_and_changes_build_on_it() -> None:
    assigned = Assigned()
    switch = taken(assigned, assignment(5, BOB, MIX, overlap_ms=700, every_ms=30))
    assert (switch.left, switch.came) == ({BOB, MIX}, set())
    assert (switch.terms.overlap_ms, switch.terms.leave, assigned.every_ms) == (700, [], 30)
    switch = taken(assigned, assignment(8, EVE, BOB, base=5, come=(MIX, user_topic("nobody"))))
    assert (switch.left, switch.came) == ({EVE}, {MIX})
    assert (assigned.out, assigned.epoch, assigned.every_ms) == ({BOB, EVE}, 8, 0)


def test_a_whole_assignment_replaces_everything() -> None:
    assigned = Assigned()
    taken(assigned, assignment(1, BOB, MIX))
    switch = taken(assigned, assignment(2, EVE, MIX))
    assert (switch.left, switch.came, assigned.out) == ({EVE}, {BOB}, {EVE, MIX})


def test_what_is_not_newer_is_passed_over_and_counted() -> None:
    """SB-68."""
    assigned = Assigned()
    taken(assigned, assignment(5, BOB))
    for late in (assignment(5, EVE), assignment(4, EVE), assignment(3, EVE, base=2), assignment(0)):
        assert assigned.offer(late) is None
    assert assigned.offer(assignment(5, EVE, last=False)) is None
    assert (assigned.out, assigned.epoch, assigned.stale) == ({BOB}, 5, 4)


def test_parts_hold_together_and_not_before_the_last() -> None:
    assigned = Assigned()
    assert assigned.offer(assignment(1, BOB, last=False)) is None
    assert (assigned.out, assigned.epoch) == (set(), 0)
    assert taken(assigned, assignment(1, EVE, last=False), assignment(1)).left == {BOB, EVE}


def test_parts_of_a_link_that_is_gone_and_of_an_epoch_that_was_given_up_count_for_nothing() -> None:
    assigned = Assigned()
    assigned.offer(assignment(1, BOB, last=False))
    assigned.cut()
    assert taken(assigned, assignment(1, EVE)).left == {EVE}
    assigned.offer(assignment(2, BOB, base=1, last=False))
    assert taken(assigned, assignment(3, MIX, base=1)).left == {MIX}
    assert assigned.out == {EVE, MIX}


def test_a_change_of_an_epoch_that_does_not_hold_is_refused_and_changes_nothing() -> None:
    assigned = Assigned()
    taken(assigned, assignment(5, BOB))
    with pytest.raises(Refused, match="changes 4, but 5 holds here; link again and send the whole"):
        assigned.offer(assignment(6, EVE, base=4))
    assert (assigned.out, assigned.epoch) == ({BOB}, 5)
    assert taken(assigned, assignment(6, EVE)).left == {EVE}


def test_what_is_stored_never_leaves() -> None:
    """SB-67: inboxes, artists, friends who join."""
    assigned = Assigned()
    assert taken(assigned, assignment(1, *STORED, BOB)).left == {BOB}
    assert (assigned.out, assigned.passed_over) == ({BOB}, 3)


def test_there_is_a_bound_to_what_may_be_out_and_to_what_is_said_in_parts() -> None:
    assigned = Assigned(max_topics=2)
    assigned.offer(assignment(1, BOB, EVE, last=False))
    with pytest.raises(Refused, match="more than 2 topics"):
        assigned.offer(assignment(1, MIX, last=False))
    taken(assigned, assignment(1, BOB, EVE))
    with pytest.raises(Refused, match="more than 2 topics would be out"):
        assigned.offer(assignment(2, MIX, base=1))
    assert (assigned.out, assigned.epoch) == ({BOB, EVE}, 1)
    assert taken(assigned, assignment(2, MIX, base=1, come=(BOB,))).came == {BOB}


class Step(NamedTuple):
    """A step of the service: decide, then say it whole or as a change, in so many parts, perhaps cut off or repeated."""

    leave: frozenset[Topic]
    come: frozenset[Topic]
    whole: bool
    parts: int
    cut: bool
    late: int


TOPICS = [user_topic(f"u{n}") for n in range(6)] + [playlist("dan", f"p{n}") for n in range(3)]
SOME = st.frozensets(st.sampled_from(TOPICS), max_size=6)
STEPS = st.lists(st.builds(Step, SOME, SOME, st.booleans(), st.integers(1, 3), st.booleans(), st.integers(0, 2)), max_size=12)


@settings(max_examples=150)
@given(STEPS)
def test_whatever_is_said_in_whatever_way_the_receiver_ends_where_the_service_is(steps: list[Step]) -> None:
    """SB-68, against a set: also when assignments are cut off, come again or come late."""
    assigned, truth, epoch = Assigned(), set[Topic](), 0
    for step in steps:
        before, base = set(truth), 0 if step.whole or epoch == 0 else epoch
        truth = (truth | step.leave) - step.come
        epoch += 1 + step.late
        leave, come = (sorted(truth), []) if base == 0 else (sorted(step.leave - step.come), sorted(step.come))
        frames = [
            assignment(epoch, *leave[n :: step.parts], base=base, come=tuple(come[n :: step.parts]), last=n == step.parts - 1)
            for n in range(step.parts)
        ]
        if step.cut:
            assert all(assigned.offer(frame) is None for frame in frames[:-1])
            assigned.cut()
            frames = [assignment(epoch, *truth)]
        switch = taken(assigned, *frames)
        assert (switch.left, switch.came) == (truth - before, before - truth)
        assert (assigned.out, assigned.epoch) == (truth, epoch)
        for old in range(max(0, epoch - step.late), epoch + 1):
            assert assigned.offer(assignment(old, *TOPICS)) is None
        assert assigned.out == truth
