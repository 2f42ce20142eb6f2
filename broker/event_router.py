"""The way of events inside a site. What this broker owns it publishes, the rest it forwards, twice at most."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from infra.kernel.events import Event
from infra.kernel.ring import Ring

from .forwarder import Forwarder
from .handover import Handover

# From the broker that took an event in to the owner under its view, and from there to the owner under a newer one.
MAX_HOPS: Final = 2

# `done(failed)`: positions of events that did not reach their owner, or may not have.
Done = Callable[[list[int]], None]


class EventRouter:
    """The way of events to their owners under `ring`, which is that of the newest view.

    - `me`: the slot of this broker; events that it owns go to `publish`.
    - `forwarder`: takes those of the others.
    - `handover`: holds back those that have just come to this broker.
    """

    def __init__(self, me: str, publish: Callable[[Event], None], forwarder: Forwarder, handover: Handover) -> None:
        self.ring = Ring(())
        self.misrouted = 0
        self._me, self._publish, self._forwarder, self._handover = me, publish, forwarder, handover

    def follow(self, ring: Ring) -> None:
        """Goes by `ring` from now on."""
        self.ring = ring

    def submit(self, events: Sequence[Event], hops: int, done: Done) -> None:
        """Brings each of `events` to its owner.

        - `hops`: how often these events have been forwarded so far.
        - `done(failed)`: is called when all owners have their part, perhaps before this returns.
        """
        publish, settled, owner = self._publish, self._handover.over, self.ring.owner
        if settled and self.ring.slots == (self._me,):
            for event in events:
                publish(event)
            done([])
            return
        # By owner, the positions of what cannot be published now; under `me` is what the handover holds back.
        parts: dict[str | None, list[int]] = {}
        for position, event in enumerate(events):
            slot = owner(event.topic)
            if slot == self._me and (settled or not self._handover.holds(event.topic)):
                publish(event)
            else:
                parts.setdefault(slot, []).append(position)
        if not parts:
            done([])
            return
        batch = _Batch(len(parts), done)
        for slot, positions in parts.items():
            self._pass_on(slot, [events[position] for position in positions], hops, partial(batch.part_done, positions))

    def _pass_on(self, slot: str | None, events: list[Event], hops: int, done: Done) -> None:
        everything = list(range(len(events)))
        if slot == self._me:
            # Submitted again when the handover is over: by then the topics may be another broker's.
            if not self._handover.hold([event.tail for event in events], partial(self.submit, events, hops, done)):
                done(everything)
        elif slot is None or hops >= MAX_HOPS:
            self.misrouted += len(events)
            done(everything)
        else:
            self._forwarder.forward(slot, hops + 1, events, lambda ok: done([] if ok else everything))


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
