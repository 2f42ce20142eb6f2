"""A Cassandra server for one benchmark, where Java and Maven are."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple

from infra.kernel.errors import ConfigError
from segue.cassandra import Server

from ..setting import BenchSetting

HEAP: Final = "1G"


class CassandraServer(NamedTuple):
    """A Cassandra server: the port that CQL clients connect to. If there is none, `port` is 0 and `missing` says why."""

    port: int
    missing: str = ""


@contextmanager
def cassandra(setting: BenchSetting) -> Iterator[CassandraServer]:
    """Yields a Cassandra server while the block runs. It runs on all cores: it is not what is measured, and it is the same for all."""
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
