"""What tests of several folders share: the real Cassandra server and the Spark session of the run.

Their start is no part of any test's time: it happens around the whole protocol of the first test that wants one, outside of
what pytest-timeout measures.
"""

import gc
import warnings
from collections.abc import AsyncIterator, Generator
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest

from analytics.session import session
from infra.runtime.cassandra import Cassandra
from segue.cassandra import Server
from tests.support.cassandra import SharedServer, fresh_keyspace

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_SHARED = pytest.StashKey[SharedServer]()
_SPARK = pytest.StashKey["SparkSession"]()
_ENDS = pytest.StashKey[ExitStack]()


def pytest_itemcollected(item: pytest.Item) -> None:
    """PySpark leaves the sockets that rows come through to the garbage collector (`pyspark.rdd._load_from_socket`)."""
    if "spark" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"))


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Have the server running before a test that asks for it, by the fixture or by a parameter "cassandra" of one of its own."""
    if "spark" in getattr(item, "fixturenames", ()) and _SPARK not in item.config.stash:
        item.config.stash[_ENDS] = ExitStack()
        item.config.stash[_SPARK] = item.config.stash[_ENDS].enter_context(session("tests", memory_gb=1))
    chosen = getattr(item, "callspec", None)
    if "cassandra_server" in getattr(item, "fixturenames", ()) or (chosen and "cassandra" in filter(is_text, chosen.params.values())):
        stash = item.config.stash
        if _SHARED not in stash:
            stash[_SHARED] = SharedServer()
        stash[_SHARED].ensure()
    return (yield)


def is_text(value: object) -> bool:
    """Other parameters may be arrays, which do not compare to a truth."""
    return isinstance(value, str)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End them with the run."""
    if _ENDS in config.stash:
        with warnings.catch_warnings(action="ignore", category=ResourceWarning):
            config.stash[_ENDS].close()
            gc.collect()
    if _SHARED in config.stash:
        config.stash[_SHARED].close()


@pytest.fixture
def cassandra_server(request: pytest.FixtureRequest) -> Server:
    """The server of the run. A test may stop and kill it: for the next one it is started again."""
    return request.config.stash[_SHARED].get()


@pytest.fixture
async def cassandra_store(cassandra_server: Server) -> AsyncIterator[Cassandra]:
    """A store on a fresh keyspace of the server of the run."""
    async with fresh_keyspace(cassandra_server) as store:
        yield store


@pytest.fixture
def spark(request: pytest.FixtureRequest) -> "SparkSession":
    """The session of the run; a test may not stop it."""
    return request.config.stash[_SPARK]
