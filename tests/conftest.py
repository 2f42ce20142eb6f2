"""What tests of several folders share: the real Cassandra server of the run.

Its start is no part of any test's time: it happens around the whole protocol of the first test that wants it, outside of
what pytest-timeout measures.
"""

from collections.abc import AsyncIterator, Generator

import pytest

from infra.runtime.cassandra import Cassandra
from segue.cassandra import Server
from tests.support.cassandra import SharedServer, fresh_keyspace

_SHARED = pytest.StashKey[SharedServer]()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Have the server running before a test that asks for it, by the fixture or by a parameter "cassandra" of one of its own."""
    chosen = getattr(item, "callspec", None)
    if "cassandra_server" in getattr(item, "fixturenames", ()) or (chosen and "cassandra" in chosen.params.values()):
        stash = item.config.stash
        if _SHARED not in stash:
            stash[_SHARED] = SharedServer()
        stash[_SHARED].ensure()
    return (yield)


def pytest_unconfigure(config: pytest.Config) -> None:
    """End it with the run."""
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
