"""Clients that say nothing, vanish, or do not read: they go with their code, and nobody else notices."""

import asyncio
import json
import socket
import struct
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from accesspoint.timeouts import GOODBYE_S
from infra.kernel.shares import SHARE
from infra.kernel.websocket_reader import FRAME_COST
from infra.runtime.door_opener import DoorOpener
from tests.support.bystander import Watched
from tests.support.client_frames import client_frame
from tests.support.raw_client import RawClient
from tests.support.tls_files import TestAuthority

SMALL = {"send_buffer_bytes": 4096, "write_buffer_bytes": 4096, "outbox_bytes": 64 << 10, "max_messages_per_s": 1_000_000}
SIGNS_OF_LIFE = {
    "a pong": [client_frame(10, b"")] * 3,
    "a message": [client_frame(1, b'{"op":"ping"}')] * 3,
    "a message in pieces": [b"\x81", b"\x85mask", b"xx"],
}
PLAYLIST = "hm://playlist/user/dan/playlist/mix/"


@pytest.fixture(params=["plain", "tls"])
def opener(request: pytest.FixtureRequest, tmp_path: Path) -> DoorOpener:
    """Returns what opens the doors: all of this holds with TLS, too (DPS-23)."""
    return DoorOpener(TestAuthority(tmp_path).options() if request.param == "tls" else None)


@pytest.fixture
async def place(opener: DoorOpener) -> AsyncIterator[Watched]:
    """Yields a site with a bystander."""
    async with Watched(opener=opener) as place:
        yield place


@pytest.fixture
async def cramped(opener: DoorOpener) -> AsyncIterator[Watched]:
    """Yields a site whose access point has small buffers."""
    async with Watched(point=SMALL, opener=opener) as place:
        yield place


async def publish(place: Watched, number: int) -> None:
    """Publishes a playlist event of a kilobyte: it is never conflated."""
    status, answer = await place.cluster.post(
        {"topic": PLAYLIST, "kind": "add", "payload": {"n": number, "x": "x" * 1000}}, service="playlist"
    )
    assert (status, answer["accepted"]) == (202, 1)


async def stopped(place: Watched, client: RawClient) -> int:
    """Subscribes `client`, which reads no more from then on, and publishes until that shows; returns how many events it took."""
    await client.hello(place.token("eve"))
    await client.say({"op": "subscribe", "topics": [PLAYLIST], "wait": "all"})
    await client.next("subscribed")
    number = 0
    while not place.point.core.slow.paused:
        await publish(place, number)
        number += 1
    return number


async def test_one_that_never_says_hello_is_closed_and_those_who_did_are_not(place: Watched) -> None:
    before_s = place.point.now()
    async with place.client() as mute, place.client() as welcomed:
        await welcomed.hello(place.token("eve"))
        after_s = place.point.now()
        place.at(before_s + 9.5)  # clocks of loops are as coarse as their turns
        assert len(place.point.core.sessions) == 3
        place.at(after_s + 10.5)
        closed, errors = await mute.end()
        assert (closed, [error["code"] for error in errors]) == (4002, ["hello-timeout"])
        await welcomed.say({"op": "ping"})
        await welcomed.next("pong")


async def test_one_that_does_not_even_ask_for_a_websocket_is_told_over_http(place: Watched) -> None:
    host, _, port = place.point.address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port), ssl=place.cluster.tls)
    writer.write(b"GET /v1/connect HTTP/1.1\r\n")
    await place.cluster.until(lambda: place.point._http.connections == 1)
    await place.undisturbed()
    place.point._http.sweep(place.point.now() + 60)
    async with asyncio.timeout(30):
        answer = await reader.read()
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert json.loads(answer.partition(b"\r\n\r\n")[2])["code"] == "hello-timeout"
    writer.close()
    await writer.wait_closed()


async def test_a_half_open_connection_is_asked_for_a_sign_of_life_and_ended_without_one(place: Watched) -> None:
    """The client has vanished without FIN: its socket stays silent."""
    async with place.client() as gone:
        await gone.hello(place.token("eve"))
        place.later(31)
        await place.undisturbed()
        await place.bystander.fence()
        place.later(45)
        assert place.point.core.disconnects == {"heartbeat-timeout": 1}
        closed, errors = await gone.end()
        assert (closed, [error["code"] for error in errors], gone.pings) == (4003, ["heartbeat-timeout"], 1)


async def test_what_is_left_of_a_half_open_connection_is_cut_some_seconds_after_the_goodbye(place: Watched) -> None:
    async with place.client() as gone:
        await gone.say({"op": "subscribe", "topics": []})
        await place.cluster.until(lambda: bool(place.point.core.disconnects))
        said_s = place.now_s()
        (connection,) = place.point.timeouts.leaving
        place.at(said_s + GOODBYE_S - 1)
        assert not connection._transport.is_closing()
        place.at(said_s + GOODBYE_S)
        await place.cluster.until(lambda: not place.point.timeouts.leaving)


@pytest.mark.parametrize("sign", SIGNS_OF_LIFE)
async def test_any_sign_of_life_counts(sign: str, place: Watched) -> None:
    async with place.client() as client:
        await client.hello(place.token("eve"))
        session = place.session("eve")
        for data in SIGNS_OF_LIFE[sign]:
            place.later(40)
            await client.send(data)
            await place.bystander.fence()
            await place.cluster.until(lambda: place.point.now() - session.heard_s < 39)
        assert session in place.point.core.sessions


async def test_one_that_is_reset_leaves_its_topics_and_no_others(place: Watched) -> None:
    """SB-10."""
    hub = place.point.core.hub
    async with place.client() as client:
        await client.hello(place.token("eve"))
        await client.say({"op": "subscribe", "topics": ["hm://presence/user/dan/", "hm://presence/user/fay/"]})
        await client.next("subscribed")
        assert hub.subscriptions == 3
        client._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    await place.cluster.until(lambda: hub.subscriptions == 1)
    assert place.point.core.disconnects == {"lost": 1}


async def test_one_that_never_reads_is_closed_when_too_much_waits_for_it(cramped: Watched) -> None:
    """Design 5.3: for playlist events nothing is dropped before that."""
    point = cramped.point
    async with cramped.client(receive_buffer_bytes=4096) as client:
        number = await stopped(cramped, client)
        for n in range(number, number + 200):
            await publish(cramped, n)
            (slow,) = point.timeouts.slow or [None]
            assert slow is None or slow.outbox.size_bytes < (64 << 10) + 2000
        await cramped.undisturbed()
        cramped.later(0)
        assert point.core.disconnects == {"slow-consumer": 1}
        assert point.counters()["accesspoint_evictions_total"] == 1
        assert point.counters()["accesspoint_outbox_bytes"] == point.counters()["accesspoint_paused_connections"] == 0
        # It reads at last: what was on its way comes in order, then the reason.
        closed, errors = await client.end()
        assert (closed, [error["code"] for error in errors]) == (4001, ["slow-consumer"])
        assert "65536 bytes" in errors[0]["reason"]
        events = [message for message in client.messages if message["op"] == "event"]
        assert [event["payload"]["n"] for event in events] == list(range(len(events)))


async def test_one_that_never_reads_is_closed_when_that_has_taken_too_long(cramped: Watched) -> None:
    async with cramped.client(receive_buffer_bytes=4096) as client:
        await stopped(cramped, client)
        since_s = cramped.session("eve").outbox.since_s
        cramped.at(since_s + 9.9)
        assert cramped.point.core.slow.evictions == 0
        cramped.at(since_s + 10.1)
        assert cramped.point.core.slow.evictions == 1
        await cramped.undisturbed()
        closed, errors = await client.end()
        assert (closed, errors[0]["reason"]) == (4001, "events have waited for this client for 10 s")


async def test_one_that_asks_and_never_reads_the_answers_gets_no_more_until_it_does(cramped: Watched) -> None:
    """Its requests wait in its own socket; none is lost, and each has its answer."""
    point, sent = cramped.point, 0
    async with cramped.client(receive_buffer_bytes=4096) as client:
        await client.hello(cramped.token("eve"))
        transport = cramped.session("eve")._transport
        while not point.core.slow.paused:
            await client.send(b"".join(client_frame(1, b'{"op":"unsubscribe","topics":[],"id":%d}' % n) for n in range(sent, sent + 50)))
            sent += 50
            await cramped.cluster.until(lambda: point.core.slow.paused or point.core.said["unsubscribe"] == sent)  # noqa: B023
        await cramped.undisturbed()
        share_bytes = SHARE // FRAME_COST * 50  # the answers of one turn are one write
        assert (transport.get_write_buffer_size() < 4096 + share_bytes, transport.is_reading()) == (True, False)
        await client.until(lambda: len(client.messages) == sent + 1)
        assert [message["id"] for message in client.messages[1:]] == list(range(sent))
        assert point.core.slow.paused == 0
