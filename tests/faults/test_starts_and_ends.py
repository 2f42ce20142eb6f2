"""A module that starts before its brokers are there, and one that is closed at any moment."""

import asyncio
from pathlib import Path

import pytest

from infra.kernel.errors import Unavailable
from infra.runtime.cassandra.options import CassandraOptions
from tests.support.clocked import ClockedCluster
from tests.support.cluster import Cluster
from tests.support.faulty_stores import open_mute_store
from tests.support.stored import album, configured, stored


async def has_item(c: Cluster, user: str) -> None:
    """Waits until a user has an item."""
    async with asyncio.timeout(30):
        while not await c.of("notification")[0].stored.store.items(user, 0, 1):  # noqa: ASYNC110 - the store tells nobody
            await asyncio.sleep(0)


async def test_the_live_copy_comes_also_when_the_worker_is_faster_than_the_link_to_the_broker(tmp_path: Path) -> None:
    """SB-62: the module dies between its two outputs, and its successor works before it has found the broker."""
    async with ClockedCluster(tmp_path, open_store=open_mute_store) as c, c.user("ann") as ann:
        c.module.stored.store.is_mute = True
        await c.notify(album(1, "ann"))
        await has_item(c, "ann")
        await c.crash("sto/n1")
        c.partition("sto/n1", "sto/b1")
        await c.start("sto/n1")
        again = c.module
        await c.until(lambda: again.stored.worker.told == 1)
        c.heal()
        await c.settle()
        await ann.heard(1)
        assert (ann.events[0]["id"], ann.events[0]["payload"]["mark"]) == ("bjork-1", 1)


@pytest.mark.parametrize("steps", range(5))
@pytest.mark.parametrize("who", ["dispatch", "keeper"])
async def test_a_close_that_comes_with_news_ends(tmp_path: Path, steps: int, who: str) -> None:
    """`asyncio.wait_for` swallowed the cancellation before Python 3.12."""
    async with stored(tmp_path) as c:
        path = c.of("notification")[0].stored
        (path.owned.agenda.news.set if who == "dispatch" else path.keeper.poke)()
        for _ in range(steps):
            await asyncio.sleep(0)
        async with asyncio.timeout(30):
            await (path.dispatch.stop if who == "dispatch" else path.keeper.close)()


async def test_a_cluster_that_does_not_come_up_leaves_nothing_open(tmp_path: Path) -> None:
    """Else a store that does not answer in time fails the tests that come after: they are told of the files that stayed open."""
    nowhere = CassandraOptions(port=1, timeout_s=0.1)
    c = Cluster(sites=1, state=tmp_path, change=configured(store="cassandra", cassandra=nowhere))
    with pytest.raises(Unavailable, match="no Cassandra"):
        await c.__aenter__()
    assert (c.roles, c.http.closed) == ({}, True)
