"""Parties that take all of a door that they can get, at every HTTP door on aiohttp: nobody else notices (DPS-26)."""

import asyncio
import gzip
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from infra.runtime.http.web_limits import WebVisitorLimits
from tests.support.every_door import ON_AIOHTTP, opened, statuses
from tests.support.samples import user_token

SHORT = {"head_timeout_s": 0.2, "body_timeout_s": 0.2, "idle_timeout_s": 0.2, "reading_timeout_s": 0.2}
HEAD = b"POST /v1/nothing HTTP/1.1\r\nHost: x\r\n"
SLOW = {
    "silence": b"",
    "half a request line": b"GET /v1",
    "half a head": b"GET /v1/nothing HTTP/1.1\r\nHost: x\r\nX-A: b\r\n",
    "half a body": HEAD + b"Content-Length: 10\r\n\r\n12345",
    "half a chunk": HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n12",
    "a request, and then silence": b"GET /v1/nothing HTTP/1.1\r\nHost: x\r\n\r\n",
}
BOMB = gzip.compress(bytes(200_000_000), compresslevel=1)


@pytest.mark.parametrize("door", ON_AIOHTTP)
async def test_whoever_keeps_a_door_waiting_is_sent_away(door: str, tmp_path: Path) -> None:
    """DPS-26: no silence and no slowness lasts for ever."""
    async with opened(door, tmp_path, **SHORT) as there, AsyncExitStack() as stack:
        slow = {name: await stack.enter_async_context(there.connect()) for name in SLOW}
        for name, connection in slow.items():
            connection.send(SLOW[name])
        async with asyncio.timeout(20):
            ends = await asyncio.gather(*(connection.ended() for connection in slow.values()))
        assert {status for said in ends for status in statuses(said)} <= {404, 408}
        assert await there.is_well()


@pytest.mark.parametrize("door", ON_AIOHTTP)
async def test_one_address_takes_no_more_than_its_places(door: str, tmp_path: Path) -> None:
    """DPS-26: whoever opens more gets 503 with `Retry-After`; a door with all these silent connections answers others."""
    async with opened(door, tmp_path, visitors=WebVisitorLimits(per_address=20)) as there, AsyncExitStack() as stack:
        held = [await stack.enter_async_context(there.connect("127.0.0.2")) for _ in range(60)]
        async with asyncio.timeout(20):
            refused = await asyncio.gather(*(connection.answer() for connection in held[20:]))
        assert {(status, headers["retry-after"]) for status, headers, _ in refused} == {(503, "1")}
        assert await there.is_well()


@pytest.mark.parametrize("door", ON_AIOHTTP)
async def test_a_full_door_says_so(door: str, tmp_path: Path) -> None:
    async with opened(door, tmp_path, max_connections=16) as there, AsyncExitStack() as stack:
        for number in range(16):
            await stack.enter_async_context(there.connect(f"127.0.1.{number + 1}"))
        async with there.connect("127.0.2.1") as late:
            status, headers, body = await late.answer()
        assert (status, headers["retry-after"], b'"overloaded"' in body) == (503, "1", True)


@pytest.mark.parametrize("door", ON_AIOHTTP)
async def test_a_bomb_of_gzip_stays_small(door: str, tmp_path: Path) -> None:
    """DPS-26: 1 MB that would be 200 MB is refused as it came, without a token and with 415."""
    head = HEAD + b"Content-Encoding: gzip\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n"
    async with opened(door, tmp_path) as there:
        said = await there.say(head % len(BOMB) + BOMB)
        assert statuses(said) in ([415], [])  # the door may close before the client has read, while it still sends
        assert await there.is_well()


# Something that each door answers to somebody, and whose token it wants: a user's, or nobody's.
ASKED = {
    "admin": ("/healthz", ""),
    "notification": ("/v1/me/preferences", "user"),
    "playlist": ("/v1/playlists/ann/mix", "user"),
    "social": ("/v1/social/wall", "user"),
    "artist": ("/v1/artists/followed", "user"),
}


@pytest.mark.parametrize("door", ON_AIOHTTP)
async def test_whoever_asks_too_often_is_told_when_to_ask_again(door: str, tmp_path: Path) -> None:
    """DPS-26: 429 `rate-limited` for a user, and without a token for an address. Others are answered."""
    path, who = ASKED[door]

    def request(user: str) -> bytes:
        token = f"Authorization: Bearer {user_token(user)}\r\n" if who else ""
        # What was forwarded is not from this machine, which asks its own admin door as it likes.
        return f"GET {path} HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: 192.0.2.1\r\n{token}\r\n".encode()

    async with opened(door, tmp_path, user_requests_per_s=0.5, user_burst=2.0) as there, there.connect() as eager:
        answers = []
        for _ in range(3):
            eager.send(request("ann"))
            answers.append(await eager.answer())
        assert [status == 429 for status, _, _ in answers] == [False, False, True]
        assert int(answers[2][1]["retry-after"]) >= 1
        async with there.connect("127.0.0.2") as other:
            other.send(request("bob"))
            assert (await other.answer())[0] != 429
