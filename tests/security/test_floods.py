"""One who floods a site, on real sockets, with a bystander beside it who must notice nothing (see `Watched`). Counts, no times."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import msgspec
import pytest

from broker.options import BrokerOptions
from infra.kernel.places import VisitorLimits
from infra.kernel.shares import SHARE
from infra.kernel.websocket_reader import FRAME_COST
from segue.cluster.role_spec import RoleOptions
from tests.support.bystander import Watched
from tests.support.client_frames import client_frame
from tests.support.raw_client import RawClient

PING, MESSAGE = client_frame(9, b""), client_frame(1, b'{"op":"ping"}')
TOPICS = [f"hm://presence/user/u{n}/" for n in range(10_000)]


@asynccontextmanager
async def flooding(client: RawClient, said: bytes) -> AsyncIterator[None]:
    """Has `client` send `said` for ever, as fast as its socket takes it."""

    async def send() -> None:
        while True:
            await client.send(said)
            await asyncio.sleep(0)

    task = asyncio.create_task(send())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError, ConnectionError):
            await task


@pytest.mark.parametrize("is_stranger", [True, False])
async def test_one_that_sends_pings_without_pause_is_slowed_down_and_then_closed(is_stranger: bool) -> None:
    """DPS-26."""
    async with Watched(point={"flooding_s": 0.5}) as place, place.client() as client:
        if not is_stranger:
            await client.hello(place.token("eve"))
        async with flooding(client, PING * 10_000):
            for _ in range(10):
                await place.undisturbed()
            await place.cluster.until(lambda: place.point.core.disconnects.total() == 1)
        assert place.point.counters()["accesspoint_disconnects_total"] == {"flooding": 1}


async def test_one_that_sends_messages_without_pause_has_as_many_answered_as_the_limit_says() -> None:
    """DPS-26."""
    async with Watched(point={"flooding_s": 0.5, "max_messages_per_s": 100}) as place, place.client() as client:
        await client.hello(place.token("eve"))
        begun_s = place.now_s()
        async with flooding(client, MESSAGE * 1000):
            for _ in range(10):
                await place.undisturbed()
            await place.cluster.until(lambda: place.point.core.disconnects == {"flooding": 1})
        most = 100 * (2 + place.now_s() - begun_s) + 2 * SHARE // FRAME_COST
        assert place.point.core.said["ping"] <= most
        assert place.point.core.pace.rests >= 1


async def test_one_with_ten_thousand_topics_leaves_them_and_comes_again_without_end() -> None:
    """DPS-26: within its limits one client made everybody wait for seconds."""
    async with Watched(point={"max_topics_per_s": 1_000_000, "max_bytes_per_s": 1 << 30}) as place, place.client() as client:
        await client.hello(place.token("eve"))
        for _ in range(3):
            for op, answer in (("subscribe", "subscribed"), ("unsubscribe", "unsubscribed")):
                for start in range(0, len(TOPICS), 2000):
                    await client.say({"op": op, "topics": TOPICS[start : start + 2000]})
                await place.undisturbed()
                for _ in range(5):
                    await client.next(answer)
        session = place.session("eve")
        assert place.point.core.hub.count(session) == 0
        assert len(session.handles) <= 2 * 16


async def test_one_user_has_fifty_connections_and_not_five_hundred() -> None:
    """DPS-26."""
    async with Watched() as place, AsyncExitStack() as stack:
        refused = 0
        for _ in range(60):
            client = await stack.enter_async_context(place.client())
            await client.say({"op": "hello", "token": place.token("eve")})
            await client.until(lambda: bool(client.messages) or client.ended)  # noqa: B023
            refused += client.messages[0].get("code") == "overloaded"
        assert refused == 10
        assert place.point.counters()["accesspoint_refused_total"] == {"overloaded": 10}
        async with place.client() as other:
            await other.hello(place.token("dan"))


async def test_strangers_who_say_nothing_keep_nobody_out() -> None:
    """DPS-26."""
    async with Watched(point={"max_unfinished": 20}) as place, AsyncExitStack() as stack:
        for _ in range(50):
            await stack.enter_async_context(place.client())
        assert len(place.point.core.arrivals.strangers) == 20
        async with place.client() as guest:
            await guest.hello(place.token("dan"))
        assert place.point.counters()["accesspoint_refused_total"] == {"overloaded": 31}


async def raw(address: str, said: bytes, host: str) -> bytes:
    """Returns what is answered to `said`, which comes from `host`."""
    where, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(where, int(port), local_addr=(host, 0))
    try:
        writer.write(said)
        return await reader.readuntil(b"\r\n\r\n")
    finally:
        writer.close()


HANDSHAKE = (
    b"GET /v1/connect HTTP/1.1\r\nHost: music.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: segue.v1\r\n"
)


async def test_idle_connections_of_one_address_shut_nobody_else_out() -> None:
    """DPS-26: 1,100 idle connections at one door, and no client could connect."""
    limits = VisitorLimits(per_address=30, proxies=["127.0.0.1"])
    async with Watched(point={"visitors": limits}) as place, AsyncExitStack() as stack:
        host, _, port = place.point.address.rpartition(":")
        for _ in range(40):
            _, writer = await asyncio.open_connection(host, int(port), local_addr=("127.0.0.2", 0))
            stack.callback(writer.close)
        answer = await raw(place.point.address, HANDSHAKE + b"\r\n", "127.0.0.2")
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"Retry-After: 1" in answer
        assert (await raw(place.point.address, HANDSHAKE + b"\r\n", "127.0.0.3")).startswith(b"HTTP/1.1 101 ")
        await place.undisturbed()


async def test_handshakes_without_pause_are_refused_before_they_are_read_and_others_come_in() -> None:
    """DPS-26."""
    limits = VisitorLimits(new_per_address_per_s=1.0, proxies=["127.0.0.1"])
    async with Watched(point={"visitors": limits}) as place:
        answers = [await raw(place.point.address, HANDSHAKE + b"\r\n", "127.0.0.2") for _ in range(100)]
        refused = [answer for answer in answers if answer.startswith(b"HTTP/1.1 503 ")]
        assert len(refused) >= 90
        assert place.point.counters()["accesspoint_refused_total"]["overloaded"] == len(refused)
        async with place.client() as guest:
            await guest.hello(place.token("dan"))


@pytest.mark.parametrize(
    ("origin", "status"),
    [("https://evil.example", 403), ("https://music.example", 101), ("http://localhost:5173", 101), ("https://app.example.com", 101)],
)
async def test_pages_of_strangers_open_no_websocket(origin: str, status: int) -> None:
    """DPS-26."""
    async with Watched(point={"allowed_origins": ["https://app.example.com"]}) as place:
        answer = await raw(place.point.address, HANDSHAKE + f"Origin: {origin}\r\n\r\n".encode(), "127.0.0.1")
        assert answer.startswith(f"HTTP/1.1 {status} ".encode())
        assert place.point.counters()["accesspoint_refused_total"] == ({"origin-refused": 1} if status == 403 else {})


def brokers(**fields: Any) -> Any:
    """Returns a change of a cluster's options: brokers with these fields."""

    def change(options: RoleOptions) -> RoleOptions:
        return msgspec.structs.replace(options, **fields) if isinstance(options, BrokerOptions) else options

    return change


async def test_a_service_that_publishes_without_pause_is_told_so_by_line_and_as_429() -> None:
    """DPS-26."""
    event = b'{"topic":"hm://presence/user/u1/","kind":"play","payload":{}}'
    async with Watched(change=brokers(max_topic_events_per_s=5.0)) as place:
        status, answer = await place.post(b"\n".join([event] * 100), "application/x-ndjson")
        assert (status, answer["accepted"], {each["code"] for each in answer["rejected"]}) == (202, 10, {"rate-limited"})
        status, answer = await place.post(event)
        assert (status, answer["code"]) == (429, "rate-limited")
        assert place.door.counters()["broker_events_rejected_total"] == {"rate-limited": 91}
