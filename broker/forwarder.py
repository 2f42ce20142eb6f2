"""Forwarding events to the broker that owns their topics, and knowing when it has them."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Final

from infra.kernel.events import Event, waiting_bytes
from infra.kernel.frames import Publish, Published
from infra.kernel.outlet import Outlet

MAX_WAITING_BYTES: Final = 32 << 20

Done = Callable[[bool], None]


class Forwarder:
    """The events that wait for the acknowledgement of their owner, which counts for all frames up to a number.

    At most `max_waiting_bytes` of events wait for each owner. More are refused, and counted.
    """

    def __init__(self, max_waiting_bytes: int = MAX_WAITING_BYTES) -> None:
        self.forwarded = 0
        self.refused = 0
        self._max_waiting_bytes = max_waiting_bytes
        self._owners: dict[str, _Owner] = {}

    def up(self, slot: str, outlet: Outlet) -> None:
        """Begins anew with `slot`, to which there is a link, `outlet`."""
        self.down(slot)
        self._owners[slot] = _Owner(outlet)

    def down(self, slot: str) -> None:
        """Fails what `slot` has not acknowledged, as the link to it is lost. It may have been published all the same."""
        owner = self._owners.pop(slot, None)
        for _, done in owner.waiting.values() if owner else ():
            done(False)

    def forward(self, slot: str, hops: int, events: Sequence[Event], done: Done) -> None:
        """Sends `events`, which have been forwarded `hops` times so far, to `slot`.

        `done(True)` is called when the owner has them, `done(False)` when that cannot be known.
        """
        owner = self._owners.get(slot)
        if owner is None:
            done(False)
            return
        topics, tails = [event.topic for event in events], [event.tail for event in events]
        size_bytes = waiting_bytes(tails)
        if owner.size_bytes + size_bytes > self._max_waiting_bytes:
            self.refused += len(events)
            done(False)
            return
        owner.sent += 1
        owner.size_bytes += size_bytes
        owner.waiting[owner.sent] = size_bytes, done
        self.forwarded += len(events)
        owner.outlet.send(Publish(owner.sent, hops, list(topics), [event.id for event in events], tails))

    @property
    def waiting_bytes(self) -> int:
        """How much waits for all owners together, about."""
        return sum(owner.size_bytes for owner in self._owners.values())

    def published(self, slot: str, said: Published) -> None:
        """Takes what `slot` has `said`: up to which frame it is done, which others are, and which of all these failed."""
        owner = self._owners.get(slot)
        if owner is None:
            return
        for n in said.ahead:
            owner.done(n, ok=n not in said.failed)
        while owner.waiting and (n := next(iter(owner.waiting))) <= said.n:
            owner.done(n, ok=n not in said.failed)


class _Owner:
    """One owner: `sent` frames so far, and for each that waits its number, its size and what is to be called."""

    __slots__ = ("outlet", "sent", "size_bytes", "waiting")

    def __init__(self, outlet: Outlet) -> None:
        self.outlet = outlet
        self.sent = 0
        self.size_bytes = 0
        # By number, from the lowest on: a plain dict would take longer to find its first one the more are gone before it.
        self.waiting: OrderedDict[int, tuple[int, Done]] = OrderedDict()

    def done(self, n: int, *, ok: bool) -> None:
        """Has a frame wait no more, if it still does."""
        if (waiting := self.waiting.pop(n, None)) is not None:
            size_bytes, done = waiting
            self.size_bytes -= size_bytes
            done(ok)


class Prefix:
    """The progress of a publisher whose frames are done out of order: how far it may be told that they are.

    An acknowledgement counts for all frames up to its number, so it waits for the slowest of them. Only what was forwarded twice is said at
    once: the slower ones may wait for that.
    """

    __slots__ = ("_early", "_reached")

    def __init__(self) -> None:
        self._reached = 0
        self._early: dict[int, bool] = {}

    def done(self, n: int, ok: bool, *, is_awaited: bool = False) -> Published | None:
        """Notes that frame `n` is done, well if `ok`. Returns what to say now; None while an earlier one is not done.

        `is_awaited`: earlier ones may wait for it, so it is said ahead of them.
        """
        self._early[n] = ok
        before = self._reached
        failed: list[int] = []
        while (well := self._early.pop(self._reached + 1, None)) is not None:
            self._reached += 1
            if not well:
                failed.append(self._reached)
        if self._reached > before:
            return Published(self._reached, failed)
        return Published(self._reached, [] if ok else [n], [n]) if is_awaited else None
