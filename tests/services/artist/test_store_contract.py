"""The contract of every store of what artist monitoring has seen."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from infra.runtime.cassandra.client import Cassandra
from services.artist.core import CatalogueItem, Standing
from services.artist.store import Run, SeenItems
from services.artist.store_cassandra import use_cassandra
from services.artist.store_sqlite import open_sqlite

FIRST, NEW, SEEN = Standing.FIRST, Standing.NEW, Standing.SEEN


def album(artist: str, item_id: str) -> CatalogueItem:
    return CatalogueItem(artist=artist, type="album", id=item_id, title="")


class SeenContract:
    """The contract of every store."""

    async def test_runs_are_numbered_and_one_that_did_not_finish_is_gone_on_with(self, seen: SeenItems) -> None:
        assert await seen.last() is None
        first = await seen.begin(10.0)
        assert (first, await seen.begin(20.0), await seen.last()) == (Run(1, 10.0, False), first, first)
        await seen.finish(first)
        assert await seen.last() == Run(1, 10.0, True)
        assert await seen.begin(30.0) == Run(2, 30.0, False)

    async def test_items_of_an_artist_are_first_until_the_run_that_met_him_is_finished(self, seen: SeenItems) -> None:
        run = await seen.begin(1.0)
        assert await seen.standing(run, [album("a", "1"), album("a", "2")]) == [FIRST, FIRST]
        await seen.mark([album("a", "1")])
        again = await seen.begin(2.0)
        assert await seen.standing(again, [album("a", "1"), album("a", "2"), album("a", "3")]) == [SEEN, FIRST, FIRST]
        await seen.finish(again)
        second = await seen.begin(3.0)
        assert await seen.standing(second, [album("a", "1"), album("a", "3"), album("b", "1")]) == [SEEN, NEW, FIRST]

    async def test_marking_twice_and_marking_nothing_are_nothing_special(self, seen: SeenItems) -> None:
        run = await seen.begin(1.0)
        await seen.mark([])
        assert await seen.standing(run, []) == []
        for _ in range(2):
            await seen.mark([album("a", "1"), album("a", "1")])
        assert await seen.standing(run, [album("a", "1")]) == [SEEN]

    async def test_many_items_keep_their_places(self, seen: SeenItems) -> None:
        run = await seen.begin(1.0)
        items = [album(f"a{n % 7}", str(n)) for n in range(500)]
        await seen.mark(items[::2])
        assert await seen.standing(run, items) == [SEEN if n % 2 == 0 else FIRST for n in range(500)]


class TestSqlite(SeenContract):
    @pytest.fixture
    async def seen(self, tmp_path: Path) -> AsyncIterator[SeenItems]:
        stores = await open_sqlite(tmp_path)
        yield stores.seen
        await stores.close()


class TestCassandra(SeenContract):
    @pytest.fixture
    async def seen(self, cassandra_store: Cassandra) -> SeenItems:
        return (await use_cassandra(cassandra_store)).seen
