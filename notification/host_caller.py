"""Calls to hosts that strangers have named: none of them can take the places of the others, however slow it is."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Final, NamedTuple

from yarl import URL

from infra.kernel.errors import Unavailable
from infra.runtime.outgoing.client import OutgoingAnswer, OutgoingClient
from infra.runtime.outgoing.options import OutgoingOptions

from .promptness import Promptness
from .turns import Turns

# What is read of an answer: it is shown to people.
EXCERPT_BYTES: Final = 200
# An answer within this part of the timeout is soon.
SOON_SHARE: Final = 0.25


class CallBounds(NamedTuple):
    """The bounds of calls: how many are under way at once, in all and to one host; how many are here with those that wait; and how long one
    takes at most."""

    under_way: int
    under_way_per_host: int
    here: int
    here_per_host: int
    timeout_s: float


class HostCaller:
    """The calls that are under way, and those that wait for a place, in order.

    One host has a part of the places. Half of all places are for hosts that have answered soon: whoever names hosts that never answer,
    however many, cannot take these. `outgoing`: where this process may call.
    """

    def __init__(self, bounds: CallBounds, outgoing: OutgoingOptions) -> None:
        self._bounds = bounds
        self._places = asyncio.Semaphore(bounds.under_way)
        self._unproven_places = max(1, bounds.under_way // 2)
        self._unproven = asyncio.Semaphore(self._unproven_places)
        self._hosts = Turns(bounds.here, most_of_key=bounds.here_per_host, inside=bounds.under_way_per_host)
        self._promptness = Promptness(SOON_SHARE * bounds.timeout_s)
        # The places bound the connections.
        self._client = OutgoingClient(outgoing, timeout_s=bounds.timeout_s, max_answer_bytes=EXCERPT_BYTES, max_connections=0)
        self._is_closed = False

    async def post(self, url: URL, body: bytes, headers: Callable[[], Mapping[str, str]]) -> OutgoingAnswer:
        """Posts `body` when there is a place, with the `headers` of that moment, and returns the answer, whatever its status.

        Raises NotCallable for an address that may not be called, and Unavailable with the reason where the line is full, where no status
        came in time, and after `close`. Cancelling closes the connection.
        """
        async with self._place(host := url.host or ""):
            if self._is_closed:
                raise Unavailable("this node is closing")
            begun_s = time.monotonic()
            try:
                answer = await self._client.post(url, body, headers())
            except Unavailable as trouble:
                if isinstance(trouble.__cause__, TimeoutError):
                    self._promptness.note(host, self._bounds.timeout_s)
                    raise Unavailable(f"{host} did not answer within {self._bounds.timeout_s:g} s") from trouble
                raise Unavailable(f"{host} cannot be reached: {trouble}") from trouble
            self._promptness.note(host, time.monotonic() - begun_s)
            return answer

    async def close(self) -> None:
        """Waits for the calls under way (each has its timeout), and closes all connections. May be called twice.

        Cancelling closes them at once.
        """
        if self._is_closed:
            return
        self._is_closed = True
        try:
            async with AsyncExitStack() as taken:
                for _ in range(self._unproven_places):
                    await taken.enter_async_context(self._unproven)
                for _ in range(self._bounds.under_way):
                    await taken.enter_async_context(self._places)
        finally:
            await self._client.close()

    @asynccontextmanager
    async def _place(self, host: str) -> AsyncIterator[None]:
        """Waits for a place for a call to `host`, and has it inside the block. Raises `Unavailable` where its line is full."""
        async with self._hosts.take(host), AsyncExitStack() as places:
            if not self._promptness.is_prompt(host):
                await places.enter_async_context(self._unproven)
            await places.enter_async_context(self._places)
            yield
