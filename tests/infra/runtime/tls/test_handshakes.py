"""TLS handshakes at a door on real sockets, on asyncio's own loop and on uvloop: who gets in, and what the others are told."""

import asyncio
import os
import socket
import ssl
import struct
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, cast

import pytest

from infra.runtime.acceptor import Acceptor
from infra.runtime.tls.contexts import ServerTls, TlsOptions, client_context
from infra.runtime.tls.handshakes import TlsHandshakes
from infra.runtime.turned_away import MAX_READING
from segue.demo.until import until
from tests.support.both_loops import on_both_loops
from tests.support.echo import Echo
from tests.support.recording_log import RecordingLog
from tests.support.tls_files import TestAuthority
from tests.support.wide_open import wide_open

DEADLINE_S = 20.0
HELLO_BEGUN = b"\x16\x03\x01\x02\x00\x01\x00"


class Deaf(asyncio.Protocol):
    """A protocol that reads nothing at first, and counts the bytes that it has `taken`."""

    def __init__(self) -> None:
        self.taken = 0
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.pause_reading()

    def data_received(self, data: bytes) -> None:
        self.taken += len(data)


class Door:
    """A listening socket with TLS on `port`, and what became of its handshakes."""

    def __init__(self, authority: TestAuthority, options: TlsOptions, factory: Callable[[], asyncio.Protocol]) -> None:
        self.outcomes: Counter[str] = Counter()
        self.log = RecordingLog()
        self.tls = ServerTls(options)
        self.ca_file = authority.ca_file
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.socket.getsockname()[1]
        handshakes = TlsHandshakes(self.tls, options, self.outcomes, self.log)
        self.acceptor = Acceptor([self.socket], wide_open(factory), backlog=16, failures=Counter(), log=self.log, handshakes=handshakes)

    async def plainly(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("127.0.0.1", self.port)

    async def securely(self, context: ssl.SSLContext | None = None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("localhost", self.port, ssl=context or client_context(self.ca_file))

    async def counted(self, outcome: str, times: int = 1) -> None:
        assert await until(lambda: self.outcomes[outcome] >= times, DEADLINE_S)


@asynccontextmanager
async def opened(folder: Path, factory: Callable[[], asyncio.Protocol] = Echo, **options: Any) -> AsyncIterator[Door]:
    authority = TestAuthority(folder)
    door = Door(authority, authority.options(**options), factory)
    try:
        yield door
    finally:
        door.acceptor.close()


async def closed(writer: asyncio.StreamWriter) -> None:
    writer.transport.abort()
    await asyncio.sleep(0)


async def echoes(door: Door) -> None:
    """Checks that somebody who does as they should is served."""
    reader, writer = await door.securely()
    writer.write(b"hello")
    assert await reader.readexactly(5) == b"hello"
    writer.close()
    await writer.wait_closed()


@on_both_loops
async def test_a_client_is_served_over_tls(tmp_path: Path) -> None:
    """DPS-23."""
    async with opened(tmp_path) as door:
        await echoes(door)
        assert door.outcomes == {"done": 1}


@on_both_loops
async def test_very_many_who_speak_plain_http_are_not_kept_for_their_answer(tmp_path: Path) -> None:
    """DPS-26: those who have no place at the door take no more of the process than those who were turned away."""
    loop = asyncio.get_running_loop()
    async with opened(tmp_path) as door:
        with ExitStack() as callers:
            before = len(os.listdir("/proc/self/fd"))
            many = [callers.enter_context(socket.socket()) for _ in range(MAX_READING + 50)]
            for caller in many:
                caller.setblocking(False)
                await loop.sock_connect(caller, ("127.0.0.1", door.port))
                await loop.sock_sendall(caller, b"GET / HTTP/1.1\r\n\r\n")
            for caller in many:
                assert await loop.sock_recv(caller, 12) == b"HTTP/1.1 400"
            await door.counted("plain", len(many))
            assert len(os.listdir("/proc/self/fd")) - before - len(many) <= MAX_READING


@on_both_loops
async def test_plain_http_is_told_why_the_door_does_not_open(tmp_path: Path) -> None:
    """DPS-23."""
    async with opened(tmp_path) as door:
        reader, writer = await door.plainly()
        writer.write(b"POST /v1/events HTTP/1.1\r\nHost: x\r\n\r\n" + b"x" * 100_000)
        head, _, body = (await reader.read()).partition(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 400 ")
        assert b"https:// or wss://" in body
        await door.counted("plain")
        await closed(writer)
        await echoes(door)
        assert "POST" not in str(door.log.lines)


@pytest.mark.parametrize(
    ("sent", "outcome"),
    [
        (b"\x00\x01\x02", "garbled"),
        (b"ping", "garbled"),
        (b"\x16\x03\x01\x00\x05hello", "garbled"),
        (b"", "closed"),
        (HELLO_BEGUN, "closed"),
    ],
)
@on_both_loops
async def test_what_is_no_tls_ends_quietly(sent: bytes, outcome: str, tmp_path: Path) -> None:
    """DPS-23."""
    async with opened(tmp_path) as door:
        _, writer = await door.plainly()
        writer.write(sent)
        if outcome == "closed":
            writer.write_eof()
        await door.counted(outcome)
        await closed(writer)
        await echoes(door)
        assert [line for line in door.log.lines if line[0] != "debug"] == []


@on_both_loops
async def test_a_client_that_resets_within_its_handshake_is_counted(tmp_path: Path) -> None:
    async with opened(tmp_path) as door:
        with socket.create_connection(("127.0.0.1", door.port)) as client:
            client.sendall(HELLO_BEGUN)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await door.counted("closed")
        await echoes(door)


@pytest.mark.parametrize("sent", [b"", b"\x16", HELLO_BEGUN])
@on_both_loops
async def test_a_handshake_that_never_ends_is_ended(sent: bytes, tmp_path: Path) -> None:
    """DPS-23."""
    async with opened(tmp_path, handshake_s=0.1) as door:
        reader, writer = await door.plainly()
        writer.write(sent)
        assert await reader.read() == b""
        await door.counted("timeout")
        await closed(writer)


@on_both_loops
async def test_only_so_many_handshakes_may_be_under_way(tmp_path: Path) -> None:
    """DPS-26."""
    async with opened(tmp_path, max_handshakes=3) as door:
        silent = [await door.plainly() for _ in range(3)]
        reader, writer = await door.plainly()
        with suppress(ConnectionError):
            assert await reader.read() == b""
        await door.counted("busy")
        await closed(writer)
        for _, other in silent:
            await closed(other)
        await door.counted("closed", 3)
        await echoes(door)


@on_both_loops
async def test_versions_before_1_2_are_refused(tmp_path: Path) -> None:
    """DPS-23."""
    async with opened(tmp_path) as door:
        old = client_context(door.ca_file)
        with pytest.warns(DeprecationWarning, match="TLSv1_1"):
            old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
        old.set_ciphers("ALL:@SECLEVEL=0")
        with pytest.raises(ssl.SSLError, match="PROTOCOL_VERSION"):
            await door.securely(old)
        await door.counted("version")


@on_both_loops
async def test_a_client_that_does_not_believe_us_leaves(tmp_path: Path) -> None:
    """DPS-23."""
    async with opened(tmp_path) as door:
        with pytest.raises(ssl.SSLCertVerificationError):
            await door.securely(client_context())
        assert await until(lambda: bool(door.outcomes), DEADLINE_S)
        assert door.outcomes.keys() <= {"closed", "distrusted"}


@on_both_loops
async def test_a_connection_that_is_not_read_holds_little_and_goes_on_where_it_was(tmp_path: Path) -> None:
    """DPS-26."""
    made: list[Deaf] = []

    def deaf() -> Deaf:
        made.append(Deaf())
        return made[-1]

    async with opened(tmp_path, deaf) as door:
        _, writer = await door.securely()
        await door.counted("done")
        (there,) = made
        transport: Any = there.transport
        sent = 4 << 20
        writer.write(b"x" * sent)
        assert await until(lambda: writer.transport.get_write_buffer_size() < sent, DEADLINE_S)
        assert there.taken == 0
        transport.resume_reading()
        assert await until(lambda: there.taken == sent, DEADLINE_S)
        await closed(writer)


@on_both_loops
async def test_a_goodbye_gets_through_to_a_client_that_goes_on_sending(tmp_path: Path) -> None:
    """A full close would reset the client, which could lose the goodbye; TLS has no half close."""
    async with opened(tmp_path) as door:
        reader, writer = await door.securely()
        writer.write(b"bye")
        for _ in range(50):
            writer.write(b"x" * 10_000)
            await asyncio.sleep(0)
        assert (await reader.readexactly(7)) == b"goodbye"
        await closed(writer)
