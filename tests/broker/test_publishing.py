"""Brokers that publish at each other: whatever crosses on the way, each publisher is answered in the end."""

from collections import deque
from itertools import permutations
from typing import Any, cast

from hypothesis import given, settings
from hypothesis import strategies as st

from broker.event_router import EventRouter
from broker.forwarder import Forwarder
from broker.handover import Handover
from broker.publication_order import PublicationOrder
from broker.publishing import PublishingLink, PublishingLinks
from infra.kernel.events import Event
from infra.kernel.frames import Frame, Heartbeat, Hello, Publish, Published, View
from infra.kernel.topics import Topic, user_topic
from infra.runtime.link import Link

SLOTS = ("b1", "b2", "b3")
# Views, in this order.
HALF, OTHER, ONE = View(1, SLOTS[:2]), View(2, SLOTS[1:2]), View(3, SLOTS[:1])
TOPICS = [user_topic(f"u{n}") for n in range(40)]


def of(slot: str) -> Topic:
    """Returns a topic that a broker owns while the first two have their share."""
    return next(topic for topic in TOPICS if HALF.ring.owner(topic) == slot)


class Outlet(deque[Frame]):
    """A link whose frames wait until they are let through."""

    peer = Hello("broker", "b2", "sto", 1, 1, View(0, ()))

    def send(self, frame: Frame) -> None:
        self.append(frame)


class Site:
    """Three brokers. What one sends waits on its way until it is let through.

    - `published`: the texts that each one's core got. `answered`: the texts that publishers were told of, and whether all went well.
    """

    def __init__(self) -> None:
        self.published: dict[str, list[str]] = {slot: [] for slot in SLOTS}
        self.answered: dict[str, bool] = {}
        self.handovers = {slot: Handover(slot) for slot in SLOTS}
        self.views = dict.fromkeys(SLOTS, View(0, ()))
        # From one broker to another: what it publishes there, and on another connection what it answers.
        self.sent = {pair: Outlet() for pair in permutations(SLOTS, 2)}
        self.answers = {pair: Outlet() for pair in permutations(SLOTS, 2)}
        self._forwarders = {slot: Forwarder() for slot in SLOTS}
        self._routers = {slot: self._router(slot) for slot in SLOTS}
        self._takers = {(source, target): self._taker(source, target) for source, target in self.sent}
        self.follow(HALF, *SLOTS)

    def _router(self, slot: str) -> EventRouter:
        def publish(event: Event) -> None:
            self.published[slot].append(event.tail.decode())

        for (source, target), outlet in self.sent.items():
            if source == slot:
                self._forwarders[slot].up(target, outlet)
        return EventRouter(slot, publish, self._forwarders[slot], self.handovers[slot], PublicationOrder(1.0))

    def _taker(self, source: str, target: str) -> PublishingLink:
        links = PublishingLinks(self._routers[target].submit, lambda: self.views[target])
        back: Any = self.answers[target, source]
        return links.link_up(back, lambda view: self.learn(view, target))

    def follow(self, view: View, *slots: str) -> None:
        """Has brokers go by `view`, which each of them says on its links before anything else."""
        for slot in slots:
            self.views[slot] = view
            self._routers[slot].follow(view.ring, 0.0)
            for (source, _), outlet in self.sent.items():
                if source == slot:
                    outlet.append(Heartbeat(view))

    def learn(self, view: View, slot: str) -> None:
        """Has a broker go by `view`, if it is news, and hold back what has come to it, until its handover is over."""
        if view.order > self.views[slot].order:
            before = self._routers[slot].ring
            self.follow(view, slot)
            self.handovers[slot].begin(before, ["somebody"])

    def publish(self, slot: str, topic: Topic, text: str) -> None:
        """Has somebody publish an event at a broker."""

        def done(failed: list[int]) -> None:
            self.answered[text] = not failed

        self._routers[slot].submit([Event(topic, b"", text.encode())], 0, done)

    def arrive(self, source: str, target: str) -> None:
        """Lets through what one broker has sent to another one by now."""
        for outlet in (self.sent[source, target], self.answers[source, target]):
            for _ in range(len(outlet)):
                self._take(source, target, outlet.popleft())

    def _take(self, source: str, target: str, frame: Frame) -> None:
        match frame:
            case Publish() | Heartbeat():
                self._takers[source, target].frames([frame])
            case Published():
                self._forwarders[target].published(source, frame)

    def settle(self) -> None:
        """Lets everything through, also what follows from that."""
        while any((*self.sent.values(), *self.answers.values())):
            for source, target in self.sent:
                self.arrive(source, target)


def test_an_event_that_comes_back_does_not_wait_for_those_that_wait_for_it() -> None:
    """DPS-17: one was sent to the former owner, which sends it back behind what it had taken in itself. Nobody was answered any more."""
    site, topic = Site(), of("b1")
    site.publish("b2", topic, "first")
    site.follow(OTHER, "b1")
    site.publish("b1", topic, "second")
    site.follow(OTHER, "b2")
    site.publish("b2", topic, "third")
    site.settle()
    assert site.answered == {"first": True, "second": True, "third": True}
    assert sorted(site.published["b2"]) == ["first", "second", "third"]
    assert site.published["b2"].index("first") < site.published["b2"].index("third"), "of one publisher"


def test_two_events_that_are_sent_back_past_each_other_do_not_wait_for_each_other() -> None:
    """DPS-17: the ring went one way and back. Each comes behind the one that the other broker had sent, whose answer it is part of.

    One has been forwarded twice when it comes to who is not its owner any more, and goes on: its way takes a newer view each time.
    """
    site = Site()
    site.publish("b2", of("b1"), "one")
    site.publish("b1", of("b2"), "other")
    site.follow(OTHER, "b1")
    site.arrive("b2", "b1")
    site.follow(ONE, "b2")
    site.arrive("b1", "b2")
    site.follow(ONE, "b1")
    site.settle()
    assert site.answered == {"one": True, "other": True}
    assert sorted(site.published["b1"]) == ["one", "other"]


ACTS = st.lists(
    st.one_of(
        st.tuples(st.just("publish"), st.tuples(st.sampled_from(SLOTS), st.sampled_from(TOPICS[:3]))),
        st.tuples(st.just("arrive"), st.sampled_from([*permutations(SLOTS, 2)])),
        st.tuples(st.just("view"), st.sampled_from(SLOTS)),
        st.tuples(st.just("over"), st.sampled_from(SLOTS)),
    ),
    min_size=20,
    max_size=60,
)
PARTS = [SLOTS, *(SLOTS[:end] for end in (1, 2)), SLOTS[1:2], *(SLOTS[begin:] for begin in (1, 2))]


@given(st.lists(st.sampled_from(PARTS), min_size=3, max_size=8), ACTS)
@settings(max_examples=150)
def test_each_publisher_is_told_accepted_in_the_end_whatever_crosses_on_the_way(
    parts: list[tuple[str, ...]], acts: list[tuple[str, Any]]
) -> None:
    """DPS-17: views come to all brokers in the same order, and to each at another time. In the end all have the last one. However often an
    event was forwarded, it has been published then, once."""
    views = [View(number, part) for number, part in enumerate(parts, HALF.number + 1)]
    site, ahead = Site(), {slot: deque(views) for slot in SLOTS}
    texts: list[str] = []

    for act, what in acts:
        match act:
            case "publish":
                texts.append(f"{len(texts):02}")
                slot, topic = what
                site.publish(slot, topic, texts[-1])
            case "arrive":
                source, target = what
                site.arrive(source, target)
            case "view" if ahead[what]:
                site.learn(ahead[what].popleft(), what)
            case "over":
                site.handovers[what].give_up()
    for slot in SLOTS:
        site.learn(views[-1], slot)
    for handover in site.handovers.values():
        handover.give_up()
    site.settle()
    assert site.answered == dict.fromkeys(texts, True)
    assert sorted(text for published in site.published.values() for text in published) == texts


def test_which_view_all_go_by_follows_from_what_each_has_said_last_and_a_lost_link_says_nothing_more() -> None:
    """Whoever learns of views hears of each."""
    learnt: list[View] = []
    links, outlet = PublishingLinks(lambda *_: None, lambda: HALF), cast(Link, Outlet())
    views = [View(number, ("b2",)) for number in range(4)]
    assert links.go_by(views[3])
    one, other = links.link_up(outlet, learnt.append), links.link_up(outlet)
    assert links.go_by(outlet.peer.view)
    one.frames([Heartbeat(views[2]), Heartbeat(views[3])])
    assert (learnt, links.go_by(views[1])) == (views[2:], False)
    other.frames([Heartbeat(views[1])])
    assert (links.go_by(views[1]), links.go_by(views[2])) == (True, False)
    other.down("lost")
    assert links.go_by(views[3])
