"""Nodes over both kinds of wires."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from infra.runtime.wire.memory import MemoryNetwork
from infra.runtime.wire.tcp import TcpNetwork
from infra.runtime.wire.wire import Network
from tests.support.parties import Make, Party


@pytest.fixture(params=[MemoryNetwork, TcpNetwork], ids=["memory", "tcp"])
def network(request: pytest.FixtureRequest) -> Network:
    network: Network = request.param()
    return network


@pytest.fixture
async def make(network: Network) -> AsyncIterator[Make]:
    """Makes parties that are closed in the end, when no task may be left."""
    parties: list[Party] = []

    def make(name: str, **options: Any) -> Party:
        parties.append(Party(network, name, **options))
        return parties[-1]

    yield make
    for party in parties:
        await party.node.close()
        await party.node.close()
        assert party.role.links == []
        assert not party.node.links
        for end in party.strangers:
            end.wire.abort()
            await end.until_lost()
    assert asyncio.all_tasks() == {asyncio.current_task()}
