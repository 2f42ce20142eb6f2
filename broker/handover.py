"""Handover: topics come to a broker with a change of view; what must wait until it knows who wants them.

A new owner hears of interest from every subscribing node, which says when it has announced all of it under the new view
(`Announced`), and has got all that former owners had published. And it hears from these what goes with their topics (`moving`). Until then
it holds back what could miss somebody: events of topics that have just come to it, from this site and others. It waits for whoever is
there, however busy: who says nothing at all loses their link soon.

Topics may go on to yet another broker meanwhile. Then those who follow them go there, too, and what waits here must not stay behind.

What waits is bounded in bytes. Beyond the bound an event of this site is refused, since its publisher can repeat it. An event of
another site cannot be repeated, and must not overtake what waits: it ends the handover (`give_up`).
"""

from collections.abc import Callable, Collection, Hashable, Iterable
from typing import Final, NamedTuple

from infra.kernel.events import waiting_bytes
from infra.kernel.ring import Ring
from infra.kernel.topics import Topic

MAX_HELD_BYTES: Final = 32 << 20

Go = Callable[[], None]


class _HeldEvents(NamedTuple):
    """Something that waits; see `Handover.hold`."""

    go: Go
    size_bytes: int
    at_views: bool


class Handover:
    """The events that wait, and the subscribers that they wait for.

    - `me`: the slot of this broker.
    - `held_bytes`: how much waits now, at most `max_held_bytes`.
    - `overflowed`: how many events came when there was no room for them.
    """

    def __init__(self, me: str, max_held_bytes: int = MAX_HELD_BYTES) -> None:
        self.held_bytes = 0
        self.overflowed = 0
        self._me = me
        self._max_held_bytes = max_held_bytes
        self._awaited: set[Hashable] = set()
        # Rings that held since the last handover was over. More than one when views change quickly: a topic that went to another
        # broker and came back has been announced there, and not here.
        self._rings: list[Ring] = []
        self._held: list[_HeldEvents] = []

    @property
    def over(self) -> bool:
        """Whether nobody is waited for."""
        return not self._awaited

    def begin(self, before: Ring, awaited: Iterable[Hashable]) -> None:
        """Begins: the ring `before` no longer holds, and `awaited` have not announced everything under the new one yet.

        Lets go what wants to, since its topics may be another broker's by now.
        """
        self._rings.append(before)
        self._awaited = set(awaited)
        self._end()
        going = [held for held in self._held if held.at_views]
        self._held = [held for held in self._held if not held.at_views]
        self.held_bytes -= sum(held.size_bytes for held in going)
        for held in going:
            held.go()

    def announced(self, subscriber: Hashable) -> None:
        """Waits no more for `subscriber`, which has announced everything, or is gone."""
        self._awaited.discard(subscriber)
        self._end()

    def give_up(self) -> None:
        """Lets everything go that is held, in order, whoever has not announced itself."""
        self._awaited.clear()
        self._end()

    def holds(self, topic: Topic) -> bool:
        """Tells whether events of `topic`, which is this broker's now, must wait: it was another's a moment ago."""
        return bool(self._awaited) and any(ring.owner(topic) != self._me for ring in self._rings)

    def hold(self, texts: Collection[bytes], go: Go, *, at_views: bool = False) -> bool:
        """Keeps `go`, which delivers events with these `texts` as tails or bodies, until the handover is over.

        - `at_views`: it goes as soon as another view holds, too. It may be kept again.

        Returns False, and keeps nothing, if the handover is over, or if too much waits.
        """
        if self.over:
            return False
        size_bytes = waiting_bytes(texts)
        if self.held_bytes + size_bytes > self._max_held_bytes:
            self.overflowed += len(texts)
            return False
        self.held_bytes += size_bytes
        self._held.append(_HeldEvents(go, size_bytes, at_views))
        return True

    def _end(self) -> None:
        if self._awaited or not self._rings:
            return
        # Emptied before anything goes: what is let go may be held again, by a handover that begins meanwhile.
        self._rings.clear()
        going, self._held, self.held_bytes = self._held, [], 0
        for held in going:
            held.go()
