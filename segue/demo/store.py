"""The store of the second act: a folder that goes with the demo, and in it SQLite files or a real Cassandra."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from infra.runtime.cassandra.options import CassandraOptions
from segue.cassandra import Server

from .show import Show

Kind = Literal["sqlite", "cassandra"]
NAMES: Final = {"sqlite": "SQLite", "cassandra": "Cassandra"}


@dataclass(frozen=True, slots=True, kw_only=True)
class DemoStore:
    """A store. `folder` is for files; `cassandra` says where the server is, if `kind` is "cassandra"."""

    kind: Kind
    folder: Path
    cassandra: CassandraOptions


@asynccontextmanager
async def temporary(kind: Kind, running: CassandraOptions | None, show: Show) -> AsyncIterator[DemoStore]:
    """Yields a store of `kind` for one run. `running` is a Cassandra to use; with None one is started, and ended with the run.

    Raises ConfigError when there is no Java, or the server's jars cannot be fetched.
    """
    with tempfile.TemporaryDirectory(prefix="segue-demo-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        if kind == "sqlite" or running is not None:
            yield DemoStore(kind=kind, folder=folder, cassandra=running or CassandraOptions())
            return
        async with _server(folder / "cassandra", show) as server:
            yield DemoStore(kind=kind, folder=folder, cassandra=CassandraOptions(port=server.port))


@asynccontextmanager
async def _server(folder: Path, show: Show) -> AsyncIterator[Server]:
    """Runs a server. Its start blocks a thread that cannot be cancelled, so cancelling waits for it, and no server is left behind."""
    server = Server(folder, port=0)
    starting = asyncio.create_task(asyncio.to_thread(server.start), name="Cassandra starts")
    try:
        with show.phase("store") as phase:
            await asyncio.shield(starting)
            phase.outcome = f"a Cassandra of our own at port {server.port}"
        yield server
    finally:
        await asyncio.gather(starting, return_exceptions=True)
        await asyncio.to_thread(server.kill)  # nobody wants its data any more
