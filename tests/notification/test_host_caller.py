"""Calls to strangers' hosts: what slow ones cannot take from the others, against real servers."""

import asyncio
import contextlib
from collections.abc import AsyncIterator

import pytest
from yarl import URL

from infra.kernel.errors import Unavailable
from infra.runtime.outgoing.options import OutgoingOptions
from infra.runtime.outgoing.resolver import NotCallable
from notification.host_caller import CallBounds, HostCaller
from tests.support.eventually import eventually
from tests.support.webhook_receiver import HANG, WebhookReceiver

SHORT_S = 0.5
LONG_S = 600.0


@contextlib.asynccontextmanager
async def calling(*, under_way: int, per_host: int = 100, timeout_s: float = LONG_S) -> AsyncIterator[HostCaller]:
    bounds = CallBounds(under_way, per_host, here=100, here_per_host=50, timeout_s=timeout_s)
    caller = HostCaller(bounds, OutgoingOptions(private=["127.0.0.0/8"]))
    try:
        yield caller
    finally:
        await caller.close()


async def post(caller: HostCaller, url: str) -> int:
    return (await caller.post(URL(url), b"{}", dict)).status


@contextlib.asynccontextmanager
async def silent_hosts(number: int) -> AsyncIterator[tuple[list[str], list[object]]]:
    """Gives addresses of so many hosts that take a request and never answer, and what has come to them."""
    came: list[object] = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        came.append(writer)
        await reader.read()
        writer.close()

    async with contextlib.AsyncExitStack() as stack:
        servers = [await stack.enter_async_context(await asyncio.start_server(hear, f"127.0.0.{2 + n}", 0)) for n in range(number)]
        ends = [server.sockets[0].getsockname() for server in servers]
        yield [f"http://{host}:{port}/" for host, port in ends], came


async def test_hosts_that_never_answer_take_half_of_the_places_however_many_they_are() -> None:
    """DPS-26: 32 users with a silent host each held all places for `timeout_s`."""
    async with WebhookReceiver() as known, silent_hosts(9) as (silent, came), calling(under_way=8) as caller:
        await post(caller, known.url)
        waiting = [asyncio.create_task(post(caller, each)) for each in silent]
        await eventually(lambda: len(came) == 4)
        async with asyncio.timeout(30):
            statuses = await asyncio.gather(*(post(caller, known.url) for _ in range(20)))
        assert {status // 100 for status in statuses} == {2}
        assert len(came) == 4
        for task in waiting:
            task.cancel()
        await asyncio.gather(*waiting, return_exceptions=True)


async def test_a_host_that_falls_silent_counts_as_one_that_never_answered() -> None:
    async with WebhookReceiver() as receiver, calling(under_way=2, timeout_s=SHORT_S) as caller:
        await post(caller, receiver.url)
        receiver.answers = [HANG] * 3
        with pytest.raises(Unavailable, match=f"127.0.0.1 did not answer within {SHORT_S:g} s"):
            await post(caller, receiver.url)
        both = [asyncio.create_task(post(caller, receiver.url)) for _ in range(2)]
        await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
        assert len(receiver.messages) == 3
        await asyncio.gather(*both, return_exceptions=True)


async def test_closing_waits_for_what_is_under_way_and_calls_nobody_any_more() -> None:
    async with WebhookReceiver() as receiver, calling(under_way=4) as caller:
        receiver.answers = [HANG] * 2
        calls = [asyncio.create_task(post(caller, receiver.url)) for _ in range(3)]
        await eventually(lambda: len(receiver.messages) == 2)
        closing = asyncio.create_task(caller.close())
        await asyncio.sleep(0)  # it has begun
        assert not closing.done()
        receiver.let_go()
        await closing
        ends = await asyncio.gather(*calls, return_exceptions=True)
        with pytest.raises(Unavailable, match="closing"):
            await post(caller, receiver.url)
    assert [str(end) for end in ends] == ["204", "204", "this node is closing"]


async def test_an_address_that_may_not_be_called_and_one_where_nobody_is_are_told_apart() -> None:
    async with WebhookReceiver() as receiver:
        gone = receiver.url
    async with calling(under_way=2) as caller:
        with pytest.raises(Unavailable, match="cannot be reached"):
            await post(caller, gone)
        with pytest.raises(NotCallable):
            await post(caller, "http://10.0.0.1/")
