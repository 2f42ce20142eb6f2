"""The store is away, slow, killed or full (SB-37): publishers are told 503 with Retry-After, and nothing that was accepted is lost."""

import asyncio
import os
import random
import signal
import sqlite3
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from infra.kernel.errors import Unavailable
from infra.runtime.cassandra.options import CassandraOptions
from infra.runtime.ending import end_tasks
from infra.runtime.tokens import issue
from notification.intake import MAX_OPEN
from notification.store import Item
from segue.cassandra import Server
from tests.support.cluster import SECRET, Cluster
from tests.support.eventually import eventually
from tests.support.news import News
from tests.support.stored import album, configured, stored

PUBLISHERS = 12
AUDIENCE = 40
# How often each publisher is told to come again while the store is away, so that the lease of the node runs out, too.
ROUNDS = 5
DEADLINE_S = 90.0
# Of a publisher that was told to come again.
PACE_S = 0.05


class Load:
    """Publishers that go on through the outage. `accepted`: ids that were; `refused`: how often they were told to come again."""

    def __init__(self, c: Cluster) -> None:
        self.c = c
        self.accepted: set[str] = set()
        self.refused = 0
        self.users = [f"{random.SystemRandom().getrandbits(40):x}-{n}" for n in range(AUDIENCE)]
        self._numbers = iter(range(1 << 40))
        self._artist = f"a{random.SystemRandom().getrandbits(40):x}"
        self._is_over = False
        self._tasks: list[asyncio.Task[None]] = []
        self._news = News(DEADLINE_S)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Publishes while the block runs; at the end what was begun is repeated until it is accepted."""
        self._tasks = [asyncio.create_task(self._publish()) for _ in range(PUBLISHERS)]
        try:
            yield
            self._is_over = True
            async with asyncio.timeout(DEADLINE_S):
                await asyncio.gather(*self._tasks)
        finally:
            await end_tasks(*self._tasks)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Waits for a condition on what was accepted and refused."""
        await self._news.until(condition)

    async def _publish(self) -> None:
        while not self._is_over:
            accepted = partial(self._is_accepted, album(next(self._numbers), *self.users, artist=self._artist))
            await eventually(accepted, "it was never accepted", deadline_s=DEADLINE_S, poll_s=PACE_S)

    async def _is_accepted(self, notice: dict[str, Any]) -> bool:
        status, headers, answer = await post(self.c, notice)
        assert status in (202, 503), answer
        if status == 202:
            assert answer["accepted"] == AUDIENCE
            self.accepted.add(notice["id"])
        else:
            assert int(headers["Retry-After"]) >= 1
            assert answer["code"] == "unavailable"
            self.refused += 1
        self._news.tell()
        return bool(status == 202)

    async def check(self) -> None:
        """Checks that whatever was accepted is there for everybody, once, under marks without a gap."""
        for user in self.users:
            items = await eventually(partial(self._all_of, user), deadline_s=DEADLINE_S, poll_s=0.02)
            assert [item.mark for item in items] == list(range(1, len(items) + 1)), user
            assert {item.notice.id for item in items} == self.accepted, user
            assert len(items) == len(self.accepted), user

    async def _all_of(self, user: str) -> list[Item]:
        """Returns the items of `user`, and none while some are missing, or a server that was away is too slow for this store's patience."""
        try:
            items = await self.c.of("notification")[0].stored.store.items(user, 0, 10_000)
        except Unavailable:
            return []
        return list(items) if len(items) >= len(self.accepted) else []


async def post(c: Cluster, notice: dict[str, Any]) -> tuple[int, Any, Any]:
    """Posts a notice; returns status, headers and JSON."""
    headers = {"Authorization": f"Bearer {issue(SECRET, service='artist', ttl_s=3600, now_s=time.time())}"}
    url = f"http://{c.of('notification')[0].address}/v1/notifications"
    async with c.http.post(url, json=notice, headers=headers) as answer:
        return answer.status, answer.headers, await answer.json()


class Supervised(Cluster):
    """A cluster whose nodes are started again when they find no store in time, as on a machine that has a lot to do."""

    async def start(self, name: str) -> None:
        """See `Cluster`."""
        start = super().start

        async def is_up() -> bool:
            try:
                await start(name)
            except Unavailable:
                await self.roles.pop(name).close()
                return False
            return True

        await eventually(is_up, f"{name} finds no store", deadline_s=DEADLINE_S)


def on_cassandra(folder: Path, server: Server, timeout_s: float) -> Cluster:
    options = CassandraOptions(port=server.port, keyspace="notification_contract", timeout_s=timeout_s)
    return Supervised(sites=1, state=folder, change=configured(store="cassandra", cassandra=options, lease_s=2.0))


def check_bounds(c: Cluster) -> None:
    """Checks that what waits for the store is bounded by what is bounded itself."""
    path = c.of("notification")[0].stored
    assert path.intake._turns._here <= min(MAX_OPEN, PUBLISHERS)
    assert path.worker._plans.qsize() <= 1
    assert path.store._db.in_flight <= 256


@pytest.mark.slow
@pytest.mark.timeout(180)  # a busy machine starts a server slowly
async def test_nothing_that_was_accepted_is_lost_when_cassandra_is_killed_under_load_and_comes_back_with_its_data(
    tmp_path: Path, cassandra_server: Server
) -> None:
    """Killed with -9 (sync=batch), away for as long as its start takes."""
    async with on_cassandra(tmp_path, cassandra_server, timeout_s=1.0) as c:
        load = Load(c)
        async with load.running():
            await load.until(lambda: len(load.accepted) > PUBLISHERS)
            await asyncio.to_thread(cassandra_server.kill)
            refused = load.refused
            await load.until(lambda: load.refused > refused + PUBLISHERS)
            check_bounds(c)
            accepted = len(load.accepted)
            await asyncio.to_thread(cassandra_server.start)
            check_bounds(c)
            await load.until(lambda: len(load.accepted) > accepted + PUBLISHERS)
        await load.check()


@pytest.mark.slow
@pytest.mark.timeout(120)
async def test_nothing_that_was_accepted_is_lost_when_cassandra_stops_answering_and_writes_time_out(
    tmp_path: Path, cassandra_server: Server
) -> None:
    """Stopped until its node has given up, then for moments: writes time out in the middle, and it may have done them all the same."""
    async with on_cassandra(tmp_path, cassandra_server, timeout_s=0.5) as c:
        load = Load(c)
        async with load.running():
            for times in (ROUNDS * PUBLISHERS, 1, 1):
                accepted = len(load.accepted)
                await load.until(lambda accepted=accepted: len(load.accepted) > accepted + PUBLISHERS)  # type: ignore[misc]
                with stopped(cassandra_server):
                    enough = load.refused + times
                    await load.until(lambda enough=enough: load.refused >= enough)  # type: ignore[misc]
                    check_bounds(c)
        await load.check()


class stopped:  # noqa: N801 - used as a statement
    """While the block runs the server is there and does nothing."""

    def __init__(self, server: Server) -> None:
        assert server.pid is not None
        self._pid = server.pid

    def __enter__(self) -> None:
        os.kill(self._pid, signal.SIGSTOP)

    def __exit__(self, *exc: object) -> None:
        os.kill(self._pid, signal.SIGCONT)


async def test_a_full_disk_refuses_publishers_and_loses_nothing_that_was_accepted(tmp_path: Path) -> None:
    """SQLite finds no room for another page; then there is room again, and what was refused is accepted under the same id."""
    async with stored(tmp_path) as c, c.user("u1") as ann:
        users = [f"u{n}" for n in range(200)]
        assert (await post(c, album(0, *users)))[0] == 202
        db = c.of("notification")[0].stored.store._db
        await db.write(lambda connection: _bound(connection, 4))
        refused = accepted = 0
        while not refused:
            accepted += 1
            status, headers, answer = await post(c, album(accepted, *users, payload={"album": "x" * 3000}))
            assert status in (202, 503), answer
            refused += status == 503
        assert (answer["code"], int(headers["Retry-After"]) >= 1) == ("unavailable", True)
        with pytest.raises(Unavailable):
            await db.write(lambda connection: connection.execute("CREATE TABLE filler AS SELECT zeroblob(100000)"))
        await db.write(lambda connection: _bound(connection, 1 << 20))
        for number in range(1, accepted + 1):
            status, _, answer = await post(c, album(number, *users, payload={"album": "x" * 3000}))
            assert (status, answer["accepted"]) == (202, 200)
        await c.until(lambda: c.of("notification")[0].stored.worker.decided >= 200 * (accepted + 1))
        items = (await ann.pull(since=0, limit=500))["items"]
        assert sorted(item["id"] for item in items) == sorted(f"bjork-{n}" for n in range(accepted + 1))
        assert [item["mark"] for item in items] == list(range(1, accepted + 2))


def _bound(connection: sqlite3.Connection, pages: int) -> None:
    """Lets the file have so many more pages than there are now."""
    ((now,),) = connection.execute("PRAGMA page_count")
    connection.execute(f"PRAGMA max_page_count = {now + pages}")
