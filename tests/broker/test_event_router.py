"""The way of a batch: what is published here, what is forwarded, what has failed, by position."""

import pytest

from broker.event_router import EventRouter
from broker.forwarder import Forwarder
from broker.handover import Handover
from broker.publication_order import PublicationOrder
from infra.kernel.events import Event, waiting_bytes
from infra.kernel.frames import Frame, Publish, Published
from infra.kernel.ring import Ring
from infra.kernel.topics import Topic, user_topic

RING = Ring(("b1", "b2", "b3"))


class Outlet(list[Frame]):
    """A link that keeps what was sent."""

    def send(self, frame: Frame) -> None:
        self.append(frame)


class Site:
    """Broker b1 of three, with links to the other two; `published` is what its core got."""

    def __init__(self, ring: Ring = RING) -> None:
        self.published: list[Topic] = []
        self.outlets = {"b2": Outlet(), "b3": Outlet()}
        self.forwarder = Forwarder()
        for slot, outlet in self.outlets.items():
            self.forwarder.up(slot, outlet)
        self.handover = Handover("b1")
        self.order = PublicationOrder(1.0)
        self.router = EventRouter("b1", lambda event: self.published.append(event.topic), self.forwarder, self.handover, self.order)
        self.router.follow(ring, 0.0)
        self.failed: list[list[int]] = []

    def submit(self, events: list[Event], hops: int = 0) -> None:
        self.router.submit(events, hops, self.failed.append)


def events_of(*slots: str) -> list[Event]:
    """Returns an event for each slot, whose topic that slot owns."""
    topics = {slot: [topic for topic in (user_topic(f"u{n}") for n in range(200)) if RING.owner(topic) == slot] for slot in RING.slots}
    return [Event(topics[slot].pop(), b"", b"") for slot in slots]


def test_each_event_goes_to_its_owner_and_the_batch_is_done_with_the_last_part() -> None:
    site, events = Site(), events_of("b1", "b2", "b3", "b2", "b1")
    site.submit(events)
    assert site.published == [events[0].topic, events[4].topic]
    sent = [frame for outlet in site.outlets.values() for frame in outlet if isinstance(frame, Publish)]
    assert [(frame.hops, frame.topics) for frame in sent] == [(1, [events[1].topic, events[3].topic]), (1, [events[2].topic])]
    site.forwarder.published("b2", Published(1))
    assert site.failed == []
    site.forwarder.published("b3", Published(1))
    assert site.failed == [[]]


def test_what_one_owner_lost_is_named_by_position() -> None:
    site = Site()
    site.submit(events_of("b2", "b1", "b3", "b2"))
    site.forwarder.published("b3", Published(1))
    site.forwarder.down("b2")
    assert site.failed == [[0, 3]]


def test_a_broker_that_is_alone_publishes_everything_itself() -> None:
    site = Site(Ring(("b1",)))
    site.submit(events_of("b1", "b2", "b3"))
    assert (len(site.published), site.failed) == (3, [[]])


def test_an_empty_batch_is_done() -> None:
    site = Site()
    site.submit([])
    assert site.failed == [[]]


def test_without_a_view_or_after_two_hops_events_are_given_up_and_counted() -> None:
    site, lost = Site(), Site(Ring(()))
    site.submit(events_of("b2", "b1", "b3"), hops=2)
    assert (site.failed, site.router.misrouted, len(site.published)) == ([[0, 2]], 2, 1)
    lost.submit(events_of("b1"))
    assert (lost.failed, lost.router.misrouted) == ([[0]], 1)


def test_events_of_topics_that_have_just_come_wait_for_the_end_of_the_handover() -> None:
    """Others go on; what waits is published in order, under the ring of that moment."""
    site, events = Site(), events_of("b1", "b1", "b2")
    site.router.follow(Ring(("b1", "b2")), 0.0)
    moved = [event for event in events_of(*["b3"] * 9) if site.router.ring.owner(event.topic) == "b1"]
    site.handover.begin(RING, ["a1"])
    site.submit([events[0], *moved[:2]])
    site.submit([moved[0], events[1]])
    assert site.published == [events[0].topic, events[1].topic]
    assert site.failed == []
    site.handover.announced("a1")
    assert site.published[2:] == [moved[0].topic, moved[1].topic, moved[0].topic]
    assert site.failed == [[], []]


@pytest.mark.parametrize("hops", [1, 2])
def test_what_waited_is_forwarded_when_its_topic_has_moved_on(hops: int) -> None:
    """However often it was before: it was with its owner, and a plan that is changed at once moves a topic again (DPS-17)."""
    site = Site(Ring(("b1",)))
    (event,) = events_of("b3")
    site.handover.begin(RING, ["a1"])
    site.submit([event], hops)
    site.router.follow(RING, 0.0)
    site.handover.announced("a1")
    assert [(frame.hops, frame.topics) for frame in site.outlets["b3"] if isinstance(frame, Publish)] == [(2, [event.topic])]
    site.forwarder.published("b3", Published(1))
    assert (site.published, site.failed) == ([], [[]])


def test_what_was_sent_under_an_older_view_follows_its_topic_however_often_it_was_forwarded() -> None:
    """DPS-17: its topic has moved on while it was on its way here. What was sent under our view would go in a circle."""
    site, (event,) = Site(), events_of("b3")
    site.submit([event], hops=2)
    assert (site.failed, site.router.misrouted) == ([[0]], 1)
    site.router.submit([event], 2, site.failed.append, is_sender_behind=True)
    assert [(frame.hops, frame.topics) for frame in site.outlets["b3"] if isinstance(frame, Publish)] == [(2, [event.topic])]
    site.forwarder.published("b3", Published(1))
    assert (site.failed, site.router.misrouted) == ([[0], []], 1)


def test_more_than_may_wait_is_refused() -> None:
    site = Site(Ring(("b1",)))
    site.handover = Handover("b1", max_held_bytes=2 * waiting_bytes([b""]))
    site.router = EventRouter("b1", lambda event: site.published.append(event.topic), site.forwarder, site.handover, site.order)
    site.router.follow(Ring(("b1",)), 0.0)
    site.handover.begin(RING, ["a1"])
    for _ in range(3):
        site.submit(events_of("b2"))
    assert site.failed == [[0]]
    site.handover.announced("a1")
    assert (len(site.published), site.failed) == (2, [[0], [], []])


def moved_from(before: str, after: str, ring: Ring) -> Event:
    """Returns an event of a topic that moves from one broker to another one under `ring`."""
    topics = (user_topic(f"u{n}") for n in range(200))
    return Event(next(topic for topic in topics if (RING.owner(topic), ring.owner(topic)) == (before, after)), b"", b"")


def forwarded(site: Site, slot: str) -> list[Topic]:
    return [Topic(topic) for frame in site.outlets[slot] if isinstance(frame, Publish) for topic in frame.topics]


def test_an_event_does_not_overtake_one_that_its_former_owner_has_not_answered_for() -> None:
    """DPS-17: others go on meanwhile; what waited goes to the new owner, in order, and its publisher is told then."""
    site, without = Site(), Ring(("b1", "b3"))
    moving, staying = moved_from("b2", "b3", without), moved_from("b3", "b3", without)
    site.submit([moving])
    site.router.follow(without, 0.0)
    site.submit([moving, staying, moving])
    site.submit([moving])
    assert forwarded(site, "b3") == [staying.topic]
    site.forwarder.published("b2", Published(1))
    assert forwarded(site, "b3") == [staying.topic, *[moving.topic] * 3]
    assert site.failed == [[]]
    site.forwarder.published("b3", Published(3))
    assert site.failed == [[], [], []]


def test_an_event_of_a_topic_that_came_here_waits_for_the_former_owner_and_one_that_it_passes_on_does_not() -> None:
    """DPS-17: else the two would wait for each other."""
    site, without = Site(), Ring(("b1", "b3"))
    moving = moved_from("b2", "b1", without)
    site.submit([moving])
    site.router.follow(without, 0.0)
    site.submit([moving])
    assert site.published == []
    site.submit([moving], hops=2)
    assert site.published == [moving.topic]
    site.forwarder.published("b2", Published(1))
    assert site.published == [moving.topic] * 2
    assert site.failed == [[], [], []]


@pytest.mark.parametrize("hops", [0, 1])
def test_an_event_waits_for_what_came_by_the_same_way_and_not_for_what_came_by_another(hops: int) -> None:
    """DPS-17: another broker may have sent one that its own publishers brought, and have ours wait for it."""
    site, without = Site(), Ring(("b1", "b3"))
    moving = moved_from("b2", "b1", without)
    site.submit([moving], hops)
    site.router.follow(without, 0.0)
    site.submit([moving], hops)
    assert site.published == []
    site.submit([moving], 1 - hops)
    assert site.published == [moving.topic]
    site.forwarder.published("b2", Published(1))
    assert site.published == [moving.topic] * 2
    assert site.failed == [[], [], []]


def test_what_was_held_back_for_a_handover_goes_before_what_came_when_the_topic_had_moved_on() -> None:
    """DPS-17: a view comes while the handover of the one before is not over."""
    site = Site(Ring(("b1",)))
    (moving,) = events_of("b3")
    site.handover.begin(RING, ["a1"])
    site.submit([moving])
    site.router.follow(RING, 0.0)
    site.submit([moving])
    assert forwarded(site, "b3") == []
    site.handover.announced("a1")
    assert forwarded(site, "b3") == [moving.topic] * 2


def test_when_the_former_owner_is_lost_what_follows_goes_on() -> None:
    site, without = Site(), Ring(("b1", "b3"))
    moving = moved_from("b2", "b3", without)
    site.submit([moving])
    site.router.follow(without, 0.0)
    site.submit([moving])
    site.forwarder.down("b2")
    assert forwarded(site, "b3") == [moving.topic]
    assert site.failed == [[0]]


def test_of_what_would_overtake_others_no_more_waits_than_may() -> None:
    site, without = Site(), Ring(("b1", "b3"))
    site.order = PublicationOrder(1.0, max_waiting_bytes=waiting_bytes([b""]))
    site.router = EventRouter("b1", lambda event: site.published.append(event.topic), site.forwarder, site.handover, site.order)
    site.router.follow(RING, 0.0)
    moving = moved_from("b2", "b3", without)
    site.submit([moving])
    site.router.follow(without, 0.0)
    site.submit([moving])
    site.submit([moving])
    assert site.failed == [[0]]
