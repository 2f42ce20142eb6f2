"""The teller: hands live copies to the engine, and tries again for a while where no broker takes them (a start, a failover).

At least once within that time; the id tells repetitions, to brokers and to clients. What is given up shows as a gap, and the
client pulls.
"""

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

from infra.kernel.events import Event, waiting_bytes

# Longer than a broker's death takes to be noticed, shorter than a user's patience.
TRY_S: Final = 10.0
MAX_KEPT_BYTES: Final = 32 << 20

# `publish(event, done)`: see `broker.client.SiteClient.publish`.
Publish = Callable[[Event, Callable[[bool], None]], None]


class Teller:
    """`now()` is in seconds and only goes forward. At most `max_kept_bytes` of live copies are kept to be tried again; further ones
    have failed."""

    def __init__(self, publish: Publish, now: Callable[[], float], max_kept_bytes: int = MAX_KEPT_BYTES) -> None:
        self.failed = 0
        self._kept_bytes, self._max_kept_bytes = 0, max_kept_bytes
        self._publish, self._now = publish, now
        self._kept: deque[tuple[float, Event]] = deque()

    def tell(self, event: Event) -> None:
        """Hand a live copy to the engine."""
        self._try(self._now() + TRY_S, event)

    def tick(self) -> None:
        """Every heartbeat: try again what nobody took."""
        again, self._kept, self._kept_bytes = self._kept, deque(), 0
        for until_s, event in again:
            if until_s > self._now():
                self._try(until_s, event)
            else:
                self.failed += 1

    def _try(self, until_s: float, event: Event) -> None:
        self._publish(event, partial(self._done, until_s, event))

    def _done(self, until_s: float, event: Event, ok: bool) -> None:
        if ok:
            return
        size_bytes = waiting_bytes([event.tail])
        if self._kept_bytes + size_bytes <= self._max_kept_bytes:
            self._kept.append((until_s, event))
            self._kept_bytes += size_bytes
        else:
            self.failed += 1
