"""Outbox: what waits for a client that reads more slowly than its topics speak.

A client that keeps up has none: its frames go from the hub into one write per batch. When the socket's buffers are
full, frames wait here. Of presence events only the newest of each (topic, origin site) is kept, and it says how many
it replaced; everything else, answers among it, is kept in order. The bound is in bytes; who goes over it, or does not
catch up for too long, is closed with `slow-consumer` (design 5.3).
"""

from collections.abc import Iterable

from infra.kernel.events import origin, skipped_in, with_skipped
from infra.kernel.websocket import text_frame


class Outbox:
    """Events and answers that wait for one slow client. `since_s` is when it stopped reading."""

    __slots__ = ("_bytes", "_latest", "_limit_bytes", "_queue", "since_s", "skipped")

    def __init__(self, since_s: float, limit_bytes: int) -> None:
        self.since_s = since_s
        self.skipped = 0
        self._limit_bytes = limit_bytes
        self._bytes = 0
        self._queue: list[bytes] = []
        # (handle, origin site) -> the newest event, and how many it has replaced.
        self._latest: dict[tuple[int, bytes], tuple[bytes, int]] = {}

    @property
    def size_bytes(self) -> int:
        """How much is kept now."""
        return self._bytes

    @property
    def is_full(self) -> bool:
        """Whether it is over the bound: nothing more is kept, so the client must be closed."""
        return self._bytes > self._limit_bytes

    def add(self, handle: int, presence: bool, bodies: Iterable[bytes]) -> None:
        """Keeps events of one topic, in order, unless the outbox is full.

        - `handle`: the number of the topic.
        - `presence`: whether only the newest of each origin site is kept.
        - `bodies`: the events.
        """
        for body in bodies:
            if self.is_full:
                return
            if presence:
                self._replace((handle, origin(body)), body)
            else:
                self._queue.append(body)
            self._bytes += len(body)

    def say(self, message: bytes) -> None:
        """Keeps an answer, unless the outbox is full."""
        if not self.is_full:
            self._queue.append(message)
            self._bytes += len(message)

    def _replace(self, key: tuple[int, bytes], body: bytes) -> None:
        # Taken out and put in again: dicts keep the order of insertion, so the newest of all topics is sent last.
        older = self._latest.pop(key, None)
        skipped = 0
        if older is not None:
            self._bytes -= len(older[0])
            self.skipped += 1
            skipped = older[1] + 1 + skipped_in(older[0])
        self._latest[key] = (body, skipped)

    def drain(self) -> bytes:
        """Returns everything as WebSocket frames; the outbox is empty afterwards."""
        bodies = self._queue + [with_skipped(body, n) if n else body for body, n in self._latest.values()]
        self._queue, self._latest, self._bytes = [], {}, 0
        return b"".join(map(text_frame, bodies))
