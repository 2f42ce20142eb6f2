"""The SQLite bridge: grouped commits, atomic pieces of work, nothing lost to a kill."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from infra.kernel.errors import ConfigError, Unavailable
from infra.runtime import sqlite
from infra.runtime.sqlite import Sqlite

ROOT = Path(__file__).resolve().parents[3]
SCRIPTS = [("0001", "CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT); CREATE TABLE u (k INTEGER PRIMARY KEY)")]


@pytest.fixture
async def db(tmp_path: Path) -> AsyncIterator[Sqlite]:
    opened = await Sqlite.open(tmp_path / "state" / "a.db", "test", SCRIPTS)
    yield opened
    await opened.close()


def put(k: int, v: str = "") -> sqlite.Work[int]:
    return lambda db: db.execute("INSERT INTO t VALUES (?, ?)", (k, v)).rowcount


def count(db: sqlite3.Connection) -> int:
    return int(db.execute("SELECT count(*) FROM t").fetchone()[0])


async def test_a_read_sees_what_was_written_before_it(db: Sqlite) -> None:
    """And many writes at once are all there."""
    assert await asyncio.gather(*(db.write(put(k)) for k in range(500))) == [1] * 500
    assert await db.read(count) == 500


async def test_work_that_raises_leaves_nothing_and_disturbs_nobody_in_its_group(db: Sqlite) -> None:
    def half(connection: sqlite3.Connection) -> None:
        put(100)(connection)
        raise ValueError("no")

    results = await asyncio.gather(db.write(put(1)), db.write(half), db.write(put(1)), db.write(put(2)), return_exceptions=True)
    assert [type(each) for each in results] == [int, ValueError, sqlite3.IntegrityError, int]
    assert await db.read(count) == 2


async def test_a_reader_cannot_write(db: Sqlite) -> None:
    with pytest.raises((Unavailable, sqlite3.OperationalError)):
        await db.read(put(1))
    assert await db.read(count) == 0


async def test_a_full_disk_is_said_and_passes(db: Sqlite) -> None:
    """The writes of its group are told too; when there is room again, writing goes on."""
    pages = await db.read(lambda c: c.execute("PRAGMA page_count").fetchone()[0])
    await db.write(put(1))
    await db._writer.ask(lambda c: None)
    with pytest.raises(Unavailable, match="full"):
        await db.write(lambda c: (c.execute(f"PRAGMA max_page_count = {pages + 1}"), [put(k, "x" * 5000)(c) for k in range(2, 9)]))
    await db.write(lambda c: c.execute("PRAGMA max_page_count = 1000000").fetchall())
    await db.write(put(50))
    assert await db.read(count) == 2


async def test_too_many_who_wait_are_told_so(tmp_path: Path) -> None:
    db = await Sqlite.open(tmp_path / "a.db", "test", SCRIPTS, max_waiting=3)
    results = await asyncio.gather(*(db.write(put(k)) for k in range(200)), return_exceptions=True)
    assert {type(each) for each in results} == {int, Unavailable}
    assert await db.read(count) == results.count(1)
    await db.close()


async def test_a_cancelled_write_harms_nobody(db: Sqlite) -> None:
    task = asyncio.ensure_future(db.write(put(1)))
    await asyncio.sleep(0)
    task.cancel()
    await db.write(put(2))
    assert await db.read(count) == 2


async def test_a_cursor_never_leaves_its_thread(db: Sqlite) -> None:
    """It would be let go of in the loop's thread, and reset a statement that the writer is using at that moment."""
    writes = [db.write(lambda c, k=k: c.execute("INSERT INTO t VALUES (?, '')", (k,))) for k in range(2000)]  # type: ignore[misc]
    assert set(await asyncio.gather(*writes)) == {None}
    assert await db.read(count) == 2000


async def test_migrations_run_once_and_a_newer_file_is_refused(db: Sqlite, tmp_path: Path) -> None:
    path = tmp_path / "state" / "a.db"
    again = await Sqlite.open(path, "test", [*SCRIPTS, ("0002", "ALTER TABLE t ADD COLUMN w TEXT")])
    await again.close()
    await again.close()
    with pytest.raises(ConfigError, match="newer version"):
        await Sqlite.open(path, "test", SCRIPTS)
    other = await Sqlite.open(path, "other", [("0001", "CREATE TABLE o (k INTEGER)")])
    await other.close()
    with pytest.raises(Unavailable, match="closed"):
        await other.read(count)


async def test_a_file_that_is_no_database_is_refused(tmp_path: Path) -> None:
    (tmp_path / "b.db").write_bytes(b"something else entirely " * 100)
    with pytest.raises(ConfigError, match="cannot be used"):
        await Sqlite.open(tmp_path / "b.db", "test", SCRIPTS)


WRITER = """
import asyncio, sys
from pathlib import Path
from infra.runtime.sqlite import Sqlite

async def main() -> None:
    db = await Sqlite.open(Path(sys.argv[1]), "test", [("0001", "CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT)")])
    for k in range(1_000_000):
        await db.write(lambda c: c.execute("INSERT INTO t VALUES (?, '')", (k,)))
        print(k, flush=True)

asyncio.run(main())
"""


async def test_what_was_answered_survives_a_kill(tmp_path: Path) -> None:
    """kill -9 in the middle of writing: every write that was answered is there."""
    path = tmp_path / "k.db"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WRITER, str(path), stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": str(ROOT)}
    )
    assert process.stdout is not None
    last = -1
    while last < 200:
        last = int(await process.stdout.readline())
    process.send_signal(signal.SIGKILL)
    rest = await process.stdout.read()
    await process.wait()
    last = max([last, *map(int, rest.decode().rpartition("\n")[0].split())])
    with sqlite3.connect(path) as connection:
        assert count(connection) >= last + 1
    connection.close()
