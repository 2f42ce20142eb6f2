"""SQLite for asyncio: one writer thread that groups commits, and one reader thread (design 7).

With write-ahead logging readers never wait for the writer, and what was committed survives `kill -9` at any moment. A power cut may cost
the last commits, unless `durable` is set: then each commit waits for the disk.
"""

import asyncio
import queue
import sqlite3
import threading
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeVar

from infra.kernel.errors import ConfigError, Unavailable

from .ending import end_all
from .private_folder import make_private

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]

# So many pieces of work wait for a thread at most. The next one is refused: the store is busy.
MAX_WAITING: Final = 4096
GROUP: Final = 256
ROWS_AT_ONCE: Final = 128
BUSY_S: Final = 5.0


def insert(connection: sqlite3.Connection, head: str, rows: Sequence[Sequence[Any]], tail: str = "") -> None:
    """Inserts `rows` by statements of many rows each. `head` ends in VALUES, and `tail` may say what to do ON CONFLICT.

    With `executemany` this thread would ask for the interpreter between any two rows, and wait for it while the loop is busy.
    """
    for start in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[start : start + ROWS_AT_ONCE]
        connection.execute(_statement(head, len(some[0]), len(some), tail), list(chain.from_iterable(some)))


@lru_cache(maxsize=1 << 10)
def _statement(head: str, columns: int, rows: int, tail: str) -> str:
    row = f"({', '.join('?' * columns)})"
    return f"{head} {', '.join([row] * rows)} {tail}"


class _Job(NamedTuple):
    work: Work[Any]
    done: "asyncio.Future[Any]"


class Sqlite:
    """An open database. `open` makes one; `close` ends it after what was asked for is done."""

    def __init__(self, path: Path, *, durable: bool = False, max_waiting: int = MAX_WAITING) -> None:
        self._path, self._durable = path, durable
        self._loop = asyncio.get_running_loop()
        self._writer = _Worker(self._loop, lambda: self._connect(), max_waiting, grouped=True)
        self._reader = _Worker(self._loop, lambda: self._connect(read_only=True), max_waiting, grouped=False)

    @classmethod
    async def open(
        cls, path: Path, module: str, scripts: Sequence[tuple[str, str]], *, durable: bool = False, max_waiting: int = MAX_WAITING
    ) -> "Sqlite":
        """Returns the database at `path`, made if it is not there.

        Every (name, SQL) of `scripts` has been run once for `module`. With `durable` each commit waits for the disk. Of
        reads and of writes at most `max_waiting` wait. Raises ConfigError when the file cannot be used, or was written by a newer version.
        """
        db = cls(path, durable=durable, max_waiting=max_waiting)
        try:
            await asyncio.to_thread(db._prepare, module, scripts)
        except (sqlite3.Error, OSError) as error:
            raise ConfigError(f"{path} cannot be used as a database: {error}") from error
        db._writer.start(f"writes {path.name}")
        db._reader.start(f"reads {path.name}")
        return db

    async def write(self, work: Work[T]) -> T:
        """Returns what `work(connection)` returns, after it has been committed. If it raises, nothing of it stays.

        Cancelling does not take the work back. Raises Unavailable when the disk or the queue is full.
        """
        return await self._writer.ask(work)

    async def read(self, work: Work[T]) -> T:
        """Returns what `work(connection)` returns. It sees everything that was committed before. Raises Unavailable."""
        return await self._reader.ask(work)

    async def close(self) -> None:
        """Does what was asked for, then closes. May be called twice."""
        await end_all(partial(asyncio.to_thread, self._reader.stop), partial(asyncio.to_thread, self._writer.stop))

    def _connect(self, *, read_only: bool = False) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=BUSY_S, isolation_level=None, check_same_thread=False, cached_statements=1024)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {'FULL' if self._durable else 'NORMAL'}")
        connection.execute("PRAGMA cache_size = -65536")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute(f"PRAGMA query_only = {'ON' if read_only else 'OFF'}")
        return connection

    def _prepare(self, module: str, scripts: Sequence[tuple[str, str]]) -> None:
        make_private(self._path.parent)
        self._path.touch(mode=0o600)  # it may hold addresses; its neighbours get the same mode
        with closing(self._connect()) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS migrations (module TEXT, name TEXT, PRIMARY KEY (module, name)) WITHOUT ROWID")
            connection.execute("BEGIN IMMEDIATE")  # two processes at once: the second finds everything done
            done = {name for (name,) in connection.execute("SELECT name FROM migrations WHERE module = ?", (module,))}
            if unknown := done - {name for name, _ in scripts}:
                raise sqlite3.DatabaseError(f"a newer version of Segue has written it ({module}: {', '.join(sorted(unknown))})")
            for name, script in scripts:
                if name not in done:
                    for statement in filter(str.strip, script.split(";")):
                        connection.execute(statement)
                    connection.execute("INSERT INTO migrations VALUES (?, ?)", (module, name))
            connection.execute("COMMIT")


class _Worker:
    """A thread with a connection of its own, and the bounded queue of its work."""

    def __init__(
        self, loop: asyncio.AbstractEventLoop, connect: Callable[[], sqlite3.Connection], max_waiting: int, *, grouped: bool
    ) -> None:
        self._loop, self._connect, self._max_waiting, self._grouped = loop, connect, max_waiting, grouped
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def start(self, name: str) -> None:
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def stop(self) -> None:
        thread, self._thread = self._thread, None
        if thread is not None:
            self._jobs.put(None)
            thread.join()

    async def ask(self, work: Work[T]) -> T:
        if self._thread is None:
            raise Unavailable("the store is closed")
        if self._jobs.qsize() >= self._max_waiting:
            raise Unavailable(f"{self._max_waiting} requests wait for the store already")
        done: asyncio.Future[T] = self._loop.create_future()
        self._jobs.put(_Job(work, done))
        return await done

    def _run(self) -> None:
        with closing(self._connect()) as connection:
            while (job := self._jobs.get()) is not None:
                jobs = [job, *self._more()] if self._grouped else [job]
                outcomes = _together(connection, jobs) if self._grouped else [_outcome(connection, job.work) for job in jobs]
                try:
                    self._loop.call_soon_threadsafe(_settle, jobs, outcomes)
                except RuntimeError:  # the loop is gone, and with it those that waited
                    return

    def _more(self) -> list[_Job]:
        """Returns what else waits already, and can share the commit."""
        jobs: list[_Job] = []
        while len(jobs) < GROUP and not self._jobs.empty():
            job = self._jobs.get()
            if job is None:
                self._jobs.put(None)
                break
            jobs.append(job)
        return jobs


_Outcome = tuple[Any, BaseException | None]


def _together(connection: sqlite3.Connection, jobs: list[_Job]) -> list[_Outcome]:
    """Does all jobs in one transaction, each within a savepoint."""
    try:
        connection.execute("BEGIN IMMEDIATE")
        outcomes = [_guarded(connection, job.work) for job in jobs]
        connection.execute("COMMIT")
    except BaseException as error:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        return [(None, _translated(error))] * len(jobs)
    return outcomes


def _guarded(connection: sqlite3.Connection, work: Work[Any]) -> _Outcome:
    connection.execute("SAVEPOINT job")
    result, error = _outcome(connection, work)
    if error is not None:
        if not connection.in_transaction:  # a full disk ends the whole transaction, not the savepoint
            raise error
        connection.execute("ROLLBACK TO job")
    connection.execute("RELEASE job")
    return result, error


def _outcome(connection: sqlite3.Connection, work: Work[Any]) -> _Outcome:
    """Returns the result or the error of `work`, as a pair."""
    try:
        result = work(connection)
        # A cursor stays here. Let go of in another thread, it would reset its statement while this one is using it.
        return None if isinstance(result, sqlite3.Cursor) else result, None
    except BaseException as error:
        return None, _translated(error)


def _translated(error: BaseException) -> BaseException:
    """Returns Unavailable for disks that are locked, full or unreadable, which may pass. A wrong statement is a defect and stays one."""
    if isinstance(error, sqlite3.OperationalError) and error.sqlite_errorcode not in (None, sqlite3.SQLITE_ERROR):
        return Unavailable(f"SQLite: {error}")
    return error


def _settle(jobs: list[_Job], outcomes: list[_Outcome]) -> None:
    for job, (result, error) in zip(jobs, outcomes, strict=True):
        if job.done.done():
            continue
        if error is not None:
            job.done.set_exception(error)
        else:
            job.done.set_result(result)
