"""infra.runtime.outgoing.resolver: names of others lead to addresses that may be called."""

import contextlib
from collections.abc import AsyncIterator

import pytest

from infra.kernel.public_address import LOOPBACK, IPNetwork
from infra.runtime.outgoing.resolver import NotCallable, PublicResolver


@contextlib.asynccontextmanager
async def resolver(private: tuple[IPNetwork, ...] = ()) -> AsyncIterator[PublicResolver]:
    made = PublicResolver(private)
    try:
        yield made
    finally:
        await made.close()


@pytest.mark.parametrize("name", ["localhost", "127.1", "0x7f.1", "2130706433", "017700000001", "0"])
async def test_a_name_that_leads_to_this_machine_is_refused(name: str) -> None:
    """DPS-26: also an address that is written so that only the system's resolver reads it as one."""
    async with resolver() as public:
        with pytest.raises(NotCallable, match=f"{name} is not on the public internet"):
            await public.resolve(name, 80)


async def test_a_name_that_leads_to_a_listed_address_is_resolved() -> None:
    async with resolver(LOOPBACK) as lax:
        assert "127.0.0.1" in [found["host"] for found in await lax.resolve("localhost", 80)]
