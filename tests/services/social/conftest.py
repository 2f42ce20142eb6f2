"""A social service for each test that wants one, and empty tables in Cassandra."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from infra.runtime.cassandra.client import Cassandra
from segue.cassandra import Server
from tests.services.artist.contract_intake import ContractIntake
from tests.services.shared_keyspace import empty_keyspace
from tests.services.social.house import House


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with ContractIntake() as intake:
        house = House(tmp_path, intake)
        async with house.point, house.playlist:
            for caller in (house.point, house.playlist):
                caller.dial("social", "sto/f1")
            yield house
            await house.role.close()


@pytest.fixture
async def cassandra_store(cassandra_server: Server) -> AsyncIterator[Cassandra]:
    """A store with the tables of social, all of them empty."""
    async with empty_keyspace(cassandra_server, "follows", "outbox", "social") as store:
        yield store
