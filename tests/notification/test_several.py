"""Several notification nodes on one store: each follower has one owner at a time, whoever dies, leaves or comes (design 7)."""

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import closing
from itertools import cycle
from pathlib import Path
from typing import Any

import aiohttp

from infra.runtime.cassandra.options import CassandraOptions
from notification.store_cassandra import CassandraStore
from notification.store_sqlite import SqliteStore
from segue.cassandra import Server
from tests.support.clocked import ClockedCluster
from tests.support.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.faulty_stores import open_lease_store
from tests.support.stored import album, configured, decided, me

LEASE_S = 1.0


def followers(number: int) -> list[str]:
    return [f"u{n}" for n in range(number)]


def several(state: Path, notifications: int = 3, **fields: Any) -> Cluster:
    return Cluster(sites=1, state=state, notifications=notifications, change=configured(lease_s=LEASE_S, **fields))


async def publish(c: Cluster, notice: dict[str, Any], *doors: int) -> dict[str, Any]:
    """Publishes as a service does: repeats `notice`, at these `doors` of `c` or at any, with the same id until it is accepted.

    Returns the answer.
    """
    turns = cycle(doors or range(3))

    async def taken() -> dict[str, Any]:
        try:
            status, answer = await c.notify(notice, node=next(turns) % len(c.of("notification")))
        except aiohttp.ClientError:
            return {}
        assert status in (202, 503), answer
        return dict(answer) if status == 202 else {}

    answer: dict[str, Any] = await eventually(taken, "no door took it", poll_s=0.02)
    assert answer["accepted"] == len(notice["followers"])
    return answer


def counted(state: Path, sql: str = "SELECT count(*) FROM decisions") -> Callable[[], int]:
    """Returns what counts the rows that there are now."""

    def count() -> int:
        with closing(sqlite3.connect(state / "notification.sqlite")) as db:
            return int(db.execute(sql).fetchone()[0])

    return count


def owned(c: Cluster) -> dict[str, int]:
    """Returns how many shards each node owns."""
    return {role.node: len(role.stored.keeper.core.owned) for role in c.of("notification")}


async def shared(c: Cluster) -> None:
    """Waits until every node owns some of the shards, and all are owned."""
    await c.until(lambda: sum(owned(c).values()) == 64 and min(owned(c).values()) > 0, lambda: str(owned(c)))
    await c.settle()


async def check_items(store: SqliteStore | CassandraStore, users: list[str], events: set[str]) -> None:
    """Checks in `store` that all `users` have all `events` once, under marks without a gap (SB-37, SB-39)."""
    for user in users:
        items = await store.items(user, 0, 1000)
        assert [item.mark for item in items] == list(range(1, len(events) + 1)), user
        assert {item.notice.id for item in items} == events, user


async def test_nodes_share_the_followers_and_any_of_them_takes_any_notice(tmp_path: Path) -> None:
    async with several(tmp_path) as c, c.user("u7") as ann:
        await shared(c)
        for node in range(3):
            await publish(c, album(node, *followers(50)), node)
        await ann.heard(3)
        assert [event["payload"]["mark"] for event in ann.events] == [1, 2, 3]
        # By another door than the first, and twice: known.
        assert await publish(c, album(0, *followers(50)), 2) == {"id": "bjork-0", "accepted": 50, "duplicate": True}


async def test_what_a_user_prefers_is_honoured_by_the_node_that_owns_him(tmp_path: Path) -> None:
    """SB-43: from the next event on, also where the worker remembers the user already."""
    users = followers(12)
    async with several(tmp_path) as c:
        await shared(c)
        await publish(c, album(1, *users))
        await c.until(lambda: counted(tmp_path)() == 12)
        for user in users:
            while (answer := await me(c, user, "PUT", "preferences", {"muted": ["artist:bjork"]}))[0] != 200:
                assert answer[0] == 503, answer
        await publish(c, album(2, *users), 1)
        await c.until(lambda: counted(tmp_path)() == 24)
        assert counted(tmp_path, "SELECT count(*) FROM items")() == 12


async def test_nobody_is_skipped_or_told_twice_while_nodes_die_leave_and_come(tmp_path: Path) -> None:
    """SB-37, SB-39, SB-62: a fan-out to 2000 and smaller ones, while a node is killed, one leaves, and both come again."""
    users = followers(2000)
    notices = [album(0, *users), *(album(n, *users[:100]) for n in range(1, 9))]
    async with several(tmp_path) as c:
        await shared(c)
        publishing = [asyncio.create_task(publish(c, notice)) for notice in notices[:5]]
        await c.until(lambda: counted(tmp_path)() > 100)
        await c.crash("sto/n2")
        publishing += [asyncio.create_task(publish(c, notice)) for notice in notices[5:7]]
        await c.until(lambda: sum(owned(c).values()) == 64)
        await c.leave("sto/n3")
        await c.start("sto/n2")
        publishing += [asyncio.create_task(publish(c, notice)) for notice in notices[7:]]
        await c.start("sto/n3")
        await asyncio.gather(*publishing)
        await shared(c)
        await c.until(lambda: counted(tmp_path)() == 2000 + 8 * 100)
    store = await SqliteStore.open(tmp_path, 86_400.0, lambda: 0.0)
    try:
        await check_items(store, users[:100], {notice["id"] for notice in notices})
        await check_items(store, users[100:], {notices[0]["id"]})
    finally:
        await store.close()


async def test_a_node_that_others_took_for_dead_tells_nobody_anything_and_begins_anew(tmp_path: Path) -> None:
    """It is cut off from the store for longer than its lease, and comes back with work under way."""
    users = followers(200)
    async with ClockedCluster(tmp_path, notifications=2, open_store=open_lease_store, lease_s=LEASE_S) as c:
        await shared(c)
        lost = c.of("notification")[0].stored
        name = lost.keeper.core.node
        lost.store.is_cut_off = True
        await publish(c, album(1, *users))
        await c.until(lambda: lost.keeper.core.node == name and owned(c)["n2"] == 64)
        assert lost.missing() == "the store was not reached lately"
        await publish(c, album(2, *users))
        lost.store.is_cut_off = False
        await c.until(lambda: lost.keeper.core.node != name)
        await c.settle()
        await publish(c, album(3, *users))
        await c.until(lambda: counted(tmp_path)() == 600)
        await check_items(lost.store, users, {"bjork-1", "bjork-2", "bjork-3"})


async def test_a_restarted_node_is_at_work_before_its_former_life_would_have_run_out(tmp_path: Path) -> None:
    """The lock of its file tells that the former process has ended."""
    async with Cluster(sites=1, state=tmp_path, change=configured(lease_s=300.0)) as c:
        await c.notify(album(1, "ann"))
        await c.crash("sto/n1")
        await c.start("sto/n1")
        await c.settle()
        assert (await c.notify(album(2, "ann")))[0] == 202
        await c.until(lambda: counted(tmp_path)() == 2)


async def test_two_nodes_on_a_real_cassandra(tmp_path: Path, cassandra_server: Server) -> None:
    """The same with conditional writes: one is killed during a fan-out, and the other goes on."""
    users = followers(150)
    # The contract's keyspace: to make all its tables takes longer than this test.
    options = CassandraOptions(port=cassandra_server.port, keyspace="notification_contract")
    async with several(tmp_path, notifications=2, store="cassandra", cassandra=options) as c:
        await shared(c)
        publishing = asyncio.gather(*(publish(c, album(n, *users)) for n in range(3)))
        await decided(c, 50)
        await c.crash("sto/n2")
        await publishing
        await publish(c, album(3, *users))
        store = c.of("notification")[0].stored.store
        async with asyncio.timeout(30):
            while any(person.last < 4 for person in (await store.people(users)).values()):
                pass
        await check_items(store, users, {f"bjork-{n}" for n in range(4)})
