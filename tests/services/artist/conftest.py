"""Empty tables in Cassandra for each test of artist monitoring that wants them."""

from collections.abc import AsyncIterator

import pytest

from infra.runtime.cassandra.client import Cassandra
from segue.cassandra import Server
from tests.services.shared_keyspace import empty_keyspace


@pytest.fixture
async def cassandra_store(cassandra_server: Server) -> AsyncIterator[Cassandra]:
    """A store with the tables of artist monitoring, all of them empty."""
    async with empty_keyspace(cassandra_server, "follows", "artist") as store:
        yield store
