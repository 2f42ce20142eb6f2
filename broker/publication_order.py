"""The order of publications: what must wait so that it does not overtake what was sent to a former owner of its topic. Pure.

This broker sends events of others' topics to their owners, who answer when they have them. When a topic moves before its former owner has
answered, what follows goes another way, and might be faster. So it waits here for that answer, for at most `limit_s` where the former owner
is suspected.

It waits only for what came the same way: from publishers, or from another broker that forwarded it. What one publisher sends here comes
by the first. If what was forwarded waited for that, too, two brokers could wait for each other for ever. An event that has been forwarded
twice never waits: it is what others wait for.
"""

from collections import deque
from collections.abc import Callable, Collection, Iterable
from itertools import count
from typing import Final

from infra.kernel.events import waiting_bytes
from infra.kernel.ring import Ring
from infra.kernel.topics import Topic

MAX_WAITING_BYTES: Final = 32 << 20

Go = Callable[[], None]
# How often an event had been forwarded when it came here, which says by which way it did, and its topic.
Way = tuple[int, Topic]


class PublicationOrder:
    """The events that are on their way to owners, and those that wait for them. Time is the node's, in seconds.

    - `limit_s`: so long something waits at most for who is suspected; `max_waiting_bytes`: so much.
    - `awaited`: ways and topics of which something goes to a former owner -> the numbers of what that is.
    - `waiting_bytes`: how much waits now. `overflowed`: how many events came when there was no room.
    """

    def __init__(self, limit_s: float, max_waiting_bytes: int = MAX_WAITING_BYTES) -> None:
        self.awaited: dict[Way, set[int]] = {}
        self.waiting_bytes = 0
        self.overflowed = 0
        self._limit_s, self._max_waiting_bytes = limit_s, max_waiting_bytes
        self._numbers = count(1)
        self._sent: dict[int, tuple[str, int, Collection[Topic]]] = {}
        self._waiting: dict[Way, deque[tuple[int, Go]]] = {}
        self._deadline_s = 0.0

    @property
    def is_idle(self) -> bool:
        """Whether nothing is on its way to an owner, and nothing waits."""
        return not self._sent and not self._waiting

    def sent(self, slot: str, hops: int, topics: Collection[Topic]) -> int:
        """Returns a number for events of `topics`, which go to `slot` now, or wait for it to be their owner.

        - `hops`: how often they had been forwarded when they came here.
        """
        number = next(self._numbers)
        self._sent[number] = slot, hops, topics
        return number

    def answered(self, number: int) -> None:
        """Notes that what has this `number` is with its owner, or lost. Lets go, in order, what has waited for it."""
        _, hops, topics = self._sent.pop(number)
        if self.awaited:
            for topic in dict.fromkeys(topics):
                self._answered((hops, topic), number)

    def _answered(self, way: Way, number: int) -> None:
        numbers = self.awaited.get(way)
        if numbers is not None:
            numbers.discard(number)
            if not numbers:
                self._let_go([way])

    def moved(self, ring: Ring, now_s: float) -> None:
        """Has topics wait that have another owner under `ring`, since `now_s`, than the one to which something of them is on its way."""
        for number, (slot, hops, topics) in self._sent.items():
            for topic in topics:
                if ring.owner(topic) != slot:
                    self.awaited.setdefault((hops, topic), set()).add(number)
        self._deadline_s = now_s + self._limit_s

    def hold(self, way: Way, tails: Collection[bytes], go: Go) -> bool:
        """Keeps `go`, which brings events that came by `way` to their owner.

        - `tails`: theirs, for the size.

        Returns False, and keeps nothing, if too much waits.
        """
        size_bytes = waiting_bytes(tails)
        if self.waiting_bytes + size_bytes > self._max_waiting_bytes:
            self.overflowed += len(tails)
            return False
        self.waiting_bytes += size_bytes
        self._waiting.setdefault(way, deque()).append((size_bytes, go))
        return True

    def tick(self, now_s: float, is_suspected: Callable[[str], bool]) -> None:
        """Lets go at `now_s` what has waited for `limit_s` for former owners all of which are suspected: they must not stop the others."""
        if self.awaited and now_s >= self._deadline_s:
            slots = {way: {self._sent[number][0] for number in numbers} for way, numbers in self.awaited.items()}
            self._let_go([way for way, waited_for in slots.items() if all(map(is_suspected, waited_for))])

    def _let_go(self, ways: Iterable[Way]) -> None:
        """Lets go what waits by `ways`, each in order. All of them are free before the first one goes."""
        going: list[tuple[int, Go]] = []
        for way in ways:
            del self.awaited[way]
            going += self._waiting.pop(way, ())
        for size_bytes, go in going:
            self.waiting_bytes -= size_bytes
            go()
