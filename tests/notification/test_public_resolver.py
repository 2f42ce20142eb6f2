"""Which addresses strangers may make us call."""

import contextlib
from collections.abc import AsyncIterator
from ipaddress import ip_address

import aiohttp
import pytest

from infra.kernel.errors import Refused
from notification.public_resolver import PublicResolver, is_allowed
from tests.support.push_receiver import PushReceiver

PRIVATE = [
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "169.254.169.254",
    "172.16.0.1",
    "192.168.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "::",
    "fc00::1",
    "fe80::1",
    "ff0e::1",
    "::ffff:10.0.0.1",
    "2002:a00:1::",
    "64:ff9b::a00:1",
    "2001:0:a00:1::",
]
LOOPBACK = ["127.0.0.1", "127.8.8.8", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"]
PUBLIC = ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"]


@pytest.mark.parametrize("address", PRIVATE)
def test_a_private_address_is_never_called_in_whatever_dress(address: str) -> None:
    assert not is_allowed(ip_address(address), allow_loopback=False)
    assert not is_allowed(ip_address(address), allow_loopback=True)


@pytest.mark.parametrize("address", LOOPBACK)
def test_this_machine_is_called_only_where_that_is_allowed(address: str) -> None:
    assert not is_allowed(ip_address(address), allow_loopback=False)
    assert is_allowed(ip_address(address), allow_loopback=True)


@pytest.mark.parametrize("address", PUBLIC)
def test_a_public_address_is_called(address: str) -> None:
    assert is_allowed(ip_address(address), allow_loopback=False)


@contextlib.asynccontextmanager
async def resolver(*, allow_loopback: bool) -> AsyncIterator[PublicResolver]:
    made = PublicResolver(allow_loopback=allow_loopback)
    try:
        yield made
    finally:
        await made.close()


async def test_a_name_that_leads_to_this_machine_ends_a_request_before_it_connects() -> None:
    async with PushReceiver() as receiver, resolver(allow_loopback=False) as public:
        url = receiver.origin.replace("127.0.0.1", "localhost") + "/push/1"
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(resolver=public)) as session:
            with pytest.raises(Refused, match="localhost is not on the public internet"):
                await session.post(url)
        assert receiver.requests == 0


async def test_a_name_that_leads_to_this_machine_is_resolved_where_that_is_allowed() -> None:
    async with resolver(allow_loopback=True) as lax:
        assert "127.0.0.1" in [found["host"] for found in await lax.resolve("localhost", 80)]
