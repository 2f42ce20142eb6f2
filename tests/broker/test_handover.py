"""What a broker holds back while topics come to it, and when it goes on."""

from broker.handover import Handover
from infra.kernel.events import waiting_bytes
from infra.kernel.ring import Ring
from infra.kernel.topics import user_topic

BEFORE = Ring(("b1", "b2"))
MINE = next(topic for topic in map(user_topic, map(str, range(99))) if BEFORE.owner(topic) == "b1")
MOVED = next(topic for topic in map(user_topic, map(str, range(99))) if BEFORE.owner(topic) == "b2")


BODY = b"x" * 100


def begun(*awaited: str, room: int = 100) -> Handover:
    """Returns a handover with room for so many events that have `BODY`."""
    handover = Handover("b1", max_held_bytes=room * waiting_bytes([BODY]))
    handover.begin(BEFORE, awaited)
    return handover


def test_only_topics_that_were_anothers_wait_and_only_until_everybody_has_announced_itself() -> None:
    handover = begun("a1", "a2")
    assert (handover.holds(MINE), handover.holds(MOVED), handover.over) == (False, True, False)
    handover.announced("a1")
    handover.announced("a1")
    assert handover.holds(MOVED)
    handover.announced("a2")
    assert (handover.holds(MOVED), handover.over) == (False, True)


def test_when_nobody_is_missing_nothing_waits() -> None:
    handover, went = begun(), list[int]()
    assert handover.over
    assert not handover.hold([BODY], lambda: went.append(1))
    assert went == []


def test_what_was_held_goes_on_in_order_when_it_is_over() -> None:
    handover, went = begun("a1"), list[int]()
    for n in range(3):
        assert handover.hold([BODY], lambda n=n: went.append(n))  # type: ignore[misc]
    assert went == []
    handover.announced("a1")
    assert went == [0, 1, 2]
    handover.announced("a1")
    assert went == [0, 1, 2]


def test_as_much_is_held_as_may_be_and_one_byte_more_is_counted() -> None:
    handover, went = begun("a1", room=5), list[int]()
    assert handover.hold([BODY] * 3, lambda: went.append(3))
    assert not handover.hold([BODY, BODY + b"x"], lambda: went.append(4))
    assert handover.hold([BODY] * 2, lambda: went.append(2))
    assert (handover.held_bytes, handover.overflowed) == (waiting_bytes([BODY] * 5), 2)
    handover.announced("a1")
    assert (went, handover.held_bytes) == ([3, 2], 0)
    handover.begin(BEFORE, ["a1"])
    assert handover.hold([BODY] * 5, lambda: went.append(5))


def test_what_cannot_wait_ends_the_handover_behind_what_does() -> None:
    handover, went = begun("a1", room=1), list[int]()
    assert handover.hold([BODY], lambda: went.append(1))
    assert not handover.hold([BODY], lambda: went.append(2))
    handover.give_up()
    assert (went, handover.over, handover.holds(MOVED)) == ([1], True, False)


def test_a_second_change_during_the_first_waits_for_everybody_again_and_for_topics_of_both() -> None:
    """A topic that went away and came back within the two was withdrawn here by some: it waits as well."""
    handover = begun("a1")
    handover.begin(Ring(("b1", "b2", "b3")), ["a1", "a2"])
    handover.announced("a1")
    briefly_gone = [topic for topic in map(user_topic, map(str, range(99))) if Ring(("b1", "b2", "b3")).owner(topic) == "b3"]
    assert all(handover.holds(topic) for topic in (MOVED, *briefly_gone))
    assert not handover.over
    handover.announced("a2")
    assert handover.over


def test_what_may_be_anothers_goes_when_another_view_holds_and_may_wait_again() -> None:
    """DPS-13"""
    handover, went = begun("a1", room=2), list[int]()

    def go() -> None:
        went.append(len(went))
        if not handover.over:
            assert handover.hold([BODY], go, at_views=True)

    assert handover.hold([BODY], lambda: went.append(9))
    assert handover.hold([BODY], go, at_views=True)
    handover.begin(BEFORE, ["a1"])
    assert (went, handover.held_bytes) == ([0], waiting_bytes([BODY] * 2))
    handover.announced("a1")
    assert (went, handover.held_bytes) == ([0, 9, 2], 0)
