"""Events on their way to the broker that owns them, and what is known of them."""

from broker.forwarder import Forwarder, Prefix
from infra.kernel.events import Event, waiting_bytes
from infra.kernel.frames import Frame, Publish, Published
from infra.kernel.topics import user_topic

EVENTS = [Event(user_topic(f"u{n}"), b"id%d" % n, b"tail%d" % n) for n in range(3)]


class Outlet(list[Frame]):
    """A link that keeps what was sent."""

    def send(self, frame: Frame) -> None:
        self.append(frame)


def test_events_go_out_in_one_frame_and_are_done_when_the_owner_says_so() -> None:
    forwarder, outlet, done = Forwarder(), Outlet(), list[bool]()
    forwarder.up("b1", outlet)
    forwarder.forward("b1", 1, EVENTS, done.append)
    assert outlet == [Publish(1, 1, [event.topic for event in EVENTS], [b"id0", b"id1", b"id2"], [b"tail0", b"tail1", b"tail2"])]
    assert done == []
    forwarder.published("b1", Published(1))
    assert done == [True]
    assert forwarder.forwarded == 3


def test_the_owners_word_is_cumulative_and_names_what_failed() -> None:
    forwarder, done = Forwarder(), dict[int, bool]()
    forwarder.up("b1", Outlet())
    for n in range(1, 6):
        forwarder.forward("b1", 0, EVENTS[:1], lambda ok, n=n: done.__setitem__(n, ok))  # type: ignore[misc]
    forwarder.published("b1", Published(3, [2]))
    assert done == {1: True, 2: False, 3: True}
    forwarder.published("b1", Published(5))
    assert done == {1: True, 2: False, 3: True, 4: True, 5: True}


def test_the_owner_may_say_of_some_frames_that_they_are_done_ahead_of_earlier_ones() -> None:
    """DPS-17: earlier ones may wait for them. They are said once more with the others, and have been done."""
    forwarder, done = Forwarder(), list[tuple[int, bool]]()
    forwarder.up("b1", Outlet())
    for n in range(1, 5):
        forwarder.forward("b1", 0, EVENTS[:1], lambda ok, n=n: done.append((n, ok)))  # type: ignore[misc]
    forwarder.published("b1", Published(0, [], [2]))
    forwarder.published("b1", Published(0, [4], [4]))
    assert done == [(2, True), (4, False)]
    forwarder.published("b1", Published(4, [4]))
    assert done == [(2, True), (4, False), (1, True), (3, True)]
    assert forwarder.waiting_bytes == 0


def test_what_a_lost_owner_did_not_acknowledge_has_failed_once() -> None:
    forwarder, done = Forwarder(), list[bool]()
    forwarder.up("b1", Outlet())
    forwarder.up("b2", Outlet())
    forwarder.forward("b1", 0, EVENTS, done.append)
    forwarder.forward("b2", 0, EVENTS, done.append)
    forwarder.down("b1")
    assert done == [False]
    forwarder.published("b1", Published(1))
    forwarder.published("b2", Published(1))
    forwarder.down("b1")
    assert done == [False, True]


def test_on_a_new_link_to_an_owner_numbers_begin_again_and_old_events_have_failed() -> None:
    forwarder, old, new, done = Forwarder(), Outlet(), Outlet(), list[bool]()
    forwarder.up("b1", old)
    forwarder.forward("b1", 0, EVENTS, done.append)
    forwarder.up("b1", new)
    assert done == [False]
    forwarder.forward("b1", 0, EVENTS, done.append)
    assert [frame.n for frame in new if isinstance(frame, Publish)] == [1]


def test_without_a_link_events_are_refused_at_once() -> None:
    forwarder, done = Forwarder(), list[bool]()
    forwarder.forward("b1", 0, EVENTS, done.append)
    assert (done, forwarder.refused) == ([False], 0)


def test_as_many_bytes_of_events_wait_for_an_owner_as_may_and_one_event_more_is_refused_and_counted() -> None:
    """Each owner has room of its own, which is free again when the owner has the events, or is lost."""
    room = waiting_bytes([event.tail for event in EVENTS])
    forwarder, outlet, done = Forwarder(max_waiting_bytes=room), Outlet(), list[bool]()
    forwarder.up("b1", outlet)
    forwarder.up("b2", Outlet())
    forwarder.forward("b1", 0, EVENTS, done.append)
    forwarder.forward("b1", 0, EVENTS[:1], done.append)
    assert (done, len(outlet), forwarder.refused, forwarder.waiting_bytes) == ([False], 1, 1, room)
    forwarder.forward("b2", 0, EVENTS, done.append)
    assert (done, forwarder.waiting_bytes) == ([False], 2 * room)
    forwarder.published("b1", Published(1))
    forwarder.forward("b1", 0, EVENTS, done.append)
    assert (done, len(outlet), forwarder.refused) == ([False, True], 2, 1)
    forwarder.down("b1")
    assert (done, forwarder.waiting_bytes) == ([False, True, False], room)


def test_a_publisher_is_told_of_frames_in_order_whatever_the_order_in_which_they_are_done() -> None:
    prefix = Prefix()
    assert prefix.done(2, True) is None
    assert prefix.done(3, False) is None
    assert prefix.done(1, True) == Published(3, [3])
    assert prefix.done(4, True) == Published(4)
    assert prefix.done(6, False) is None
    assert prefix.done(5, False) == Published(6, [5, 6])


def test_what_others_may_wait_for_is_said_at_once_and_again_when_the_earlier_ones_are_done() -> None:
    """DPS-17: peers of older versions go by the second word alone."""
    prefix = Prefix()
    assert prefix.done(2, True, is_awaited=True) == Published(0, [], [2])
    assert prefix.done(3, False, is_awaited=True) == Published(0, [3], [3])
    assert prefix.done(1, True) == Published(3, [3])
    assert prefix.done(4, True, is_awaited=True) == Published(4)
