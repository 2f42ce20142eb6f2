"""The teller: hands live copies to the engine, and tries again for a while where no broker takes them (a start, a failover).

Whoever hands one in hears what came of it: a broker has it, or it was given up here. Brokers and clients know a repetition by
its id.
"""

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from infra.kernel.events import Event, waiting_bytes

# Longer than a broker's death takes to be noticed, shorter than a user's patience.
TRY_S: Final = 10.0
MAX_KEPT_BYTES: Final = 32 << 20

# `publish(event, done)`: see `broker.client.SiteClient.publish`.
Publish = Callable[[Event, Callable[[bool], None]], None]
# `then(ok, attempts)`: a broker has it, or it was given up.
Then = Callable[[bool, int], None]


class _Copy(NamedTuple):
    """A live copy that is given up at `until_s`."""

    event: Event
    then: Then
    until_s: float
    attempts: int


class Teller:
    """The way of live copies to the engine.

    - `publish`: makes one attempt.
    - `now`: seconds that only go forward.
    - `max_kept_bytes`: so many bytes wait to be tried again; further copies are given up at once.
    """

    def __init__(self, publish: Publish, now: Callable[[], float], max_kept_bytes: int = MAX_KEPT_BYTES) -> None:
        self.failed = 0
        self._kept_bytes, self._max_kept_bytes = 0, max_kept_bytes
        self._publish, self._now = publish, now
        self._kept: deque[_Copy] = deque()

    def tell(self, event: Event, then: Then) -> None:
        """Hands a live copy to the engine; `then` is called once, perhaps before this returns."""
        self._try(_Copy(event, then, self._now() + TRY_S, 0))

    def tick(self) -> None:
        """Tries again what nobody took; called with every heartbeat."""
        # Emptied first: what is not taken this time, either, is kept again while this goes on.
        again, self._kept, self._kept_bytes = self._kept, deque(), 0
        for copy in again:
            if copy.until_s > self._now():
                self._try(copy)
            else:
                self._give_up(copy)

    def end(self) -> None:
        """Gives up what waits."""
        while self._kept:
            self._give_up(self._kept.popleft())
        self._kept_bytes = 0

    def _try(self, copy: _Copy) -> None:
        copy = copy._replace(attempts=copy.attempts + 1)
        self._publish(copy.event, partial(self._done, copy))

    def _done(self, copy: _Copy, ok: bool) -> None:
        if ok:
            copy.then(True, copy.attempts)
        elif self._kept_bytes + (size_bytes := waiting_bytes([copy.event.tail])) <= self._max_kept_bytes:
            self._kept.append(copy)
            self._kept_bytes += size_bytes
        else:
            self._give_up(copy)

    def _give_up(self, copy: _Copy) -> None:
        self.failed += 1
        copy.then(False, copy.attempts)
