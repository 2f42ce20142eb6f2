"""Requests to the store: so many at once, repeated while there is time, answered in the loop.

The driver has a thread of its own. A request goes out from the loop, and its completion comes back through `Hop`.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias, TypeVar

from cassandra.cluster import ResponseFuture, ResultSet

from infra.kernel.backoff import Backoff
from infra.kernel.errors import Unavailable

from .driver import REFUSED, TRANSIENT, Connected, in_words
from .hop import Hop

T = TypeVar("T")
Row: TypeAlias = tuple[Any, ...]

_RETRY: Final = Backoff(base_s=0.05, cap_s=1.0)
_SHORTEST_S: Final = 0.01


class ResultPage(NamedTuple):
    """A page of a result: its rows (none for a write), and where the next page begins."""

    rows: list[Row]
    paging_state: bytes | None


_DONE: Final = ResultPage([], None)


class Requests:
    """The requests of one keyspace. At most `concurrency` are in flight. Others wait, in order, and their waiting counts as time.

    A slot is free again when the driver is done with the request, not when its caller has given up. So the bound holds for the server,
    too.
    """

    def __init__(self, connected: Connected, threads: ThreadPoolExecutor, concurrency: int, timeout_s: float) -> None:
        self.in_flight = 0
        self._cluster, self._session = connected
        self._threads = threads
        self._concurrency, self._timeout_s = concurrency, timeout_s
        self._loop = asyncio.get_running_loop()
        self._hop = Hop(self._loop)
        self._slots = asyncio.Semaphore(concurrency)
        self._rng = random.Random()
        self._closed = False

    async def run(
        self, query: Any, paging_state: bytes | None = None, *, repeatable: bool = True, timeout_s: float | None = None
    ) -> ResultPage:
        """Returns a page of the result of `query`, after as many tries as fit into the time.

        - `paging_state`: where the page begins.
        - `repeatable`: otherwise it is sent again only if it was not carried out for sure.
        - `timeout_s`: instead of the one that all have.

        Raises Unavailable, and what the driver raises for a wrong query.
        """
        deadline_s = self._loop.time() + (timeout_s or self._timeout_s)
        return await self._retrying(lambda: self._try(query, paging_state, deadline_s), deadline_s, repeatable)

    async def prepare(self, cql: str) -> Any:
        """Returns the prepared statement. Raises as `run`."""
        deadline_s = self._loop.time() + self._timeout_s
        prepare = partial(self._session.prepare, cql)
        return await self._retrying(lambda: self._in_thread(prepare, deadline_s), deadline_s, repeatable=True)

    async def close(self) -> None:
        """Closes all connections. What is in flight ends with Unavailable. May be called twice."""
        if not self._closed:
            self._closed = True
            await self._loop.run_in_executor(self._threads, self._cluster.shutdown)
            self._threads.shutdown(wait=False)

    async def _retrying(self, attempt: Callable[[], Awaitable[T]], deadline_s: float, repeatable: bool) -> T:
        tries = 0
        while not self._closed:
            try:
                return await attempt()
            except TRANSIENT as error:
                if not repeatable and not isinstance(error, REFUSED):
                    raise _unavailable(f"{in_words(error)}; the write may have been applied or not") from error
                delay_s = _RETRY.delay_s(tries, self._rng)
                if self._loop.time() + delay_s >= deadline_s:
                    raise _unavailable(in_words(error)) from error
            await asyncio.sleep(delay_s)
            tries += 1
        raise _unavailable("it was closed")

    async def _in_thread(self, function: Callable[[], T], deadline_s: float) -> T:
        try:
            async with asyncio.timeout_at(deadline_s):
                return await self._loop.run_in_executor(self._threads, function)
        except TimeoutError:
            raise _unavailable("no answer in time") from None

    async def _try(self, query: Any, paging_state: bytes | None, deadline_s: float) -> ResultPage:
        await self._take_slot(deadline_s)
        answer: asyncio.Future[ResultPage] = self._loop.create_future()
        self._send(answer, query, paging_state, max(_SHORTEST_S, deadline_s - self._loop.time()))
        return await answer

    async def _take_slot(self, deadline_s: float) -> None:
        if not self._slots.locked():
            await self._slots.acquire()  # at once; a timer for it would cost more than all the rest
            return
        try:
            async with asyncio.timeout_at(deadline_s):
                await self._slots.acquire()
        except TimeoutError:
            raise _unavailable(f"{self._concurrency} requests are in flight already") from None

    def _send(self, answer: "asyncio.Future[ResultPage]", query: Any, paging_state: bytes | None, timeout_s: float) -> None:
        """Gives the request, which has a slot, to the driver. `answer` may be cancelled at any time."""

        def settle(outcome: ResultPage | BaseException) -> None:
            self.in_flight -= 1
            self._slots.release()
            if answer.done():
                return
            if isinstance(outcome, BaseException):
                answer.set_exception(outcome)
            else:
                answer.set_result(outcome)

        self.in_flight += 1
        try:
            response = self._session.execute_async(query, timeout=timeout_s, paging_state=paging_state)
        except Exception as error:
            settle(error)
            return
        response.add_callbacks(self._answered, self._failed, (response, settle), None, (settle,), None)

    def _answered(self, rows: list[Row] | None, response: ResponseFuture, settle: Callable[[ResultPage], None]) -> None:
        """Passes the rows on to the loop. It runs in the driver's thread."""
        self._hop.post(settle, _DONE if rows is None else ResultPage(rows, ResultSet(response, rows).paging_state))

    def _failed(self, error: BaseException, settle: Callable[[BaseException], None]) -> None:
        """Passes the error on to the loop. It runs in the driver's thread, or in ours if the request could not even be sent."""
        self._hop.post(settle, error)


def _unavailable(why: str) -> Unavailable:
    return Unavailable(f"Cassandra does not answer: {why}")
