"""The queue of events between the socket and the application: one writer, one reader, bounded in bytes.

When it is full the writer waits. So the client stops reading its socket, and the outbox of the access point takes over: it keeps the
newest presence of each topic, and closes with `slow-consumer` in the end (design 5.3). Nothing is dropped here, and nothing can grow.
"""

import asyncio
from collections import deque

from segue.sdk.messages import Event


class Inbox:
    """A queue of events that holds at most `limit_bytes` of frames, give or take one."""

    def __init__(self, limit_bytes: int) -> None:
        self._limit_bytes = limit_bytes
        self._size_bytes = 0
        self._events: deque[tuple[Event, int]] = deque()
        self._end: BaseException | None = None
        self._changed = asyncio.Event()
        self._freed = asyncio.Event()

    async def room(self) -> None:
        """Waits until there is room for an event."""
        while self._size_bytes >= self._limit_bytes:
            self._freed.clear()
            await self._freed.wait()

    def put(self, event: Event, size_bytes: int) -> None:
        """Adds `event`, whose frame has `size_bytes`. There must be `room`."""
        self._events.append((event, size_bytes))
        self._size_bytes += size_bytes
        self._changed.set()

    async def get(self) -> Event:
        """Returns the oldest event, when there is one. Cancelling it takes nothing.

        When the inbox has ended and is empty, every call raises what `end` was given.
        """
        while not self._events:
            if self._end is not None:
                raise self._end
            self._changed.clear()
            await self._changed.wait()
        event, size_bytes = self._events.popleft()
        self._size_bytes -= size_bytes
        self._freed.set()
        return event

    def end(self, error: BaseException) -> None:
        """Ends the inbox with `error`: no further event comes. The first end counts."""
        self._end = self._end or error
        self._changed.set()
