"""The bridge while its server is away: killed, restarted, hanging."""

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from itertools import count

import pytest

from infra.runtime.cassandra.client import Cassandra, Row, Unavailable
from segue.cassandra import Server
from tests.support.cassandra import fresh_keyspace
from tests.support.eventually import eventually

TABLE = "CREATE TABLE IF NOT EXISTS events (writer int, seq int, PRIMARY KEY (writer, seq))"
INSERT = "INSERT INTO events (writer, seq) VALUES (?, ?)"
OF_ONE = "SELECT seq FROM events WHERE writer = ?"
WRITERS = 16
# A busy machine does in the first what is asked for while nothing is wrong, and tells of the timeout within the second.
TIMEOUT_S = 3.0
SLACK_S = 6.0


class Ledger:
    """The rows that were acknowledged."""

    def __init__(self) -> None:
        self.acknowledged: set[tuple[int, int]] = set()
        self.enough = asyncio.Event()

    async def write(self, store: Cassandra, writer: int) -> float:
        """Writes one row after another until the store cannot, and returns how long the last call took."""
        for seq in count():
            begun_s = time.monotonic()
            try:
                await store.execute(INSERT, writer, seq)
            except Unavailable:
                return time.monotonic() - begun_s
            self.acknowledged.add((writer, seq))
            if len(self.acknowledged) > 500:
                self.enough.set()
        raise AssertionError


async def refused_within(call_s: float, store: Cassandra) -> None:
    begun_s = time.monotonic()
    with pytest.raises(Unavailable):
        await store.execute(OF_ONE, 1)
    assert time.monotonic() - begun_s < call_s


async def answers_again(store: Cassandra, follower: int = 1) -> list[Row]:
    """Waits until the store answers again, without being opened anew. Returns the rows of `follower`."""

    async def answers() -> list[list[Row]]:
        try:
            return [list(await store.execute(OF_ONE, follower))]
        except Unavailable:
            return []

    (rows,) = await eventually(answers, poll_s=0.05)
    found: list[Row] = rows
    return found


@pytest.mark.slow
@pytest.mark.timeout(180)  # a busy machine starts a server slowly
async def test_no_acknowledged_write_is_lost_when_the_server_is_killed_and_calls_meanwhile_fail_in_time(cassandra_server: Server) -> None:
    """The server acknowledges after fsync (`sync=batch`); SIGKILL comes in the middle of writes."""
    async with fresh_keyspace(cassandra_server, timeout_s=TIMEOUT_S) as store:
        await store.change_schema(TABLE)
        await store.prepare(OF_ONE)
        ledger = Ledger()
        writers = [asyncio.create_task(ledger.write(store, writer)) for writer in range(WRITERS)]
        await ledger.enough.wait()
        await asyncio.to_thread(cassandra_server.kill)
        assert max(await asyncio.gather(*writers)) < TIMEOUT_S + SLACK_S
        await asyncio.gather(refused_within(TIMEOUT_S + SLACK_S, store), check_that_bulk_writes_stop(store))
        assert store.in_flight == 0

        await asyncio.to_thread(cassandra_server.start)
        stored = {(writer, seq) for writer in range(WRITERS) for (seq,) in await answers_again(store, writer)}
        assert len(ledger.acknowledged) > 500
        assert ledger.acknowledged <= stored


async def check_that_bulk_writes_stop(store: Cassandra) -> None:
    """Checks that bulk writes draw what may be in flight, and wait with it: memory does not grow with the outage."""
    drawn = 0

    def endless() -> Iterator[Row]:
        nonlocal drawn
        for drawn in count(1):
            yield 1_000, drawn

    with pytest.raises(Unavailable):
        await store.many(INSERT, endless())
    assert drawn <= store.options.concurrency


async def test_a_server_that_hangs_times_calls_out_and_a_conditional_write_says_that_it_may_have_been_applied(
    cassandra_server: Server,
) -> None:
    async with fresh_keyspace(cassandra_server, timeout_s=TIMEOUT_S, concurrency=8) as store:
        await store.change_schema(TABLE)
        await store.execute(OF_ONE, 1)
        claim = f"{INSERT} IF NOT EXISTS"
        assert await store.swap(claim, 1, 1)
        pid = cassandra_server.pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        try:
            begun_s = time.monotonic()
            swap = asyncio.create_task(store.swap(claim, 1, 2))
            reads = [asyncio.create_task(store.execute(OF_ONE, 1)) for _ in range(100)]
            results = await asyncio.gather(swap, *reads, return_exceptions=True)
            assert time.monotonic() - begun_s < TIMEOUT_S + SLACK_S
        finally:
            os.kill(pid, signal.SIGCONT)
        assert all(isinstance(result, Unavailable) for result in results)
        assert "may have been applied or not" in str(results[0])
        # Which ones are refused depends on whose time is over first: what waits gets a place when another call is given up.
        assert any("8 requests are in flight already" in str(result) for result in results[1:])
        await answers_again(store)
        assert store.in_flight == 0
