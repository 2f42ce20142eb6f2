"""The way of events inside a site. What this broker owns it publishes, the rest it forwards.

An event is forwarded twice, so that brokers that disagree cannot send it in a circle. However often it was forwarded before, it follows its
topic further where that has moved on since it was sent here, or while it waited here. That is no circle: each time takes a newer view than
the one under which it came. Each broker says its view on a link before it sends anything under it, so we know the sender's.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from infra.kernel.events import Event
from infra.kernel.ring import Ring
from infra.kernel.topics import Topic, kind_of

from .forwarder import Forwarder
from .handover import Handover
from .heir_stream import Fate
from .heirs import Heirs
from .publication_order import PublicationOrder

# From the broker that took an event in to the owner under its view, and from there to the owner under a newer one. What follows its topic
# from there counts no further.
MAX_HOPS: Final = 2

# `done(failed)`: positions of events that did not reach their owner, or may not have.
Done = Callable[[list[int]], None]


class EventRouter:
    """The way of events to their owners under `ring`, which is that of the newest view.

    - `me`: the slot of this broker; events that it owns go to `publish`.
    - `forwarder`: takes those of the others.
    - `handover`: holds back those that have just come to this broker.
    - `order`: holds back those that would overtake others.
    - `heirs`: brings events of some kinds to their heirs before they are published; None where no kind has copies.
    """

    def __init__(
        self,
        me: str,
        publish: Callable[[Event], None],
        forwarder: Forwarder,
        handover: Handover,
        order: PublicationOrder,
        heirs: Heirs | None = None,
    ) -> None:
        self.ring = Ring(())
        self._heirs = heirs
        self.misrouted = 0
        self._me, self._publish, self._forwarder, self._handover, self._order = me, publish, forwarder, handover, order

    def follow(self, ring: Ring, now_s: float) -> None:
        """Goes by `ring` from `now_s` on."""
        self.ring = ring
        self._order.moved(ring, now_s)

    def submit(self, events: Sequence[Event], hops: int, done: Done, is_sender_behind: bool = False) -> None:
        """Brings each of `events` to its owner, in order for each topic.

        - `hops`: how often these events have been forwarded so far.
        - `done(failed)`: is called when all owners have their part, perhaps before this returns.
        - `is_sender_behind`: who has sent them went by an older view then than the one that holds here.
        """
        if not self._order.awaited or hops >= MAX_HOPS:
            self._route(events, hops, done, has_moved=is_sender_behind)
            return
        # By topic, the positions of what must wait; the others in one.
        waits: dict[Topic | None, list[int]] = {}
        for position, event in enumerate(events):
            waits.setdefault(event.topic if (hops, event.topic) in self._order.awaited else None, []).append(position)
        batch = _Batch(len(waits), done)
        for topic, positions in waits.items():
            part, part_done = [events[position] for position in positions], partial(batch.part_done, positions)
            if topic is None:
                self._route(part, hops, part_done)
            elif not self._order.hold((hops, topic), [event.tail for event in part], partial(self.submit, part, hops, part_done)):
                part_done(list(range(len(part))))

    def _route(self, events: Sequence[Event], hops: int, done: Done, *, has_moved: bool = False) -> None:
        """Publishes what this broker owns, and brings the rest on its way.

        - `has_moved`: topics of others have moved on since the events came here, or were sent here.
        """
        publish, settled, owner, heirs = self._publish, self._handover.over, self.ring.owner, self._heirs
        if settled and self.ring.slots == (self._me,) and heirs is None:
            for event in events:
                publish(event)
            done([])
            return
        # By owner, the positions of what cannot be published now; under `me` is what the handover holds back.
        parts: dict[str | None, list[int]] = {}
        copied: list[int] = []
        for position, event in enumerate(events):
            slot = owner(event.topic)
            if slot != self._me or (not settled and self._handover.holds(event.topic)):
                parts.setdefault(slot, []).append(position)
            elif heirs is not None and kind_of(event.topic) in heirs.kinds:
                copied.append(position)
            else:
                publish(event)
        if not parts and not copied:
            done([])
            return
        batch = _Batch(len(parts) + len(copied), done)
        if heirs is not None and copied:
            for position in copied:
                self._copy(heirs, events[position], hops, partial(batch.part_done, [position]))
            heirs.flush()
        for slot, positions in parts.items():
            part, part_done = [events[position] for position in positions], partial(batch.part_done, positions)
            self._pass_on(slot, part, hops, part_done, has_moved=has_moved)

    def _copy(self, heirs: Heirs, event: Event, hops: int, done: Done) -> None:
        """Publishes an event when its heir has it."""
        number = self._order.sent(self._me, hops, [event.topic])

        def settled(fate: Fate) -> None:
            if fate is Fate.MOVED:
                self._route([event], hops, done, has_moved=True)
            else:
                done([] if fate is Fate.LET_OUT else [0])
            self._order.answered(number)

        heirs.publish(event, settled)

    def _pass_on(self, slot: str | None, events: list[Event], hops: int, done: Done, *, has_moved: bool) -> None:
        everything = list(range(len(events)))
        if slot == self._me:
            number = self._order.sent(slot, hops, [event.topic for event in events])

            def go() -> None:
                # Routed again: by now the topics may be another broker's. Before anything goes that waits for these events.
                self._route(events, hops, done, has_moved=True)
                self._order.answered(number)

            if not self._handover.hold([event.tail for event in events], go):
                self._order.answered(number)
                done(everything)
        elif slot is None or (hops >= MAX_HOPS and not has_moved):
            self.misrouted += len(events)
            done(everything)
        else:
            self._forward(slot, hops, events, done)

    def _forward(self, slot: str, hops: int, events: list[Event], done: Done) -> None:
        number = self._order.sent(slot, hops, [event.topic for event in events])

        def answered(ok: bool) -> None:
            done([] if ok else list(range(len(events))))
            self._order.answered(number)

        self._forwarder.forward(slot, min(hops + 1, MAX_HOPS), events, answered)


class _Batch:
    """The parts of one batch that are on their way; `done` is called with the last of them."""

    __slots__ = ("_done", "_failed", "_left")

    def __init__(self, parts: int, done: Done) -> None:
        self._left, self._done = parts, done
        self._failed: list[int] = []

    def part_done(self, positions: list[int], failed: list[int]) -> None:
        self._left -= 1
        self._failed += [positions[index] for index in failed]
        if not self._left:
            self._done(sorted(self._failed))
