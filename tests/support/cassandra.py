"""One real Cassandra server for a whole run, started when the first test asks for it (see tests/conftest.py).

Where Java or Maven is missing its tests are skipped, and fail if CI says that nothing may be skipped.
"""

import os
import subprocess
import sys
import tempfile
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from infra.kernel.errors import ConfigError
from infra.runtime.cassandra.client import Cassandra, CassandraOptions
from segue.cassandra import Server

HEAP: Final = "512M"
ROOT: Final = Path(__file__).resolve().parents[2]
# It reads until the run has ended, in whatever way: a server is nobody's child, and a killed run could not end it.
_UNDERTAKER: Final = """
import shutil, sys
from pathlib import Path
folder = Path(sys.argv[1])
sys.stdin.read()
from segue.cassandra import Server
Server(folder).kill()
shutil.rmtree(folder, ignore_errors=True)
"""


class SharedServer:
    """The server of this run. `sync` is batch: what it acknowledged survives `kill`."""

    def __init__(self) -> None:
        folder = tempfile.mkdtemp(prefix="segue-cassandra-")
        self._trouble: Exception | None = None
        self._server = Server(Path(folder), sync="batch", heap=HEAP)
        command = [sys.executable, "-c", _UNDERTAKER, folder]
        self._undertaker = subprocess.Popen(command, stdin=subprocess.PIPE, cwd=ROOT, start_new_session=True)

    def ensure(self) -> None:
        """Starts the server, also again after a test that ended it. `get` tells what went wrong."""
        if self._trouble is None and not (self._server.settings and self._server.answers()):
            try:
                self._server.start()
            except Exception as trouble:
                self._trouble = trouble

    def get(self) -> Server:
        """Returns the running server; skips or fails the test where there is none."""
        if isinstance(self._trouble, ConfigError) and os.environ.get("CI") != "true":
            pytest.skip(no_cassandra("its tests are skipped", self._trouble))
        if self._trouble is not None:
            pytest.fail(f"no Cassandra: {self._trouble}")
        return self._server

    def close(self) -> None:
        """Ends the server and removes its data."""
        self._undertaker.communicate()


def no_cassandra(so: str, trouble: Exception) -> str:
    """Returns why there is no Cassandra, what follows (`so`), and what gets one."""
    needs = "it needs Java 17 and Maven (Debian: apt install openjdk-17-jre-headless maven) and, once, a Maven repository to fetch it from"
    return f"NO CASSANDRA, {so}; {needs}: {trouble}"


@asynccontextmanager
async def fresh_keyspace(server: Server, **options: float) -> AsyncIterator[Cassandra]:
    """Yields a store on a keyspace of its own, which is dropped at the end. `options` are some of `CassandraOptions`."""
    keyspace = f"test_{uuid.uuid4().hex[:12]}"
    store = await Cassandra.open(CassandraOptions(port=server.port, keyspace=keyspace, **options))  # type: ignore[arg-type]
    try:
        yield store
    finally:
        await store.change_schema(f"DROP KEYSPACE IF EXISTS {keyspace}")
        await store.close()
