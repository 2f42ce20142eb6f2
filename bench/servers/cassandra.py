"""A Cassandra server for one benchmark, where there is Java and Maven."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from infra.kernel.errors import ConfigError
from segue.cassandra import Server

from ..setting import BenchSetting

HEAP: Final = "1G"


class CassandraServer(NamedTuple):
    """Where CQL clients connect; 0 if there is none, and then why."""

    port: int
    missing: str = ""


@contextmanager
def cassandra(setting: BenchSetting) -> Iterator[CassandraServer]:
    """A server of its own while the block runs, on all cores: it is not what is measured, and it is the same for all."""
    folder = setting.scratch / "cassandra"
    server = Server(folder, heap=HEAP)
    try:
        port = server.start().port
    except ConfigError as trouble:
        yield CassandraServer(0, f"absent: {trouble}")
        return
    try:
        yield CassandraServer(port)
    finally:
        server.kill()
        shutil.rmtree(folder, ignore_errors=True)
