"""A life of topics that move: brokers hand over what they have recorded, and tell since when they have owned what. Some die, some are new.

Somebody has a point, is away, and asks the owner of a topic for what they missed. Who is told that nothing is missing has got each event
once, in order. Who is told that something is had an old point, or a broker has died since.
"""

import random
from collections.abc import Iterable, Sequence
from typing import ClassVar, Final, NamedTuple

from broker.core import BrokerCore
from broker.inheritance import Inheritance
from broker.moving import Destinations
from broker.recaller import Recaller, RecallingLink
from broker.tenure import Tenure
from broker.window import EventWindow
from broker.window_bounds import WindowBounds
from infra.kernel.events import Event, origin_epoch_seq
from infra.kernel.frames import Recall, View
from infra.kernel.ring import POINTS
from infra.kernel.topics import Kind, Topic, format_topic, parse_topic

from ..oracle import Violated
from .core_life import CoreLife

SLOTS: Final = ("b1", "b2", "b3")
TOPICS: Final = tuple(parse_topic(f"hm://playlist/user/ann/playlist/p{n}/") for n in range(8))
SHARES: Final = (0, POINTS // 4, POINTS // 2, POINTS)
WINDOW_S: Final = 1.0
# Each broker has every second beat.
BEAT_S: Final = 0.125
# Whose point is not older misses nothing that is too old.
OLD_S: Final = 0.5
MOST_POINTS: Final = 6
NOBODY: Final = View(0, ())
Place = tuple[int, int]


class MovingBroker:
    """A process of the broker `slot`, which knows `view`, and from which one aggregator wants all topics."""

    def __init__(self, slot: str, epoch: int, view: View) -> None:
        self.slot, self.view = slot, NOBODY
        self.window = EventWindow(epoch, {Kind.PLAYLIST: WindowBounds(seconds=WINDOW_S)}, 1 << 20)
        self.core = BrokerCore("sto", epoch, window=self.window, owns=lambda topic: self.view.ring.owner(topic) == slot)
        self.tenure = Tenure(slot, epoch)
        self.inheritance = Inheritance(slot, self.core, self.tenure, self._adopt)
        self.recaller = Recaller("sto", self.core, self.tenure, is_alone=True)
        self._bit = self.core.open(self, far=False)
        self.core.subscribe(self._bit, TOPICS, range(len(TOPICS)))
        if view.number:
            self.follow(view)

    def _adopt(self, topics: Sequence[tuple[Topic, bool]]) -> None:
        self.core.recorded.adopt(topics)

    def deliver(self, handle: int, body: bytes) -> None:
        """Takes what the aggregator gets."""

    def follow(self, view: View) -> None:
        """Goes by `view`."""
        self.tenure.begin(self.view, view)
        self.view = view

    def publish(self, topic: Topic) -> Place:
        """Publishes on a topic. Returns the epoch and the number of the event."""
        self.core.publish(Event(topic, b"", b'"topic":"%b","payload":{}}' % format_topic(topic).encode()))
        place = self.core.numbers.last(topic)
        assert place is not None
        return place

    def answer(self, topic: Topic, stamps: dict[int, int]) -> tuple[str, list[Place]]:
        """Returns why something may be missing of a topic for somebody with these `stamps`, and what they have missed."""
        (answer,) = self.recaller.answers(RecallingLink(self._bit, is_announced=True), Recall(1, [topic], stamps))
        return answer.reasons[0], [origin_epoch_seq(body)[1:] for body in answer.bodies]


class _LivedPoint(NamedTuple):
    """A point that somebody was given at `now_s`, when so many brokers had died; what they have missed of each topic since then."""

    now_s: float
    deaths: int
    stamps: dict[int, int]
    missed: dict[Topic, list[Place]]


class MovesLife(CoreLife):
    """The brokers of a site, and operators who plan its ring again and again. Nobody lies here."""

    KINDS: ClassVar[dict[str, int]] = {"publish": 20, "plan": 20, "beat": 24, "point": 12, "ask": 16, "renew": 4, "kill": 1}

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.brokers: dict[str, MovingBroker] = {}
        self._view, self._born, self._deaths, self._beats = NOBODY, 0, 0, 0
        self._points: list[_LivedPoint] = []
        for slot in SLOTS:
            self._begin(slot)
        self._go(SLOTS, (), rng)
        self._end_changes(self.brokers)

    def _begin(self, slot: str) -> None:
        """Begins a process of a broker that is not in the view."""
        self._born += 1
        for other in self.brokers.values():
            other.inheritance.link_up(slot)
        broker = self.brokers[slot] = MovingBroker(slot, self._born, self._view)
        broker.window.tick(self.now_s)
        self._end_changes([slot])

    def _end_changes(self, slots: Iterable[str]) -> None:
        """Has these brokers know that nothing of former owners is on its way any more."""
        for slot in slots:
            self.brokers[slot].recaller.owns_now()

    def _owner(self, topic: Topic) -> MovingBroker:
        return self.brokers[self._view.ring.owner(topic) or ""]

    def _publish(self, which: int, *_: int) -> None:
        topic = TOPICS[which % len(TOPICS)]
        owner = self._owner(topic)
        self._end_changes([owner.slot])
        place = owner.publish(topic)
        for point in self._points:
            point.missed.setdefault(topic, []).append(place)

    def _beat(self, *_: int) -> None:
        self.now_s += BEAT_S
        self._beats += 1
        for slot in SLOTS[self._beats % 2 :: 2]:
            self.brokers[slot].window.tick(self.now_s)
            self._end_changes([slot])

    def _plan(self, one: int, other: int, third: int, how: int) -> None:
        """Has the ring change. Changes of before are over at some brokers only; in half of all cases this one is over at once."""
        places = {slot: SHARES[pick % len(SHARES)] for slot, pick in zip(SLOTS, (one, other, third), strict=True)}
        if any(places.values()):
            self._end_changes(slot for n, slot in enumerate(SLOTS) if how >> n & 1)
            there = [slot for n, slot in enumerate(SLOTS) if places[slot] or how >> 3 + n & 1]
            self._go(there, [places[slot] for slot in there], random.Random(how))
            if how >> 6 & 1:
                self._end_changes(self.brokers)

    def _go(self, slots: Sequence[str], shares: Sequence[int], chance: random.Random, dying: str = "") -> None:
        """Has all go by another view. What moves is handed over, by brokers in some order; by one that is `dying` only in part."""
        before = self._view
        self._view = View(before.number + 1, tuple(slots), tuple(shares), ())
        for broker in self.brokers.values():
            broker.follow(self._view)
        moves = before.ring.parts(self._view.ring) if before.slots else []
        formers = sorted({slot for slot, to in moves if slot in self.brokers and to not in (None, slot)})
        chance.shuffle(formers)
        for slot in formers:
            heirs = {to for former, to in moves if former == slot and to is not None and to != slot}
            self._hand_over(self.brokers[slot], sorted(heirs), before, chance if slot == dying else None)
        for slot in formers:
            for heir in self.brokers.values():
                if heir.slot != slot and (slot != dying or chance.random() < 0.5):
                    heir.inheritance.sealed(slot, self._view)

    def _hand_over(self, former: MovingBroker, heirs: Sequence[str], before: View, fails: random.Random | None) -> None:
        goes_to, sent = Destinations(former.slot, before.ring, self._view.ring), dict.fromkeys(heirs, 0)
        for part in former.inheritance.leaving(goes_to, former.inheritance.left()):
            if part is not None:
                sent[part[0]] += 1
                if fails is None or fails.random() < 0.5:
                    self.brokers[part[0]].inheritance.take(former.slot, part[1])
        for topic in TOPICS:
            to = self._view.ring.owner(topic) or ""
            if before.ring.owner(topic) == former.slot != to and (last := former.core.numbers.last(topic)) is not None:
                former.core.numbers.give_up(topic)
                self.brokers[to].core.numbers.inherit(topic, last)
        for slot, frames in sent.items():
            if fails is None or fails.random() < 0.5:
                self.brokers[slot].inheritance.end(former.slot, former.inheritance.ending(self._view.number, frames))

    def _kill(self, which: int, how: int, *_: int) -> None:
        """Ends a broker at once, also in the middle of a move, and starts it again, when others own what it had."""
        dead = self._view.slots[which % len(self._view.slots)]
        others = [slot for slot in self._view.slots if slot != dead]
        if not others:
            return
        chance = random.Random(how)
        self._deaths += 1
        if how & 1:
            self._go(self._view.slots, (), chance, dying=dead)
        del self.brokers[dead]
        self._go(others, (), chance)
        self._end_changes(self.brokers)
        self._begin(dead)

    def _renew(self, which: int, *_: int) -> None:
        """Starts a broker anew that is not in the view: all that it had has gone to others."""
        if out := [slot for slot in SLOTS if slot not in self._view.slots]:
            self._end_changes(self.brokers)
            self._begin(out[which % len(out)])

    def _point(self, *_: int) -> None:
        """Gives somebody a point, who has got all."""
        self._end_changes(self.brokers)
        stamps = {broker.window.epoch: broker.window.stamp for broker in self.brokers.values()}
        self._points = [*self._points, _LivedPoint(self.now_s, self._deaths, stamps, {})][-MOST_POINTS:]

    def _ask(self, which: int, whose: int, *_: int) -> None:
        if self._points:
            self._check_answer(TOPICS[which % len(TOPICS)], self._points[whose % len(self._points)])

    def _check_answer(self, topic: Topic, point: _LivedPoint) -> None:
        """Raises Violated where what somebody is told of a topic is not true, or lazy."""
        self._end_changes(self.brokers)
        missed = point.missed.get(topic, [])
        reason, got = self._owner(topic).answer(topic, point.stamps)
        self.looked_at[f"moved, {reason or 'recovered'}"] += 1
        if not reason and got != missed:
            raise Violated(f"who is told that nothing of {format_topic(topic)} is missing gets {got}, and has missed {missed}")
        if reason and point.deaths == self._deaths and self.now_s - point.now_s <= OLD_S:
            raise Violated(f"no broker has died, and who has a point of {point.now_s:g} s is told of {format_topic(topic)}: {reason}")

    def check(self) -> None:
        """Looks at nothing: only answers can be wrong."""

    def settle(self) -> None:
        """Has all who have a point ask for everything."""
        for point in self._points:
            for topic in TOPICS:
                self._check_answer(topic, point)
