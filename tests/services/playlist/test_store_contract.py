"""The contract of every playlist store: versions are a line, and promises are there exactly when their change is."""

import asyncio
import signal
import sys
import time
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from infra.kernel.errors import Refused, Unavailable
from infra.runtime.cassandra.client import Cassandra, Row
from segue.cassandra import Server
from services.playlist import core
from services.playlist.change import Add, Create, Rename
from services.playlist.core import LANES, Playlist, PlaylistStep, playlist_topic
from services.playlist.store import PlaylistStores
from services.playlist.store_cassandra import use_cassandra
from services.playlist.store_sqlite import open_sqlite
from tests.services.shared_keyspace import empty_keyspace

MAX_OWNED = 4
ROOT = Path(__file__).resolve().parents[3]


def new(playlist_id: str = "p", owner: str = "ann", **fields: Any) -> PlaylistStep:
    """Returns a step that creates a playlist."""
    wanted: dict[str, Any] = {"name": "Ró", "collaborative": False, "tracks": ["a", "b"], **fields}
    return core.create(owner, playlist_id, Create(**wanted), 1, f"ev-{owner}-{playlist_id}")


def add(playlist: Playlist, track: str) -> PlaylistStep:
    """Returns a step that adds a track."""
    return core.edit(playlist, playlist.owner, Add([track]), None, playlist.changed_ms + 1, f"ev-{track}")


async def promised(stores: PlaylistStores) -> list[tuple[str, str]]:
    """Returns event and op of all that is promised, by event."""
    found = [stored for lane in LANES for stored in await stores.outbox.undone(0, 100, lane)]
    return [(stored.task.id, stored.task.op) for stored in sorted(found, key=lambda stored: stored.n)]


def tasks(*steps: PlaylistStep) -> list[tuple[str, str]]:
    """Returns what steps promise."""
    return [(task.id, task.op) for step in steps for task in step.tasks]


class StoreContract:
    async def test_a_playlist_is_kept_as_it_is_with_what_is_promised_about_it(self, stores: PlaylistStores) -> None:
        assert await stores.playlists.get("ann", "p") is None
        created = new(name="Ágætis", collaborative=True)
        assert await stores.playlists.create(created)
        assert await stores.playlists.get("ann", "p") == created.playlist
        renamed = core.edit(created.playlist, "ann", Rename("Takk"), None, 2, "ev-2")
        assert await stores.playlists.replace(renamed)
        assert await stores.playlists.get("ann", "p") == renamed.playlist
        assert await promised(stores) == tasks(created, renamed)

    async def test_an_id_is_used_once_also_when_its_playlist_is_gone(self, stores: PlaylistStores) -> None:
        created = new()
        assert await stores.playlists.create(created)
        assert not await stores.playlists.create(new(name="another"))
        gone = core.delete(created.playlist, "ann", None, 2, "ev-gone")
        assert await stores.playlists.replace(gone)
        assert not await stores.playlists.create(new(name="another"))
        assert await stores.playlists.get("ann", "p") == gone.playlist
        assert await promised(stores) == tasks(created, gone)

    async def test_of_changes_to_one_version_one_is_done_and_the_others_leave_nothing(self, stores: PlaylistStores) -> None:
        created = new()
        await stores.playlists.create(created)
        steps = [add(created.playlist, f"t{n}") for n in range(5)]
        done = await asyncio.gather(*(stores.playlists.replace(step) for step in steps))
        assert sum(done) == 1
        winner = steps[done.index(True)]
        assert await stores.playlists.get("ann", "p") == winner.playlist
        assert await promised(stores) == tasks(created, winner)

    async def test_lists_show_what_is_there_and_no_more_than_one_may_have(self, stores: PlaylistStores) -> None:
        steps = {playlist_id: new(playlist_id) for playlist_id in ("p1", "p2", "p3", "p4")}
        for step in steps.values():
            await stores.playlists.create(step)
        with pytest.raises(Refused, match="too-many-topics"):
            await stores.playlists.create(new("p5"))
        await stores.playlists.replace(core.delete(steps["p2"].playlist, "ann", None, 2, "ev-gone"))
        ids: list[str] = []
        after: str | None = ""
        while after is not None:
            page, after = await stores.playlists.owned("ann", after, 2)
            ids += [summary.id for summary in page]
        assert ids == ["p1", "p3", "p4"]
        topics = [playlist_topic("ann", playlist_id) for playlist_id in ("p1", "p2", "none")]
        (summary,) = await stores.playlists.summaries(topics)
        assert (summary.id, summary.version, summary.tracks, summary.name) == ("p1", 1, 2, "Ró")
        await stores.playlists.create(new("p5"))


class TestSqlite(StoreContract):
    @pytest.fixture
    async def stores(self, tmp_path: Path) -> AsyncIterator[PlaylistStores]:
        stores = await open_sqlite(tmp_path, max_owned=MAX_OWNED)
        yield stores
        await stores.close()


class Hesitant:
    """A store whose answers to conditional writes are lost, done or not done, while `trouble` says so."""

    def __init__(self, db: Cassandra) -> None:
        self.trouble = ""
        self._db = db

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)

    async def swap(self, cql: str, *values: Any) -> bool:
        if self.trouble == "before":
            raise Unavailable("lost on its way there")
        done = await self._db.swap(cql, *values)
        if self.trouble == "after":
            raise Unavailable("the answer is lost")
        return done

    async def batch(self, statements: Sequence[tuple[str, Row]], *, logged: bool = False) -> None:
        if self.trouble == "confirming" and not logged:
            raise Unavailable("too late")
        await self._db.batch(statements, logged=logged)


class TestCassandra(StoreContract):
    @pytest.fixture
    async def db(self, cassandra_server: Server) -> AsyncIterator[Hesitant]:
        async with empty_keyspace(cassandra_server, "follows", "outbox", "playlist") as db:
            yield Hesitant(db)

    @pytest.fixture
    async def stores(self, db: Hesitant) -> PlaylistStores:
        return await self.open(db)

    async def open(self, db: Hesitant) -> PlaylistStores:
        return await use_cassandra(db, "sto/l1", time.time, max_owned=MAX_OWNED)  # type: ignore[arg-type]

    async def test_after_a_lost_answer_promises_are_there_exactly_if_the_change_was_done(
        self, db: Hesitant, stores: PlaylistStores
    ) -> None:
        created = new()
        await stores.playlists.create(created)
        lost, done, late = add(created.playlist, "lost"), add(created.playlist, "done"), new("q")
        for trouble, step in (("before", lost), ("after", done)):
            db.trouble = trouble
            with pytest.raises(Unavailable):
                await stores.playlists.replace(step)
        db.trouble = "confirming"
        assert await stores.playlists.create(late)
        db.trouble = ""
        for life in (stores, await self.open(db)):
            assert await promised(life) == tasks(created, done, late)
        assert await stores.playlists.get("ann", "p") == done.playlist
        following = add(done.playlist, "next")
        assert await stores.playlists.replace(following)
        assert await promised(stores) == tasks(created, done, late, following)

    async def test_a_version_that_was_given_up_can_still_be_made_by_the_next_change(self, db: Hesitant, stores: PlaylistStores) -> None:
        created = new()
        await stores.playlists.create(created)
        db.trouble = "before"
        with pytest.raises(Unavailable):
            await stores.playlists.replace(add(created.playlist, "lost"))
        db.trouble = ""
        assert await promised(stores) == tasks(created)
        second = add(created.playlist, "second")
        assert await stores.playlists.replace(second)
        assert await promised(stores) == tasks(created, second)


LIFE = """
import asyncio, os, signal, sys
from pathlib import Path
from services.playlist.core import create
from services.playlist.change import Create
from services.playlist.store_sqlite import open_sqlite
from tests.services.shared_keyspace import empty_keyspace

async def live() -> None:
    stores = await open_sqlite(Path(sys.argv[1]))
    for n in range(20):
        assert await stores.playlists.create(create("ann", f"p{n:02d}", Create("n", False, []), 1, f"ev-{n}"))
    os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(live())
"""


async def test_what_a_process_answered_for_before_it_was_killed_is_there_with_its_promises(tmp_path: Path) -> None:
    life = await asyncio.create_subprocess_exec(sys.executable, "-c", LIFE, str(tmp_path), cwd=ROOT)
    assert await asyncio.wait_for(life.wait(), 30) == -signal.SIGKILL
    stores = await open_sqlite(tmp_path)
    assert [summary.id for summary in (await stores.playlists.owned("ann")).items] == [f"p{n:02d}" for n in range(20)]
    assert {event for event, _ in await promised(stores)} == {f"ev-{n}" for n in range(20)}
    await stores.close()


def test_what_is_promised_can_be_read_back() -> None:
    for task in new().tasks:
        promise = msgspec.json.decode(task.body, type=core.ChangeEvent)
        assert (promise.id, promise.owner, promise.playlist, promise.op) == ("ev-ann-p", "ann", "p", "create")
