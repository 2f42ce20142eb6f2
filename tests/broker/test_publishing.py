"""Two brokers that publish at each other: whatever crosses on the way, each publisher is answered in the end."""

from collections import deque
from typing import Any

from broker.event_router import EventRouter
from broker.forwarder import Forwarder
from broker.handover import Handover
from broker.publication_order import PublicationOrder
from broker.publishing import PublishingLink
from infra.kernel.events import Event
from infra.kernel.frames import Frame, Publish, Published
from infra.kernel.ring import Ring
from infra.kernel.topics import Topic, user_topic

SLOTS = ("b1", "b2")
HALF, ONE, OTHER = Ring(SLOTS), Ring(("b1",)), Ring(("b2",))
TOPICS = [user_topic(f"u{n}") for n in range(40)]


def event(topic: Topic, text: str) -> Event:
    """Returns an event of a topic; `text` tells it from others."""
    return Event(topic, b"", text.encode())


def of(slot: str) -> Topic:
    """Returns a topic that a broker owns while both have their share."""
    return next(topic for topic in TOPICS if HALF.owner(topic) == slot)


class Outlet(deque[Frame]):
    """A link whose frames wait until they are let through."""

    def send(self, frame: Frame) -> None:
        self.append(frame)


class Pair:
    """Two brokers. What one sends waits on its way until it is let through.

    - `published`: the texts that each one's core got. `answered`: the texts that publishers were told of, and whether all went well.
    """

    def __init__(self) -> None:
        self.published: dict[str, list[str]] = {slot: [] for slot in SLOTS}
        self.answered: dict[str, bool] = {}
        self.sent = {slot: Outlet() for slot in SLOTS}
        self.answers = {slot: Outlet() for slot in SLOTS}
        self.forwarders = {slot: Forwarder() for slot in SLOTS}
        self.routers = {slot: self._router(slot) for slot in SLOTS}
        self._takers = {slot: self._taker(slot) for slot in SLOTS}
        self.follow(HALF, *SLOTS)

    def _router(self, slot: str) -> EventRouter:
        def publish(event: Event) -> None:
            self.published[slot].append(event.tail.decode())

        forwarder, (other,) = self.forwarders[slot], {*SLOTS} - {slot}
        forwarder.up(other, self.sent[slot])
        return EventRouter(slot, publish, forwarder, Handover(slot), PublicationOrder(1.0))

    def _taker(self, slot: str) -> PublishingLink:
        link: Any = self.answers[slot]
        return PublishingLink(link, self.routers[slot].submit, lambda view: None)

    def follow(self, ring: Ring, *slots: str) -> None:
        """Has brokers go by `ring`."""
        for slot in slots:
            self.routers[slot].follow(ring, 0.0)

    def publish(self, slot: str, topic: Topic, text: str) -> None:
        """Has somebody publish an event at a broker."""

        def done(failed: list[int]) -> None:
            self.answered[text] = not failed

        self.routers[slot].submit([event(topic, text)], 0, done)

    def arrive(self, slot: str) -> None:
        """Lets through what a broker has sent by now."""
        (other,) = {*SLOTS} - {slot}
        frames = [*self.sent[slot], *self.answers[slot]]
        self.sent[slot].clear()
        self.answers[slot].clear()
        for frame in frames:
            match frame:
                case Publish():
                    self._takers[other].take(frame)
                case Published():
                    self.forwarders[other].published(slot, frame)

    def settle(self) -> None:
        """Lets everything through, also what follows from that."""
        while any((*self.sent.values(), *self.answers.values())):
            for slot in SLOTS:
                self.arrive(slot)


def test_an_event_that_comes_back_does_not_wait_for_those_that_wait_for_it() -> None:
    """DPS-17: one was sent to the former owner, which sends it back behind what it had taken in itself. Nobody was answered any more."""
    pair, topic = Pair(), of("b1")
    pair.publish("b2", topic, "first")
    pair.follow(OTHER, "b1")
    pair.publish("b1", topic, "second")
    pair.follow(OTHER, "b2")
    pair.publish("b2", topic, "third")
    pair.settle()
    assert pair.answered == {"first": True, "second": True, "third": True}
    assert sorted(pair.published["b2"]) == ["first", "second", "third"]
    assert pair.published["b2"].index("first") < pair.published["b2"].index("third"), "of one publisher"


def test_two_events_that_are_sent_back_past_each_other_do_not_wait_for_each_other() -> None:
    """DPS-17: the ring went one way and back. Each comes behind the one that the other broker had sent, whose answer it is part of."""
    pair = Pair()
    pair.publish("b2", of("b1"), "one")
    pair.publish("b1", of("b2"), "other")
    pair.follow(OTHER, "b1")
    pair.arrive("b2")
    pair.follow(ONE, "b2")
    pair.arrive("b1")
    pair.follow(ONE, "b1")
    pair.settle()
    assert pair.answered == {"one": False, "other": True}, "one came to neither owner in time: its publisher repeats it"
