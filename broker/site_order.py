"""Site order: events of other sites keep their order while their topics come here from another broker of this site (DPS-17). Pure.

Another site sends an event to one of us: to the former owner until it knows that the new one wants the topic, and to the new one from then
on. What had gone to the former owner comes here by way of it, and another link may be faster. So what comes here at once waits, unless its
number shows that it is the next one, until the former owner has got everything that other sites had sent to it. It says so: it has
settled. Nobody is waited for who is gone, or for long.
"""

from collections.abc import Callable, Collection, Iterable
from typing import Final

from infra.kernel.announcer import PARTING_BEATS
from infra.kernel.events import after_in, origin_epoch_seq, origin_if_sound, waiting_bytes
from infra.kernel.ring import Ring
from infra.kernel.topics import Topic

MAX_WAITING_BYTES: Final = 8 << 20

Last = Callable[[Topic, str], tuple[int, int] | None]
"""Returns epoch and number of the last event of a site that is kept of a topic; None where none is."""


class SiteOrder:
    """The events of other sites that wait at one broker.

    - `last`: see `Last`. `is_recorded(topic)`: tells whether events of it are kept. Of others no order is promised.
    - `go(bodies)`: gives followers events, in order.
    """

    def __init__(
        self,
        last: Last,
        is_recorded: Callable[[Topic], bool],
        go: Callable[[list[bytes]], None],
        max_bytes: int = MAX_WAITING_BYTES,
    ) -> None:
        self._last, self._is_recorded, self._go, self._max_bytes = last, is_recorded, go, max_bytes
        self._before: Ring | None = None
        self._formers: set[str] = set()
        self._beats = self._bytes = 0
        self._waiting: dict[Topic, list[bytes]] = {}

    @property
    def is_over(self) -> bool:
        """Whether nobody is waited for."""
        return not self._formers

    @property
    def waiting(self) -> int:
        """How many events wait."""
        return sum(map(len, self._waiting.values()))

    def begin(self, before: Ring, formers: Collection[str]) -> None:
        """Begins: topics come from `formers`, who owned them on the ring `before`. What has waited so far goes."""
        self._end()
        self._before, self._formers, self._beats = before, {*formers}, 0

    def settled(self, slots: Iterable[str]) -> None:
        """Notes that `slots` have got everything that other sites had sent to them, or will never say that."""
        if self._formers:
            self._formers.difference_update(slots)
            if not self._formers:
                self._end()

    def tick(self, there: Collection[str]) -> None:
        """Counts a heartbeat. Who is not `there` is not waited for."""
        if self._formers:
            self._beats += 1
            self.settled([slot for slot in self._formers if slot not in there or self._beats > PARTING_BEATS])

    def waits(self, topic: Topic, body: bytes) -> bool:
        """Has an event wait that has come here at once, if one before it may still come. Returns whether it does."""
        if self._before is None or self._before.owner(topic) not in self._formers or not self._is_recorded(topic):
            return False
        if origin_if_sound(body) is None or (topic not in self._waiting and self._is_next(topic, body)):
            return False
        self._waiting.setdefault(topic, []).append(body)
        self._bytes += waiting_bytes([body])
        if self._bytes > self._max_bytes:
            self._end()
        return True

    def strayed(self, topics: Iterable[Topic]) -> None:
        """Gives followers what has waited for an event on `topics` that has come by way of a former owner."""
        for topic in dict.fromkeys(topics):
            bodies = self._waiting.pop(topic, [])
            while bodies and self._is_next(topic, bodies[0]):
                self._bytes -= waiting_bytes(bodies[:1])
                self._go([bodies.pop(0)])
            if bodies:
                self._waiting[topic] = bodies

    def _is_next(self, topic: Topic, body: bytes) -> bool:
        """Tells whether an event comes right behind the last one of its site."""
        site, epoch, seq = origin_epoch_seq(body)
        last = self._last(topic, site)
        return last is not None and ((epoch, seq) == (last[0], last[1] + 1) or after_in(body) == last)

    def _end(self) -> None:
        waiting, self._waiting, self._bytes = self._waiting, {}, 0
        self._formers.clear()
        for bodies in waiting.values():
            self._go(bodies)
