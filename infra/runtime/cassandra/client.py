"""Cassandra for coroutines (design 7). The driver is imported by the modules beside this one, and nowhere else.

Every statement given to `execute`, `many` and `batch` must bear repeating, because after a lost answer it is sent again. It sets values
that its caller chose: no counters, no `now()`, no lists to append to. What may not be repeated goes through `swap`.
"""

import asyncio
from collections.abc import AsyncIterator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice
from typing import Any, Final, Self, TypeAlias

from cassandra.query import BatchStatement, BatchType, PreparedStatement, SimpleStatement

from infra.kernel.errors import Unavailable

from .driver import SCHEMA_TIMEOUT_S, TRANSIENT, Connected, connect, in_words
from .migrations import migrate
from .options import CassandraOptions
from .requests import Requests, Row

__all__ = ["Cassandra", "CassandraOptions", "Row", "Statement", "Unavailable"]

Statement: TypeAlias = PreparedStatement

MAX_ROWS: Final = 5_000


class Cassandra:
    """One keyspace. At most `options.concurrency` requests are in flight, in the order of their calls.

    Each call takes `options.timeout_s` at most, waiting and retries included. Cancelling a call harms no other one; a write may have
    been done. After the server was away the driver connects again by itself.
    """

    def __init__(self, options: CassandraOptions, requests: Requests) -> None:
        self.options = options
        self._requests = requests
        # Bulk writes hold half of the slots at most, so that a fan-out to millions keeps nobody else out.
        self._bulk_writers = options.concurrency // 2
        self._bulk = asyncio.Semaphore(self._bulk_writers)
        self._statements: dict[str, Statement] = {}
        self._preparing = asyncio.Lock()

    @classmethod
    async def open(cls, options: CassandraOptions) -> Self:
        """Connects, and makes the keyspace if it is not there. Raises ConfigError, and Unavailable with what to do about it."""
        options.check()
        threads = ThreadPoolExecutor(2, thread_name_prefix="cassandra")
        connecting = threads.submit(connect, options)
        try:
            connected = await asyncio.wrap_future(connecting)
        except BaseException as error:
            connecting.add_done_callback(_drop)
            threads.shutdown(wait=False)
            if not isinstance(error, TRANSIENT):
                raise
            where = ", ".join(f"{host}:{options.port}" for host in options.hosts)
            raise Unavailable(f"no Cassandra at {where} ({in_words(error)}). Start one with: segue cassandra start") from error
        return cls(options, Requests(connected, threads, options.concurrency, options.timeout_s))

    @property
    def in_flight(self) -> int:
        """The number of requests that the driver has at this moment."""
        return self._requests.in_flight

    async def migrate(self, module: str, scripts: Sequence[tuple[str, str]]) -> None:
        """Runs each of `scripts`, pairs of name and CQL, once for `module` (see `migrations.migrate`)."""
        await migrate(self, self.options.keyspace, module, scripts)

    async def prepare(self, cql: str) -> Statement:
        """Returns the statement, prepared at its first use and remembered. `cql` is a constant of the code, with ? for values."""
        if cql not in self._statements:
            async with self._preparing:
                if cql not in self._statements:
                    self._statements[cql] = await self._requests.prepare(cql)
        return self._statements[cql]

    async def execute(self, cql: str, *values: Any) -> list[Row]:
        """Runs one statement and returns its rows, at most `MAX_ROWS`.

        Raises Unavailable, ValueError if there are more rows (`pages` has no limit), and what the driver raises for wrong CQL.
        """
        bound = (await self.prepare(cql)).bind(values)
        bound.fetch_size = MAX_ROWS
        rows, more = await self._requests.run(bound)
        if more is not None:
            raise ValueError(f"more than {MAX_ROWS} rows: read them with pages()")
        return rows

    async def many(self, cql: str, rows: Iterable[Row]) -> None:
        """Runs one statement once for each row of values, in no order. Several calls at once share their part of the slots.

        `rows` may be of any length and is read as it is needed. After an error no more rows are begun, those that were begun are waited
        for, and the first error is raised.
        """
        statement = await self.prepare(cql)
        source = iter(rows)
        head = list(islice(source, self._bulk_writers))
        source = chain(head, source)
        failed: list[Exception] = []
        await asyncio.gather(*(self._write(statement, source, failed) for _ in head))
        if failed:
            raise failed[0]

    async def batch(self, statements: Sequence[tuple[str, Row]], *, logged: bool = False) -> None:
        """Does several writes as one request.

        In one partition they are one mutation: all or none, also for readers. Over several partitions only a `logged` batch is, in the
        end, all or none, and it costs more. Raises as `execute`.
        """
        batch = BatchStatement(batch_type=BatchType.LOGGED if logged else BatchType.UNLOGGED)
        for cql, values in statements:
            batch.add(await self.prepare(cql), values)
        await self._requests.run(batch)

    async def pages(self, cql: str, *values: Any, page_size: int = 500) -> AsyncIterator[list[Row]]:
        """Yields the rows, a page of `page_size` at a time, each asked for when it is wanted. Raises as `execute`."""
        statement = await self.prepare(cql)
        state: bytes | None = None
        while True:
            bound = statement.bind(values)
            bound.fetch_size = page_size
            rows, state = await self._requests.run(bound, state)
            if rows:
                yield rows
            if state is None:
                return

    async def swap(self, cql: str, *values: Any) -> bool:
        """Does a conditional write (`IF ...`) and returns whether it was applied. Rows written so must always be written so.

        Raises as `execute`. Where an Unavailable says that it may have been applied, read before trying again.
        """
        rows, _ = await self._requests.run((await self.prepare(cql)).bind(values), repeatable=False)
        return bool(rows[0][0])

    async def change_schema(self, cql: str) -> None:
        """Runs one statement that changes the schema and bears repeating (`IF NOT EXISTS`), until all nodes agree on it."""
        await self._requests.run(SimpleStatement(cql), timeout_s=SCHEMA_TIMEOUT_S)

    async def close(self) -> None:
        """Closes all connections. What is in flight ends with Unavailable. May be called twice."""
        await self._requests.close()

    async def _write(self, statement: Statement, source: Iterator[Row], failed: list[Exception]) -> None:
        while not failed:
            async with self._bulk:
                try:
                    values = next(source, None)
                    if values is None:
                        return
                    await self._requests.run(statement.bind(values))
                except Exception as error:
                    failed.append(error)


def _drop(connecting: "Future[Connected]") -> None:
    """Closes what was opened for nobody."""
    if not connecting.cancelled() and connecting.exception() is None:
        connecting.result().cluster.shutdown()
