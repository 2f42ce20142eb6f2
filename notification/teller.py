"""The teller: hands live copies to the engine, and tries again for a while where no broker takes them (a start, a failover).

At least once within that time; the id tells repetitions, to brokers and to clients. What is given up shows as a gap, and the
client pulls.
"""

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final

from infra.kernel.events import Event

# Longer than a broker's death takes to be noticed, shorter than a user's patience.
TRY_S: Final = 10.0
MAX_KEPT: Final = 10_000

# `publish(event, done)`: see `broker.client.SiteClient.publish`.
Publish = Callable[[Event, Callable[[bool], None]], None]


class Teller:
    """`now()` is in seconds and only goes forward."""

    def __init__(self, publish: Publish, now: Callable[[], float]) -> None:
        self.failed = 0
        self._publish, self._now = publish, now
        self._kept: deque[tuple[float, Event]] = deque()

    def tell(self, event: Event) -> None:
        """Hand a live copy to the engine."""
        self._try(self._now() + TRY_S, event)

    def tick(self) -> None:
        """Every heartbeat: try again what nobody took."""
        again, self._kept = self._kept, deque()
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
        if len(self._kept) < MAX_KEPT:
            self._kept.append((until_s, event))
        else:
            self.failed += 1
