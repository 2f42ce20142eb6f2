"""The accepting side of sockets, on asyncio's own loop and on uvloop, in plain and with TLS: how many at once, and what it survives."""

import asyncio
import errno
import socket
import ssl
import struct
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest

from infra.kernel.places import HeldPlace
from infra.runtime.acceptor import ACCEPTED_AT_ONCE, Acceptor, bound_sockets
from infra.runtime.address import Address
from infra.runtime.entrance import Entrance
from infra.runtime.tls.contexts import ServerTls, client_context
from infra.runtime.tls.handshakes import TlsHandshakes
from segue.demo.until import until
from tests.support.both_loops import on_both_loops
from tests.support.echo import Echo
from tests.support.recording_log import RecordingLog
from tests.support.tls_files import TestAuthority
from tests.support.wide_open import wide_open

DEADLINE_S = 20.0
in_plain_and_with_tls = pytest.mark.parametrize("secure", [False, True], ids=["plain", "tls"])


class Listening:
    """An acceptor on `port` at an `entrance`, in plain, or with TLS whose certificate is in `folder`.

    `waiting`: its socket, if there are clients already.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        entrance: Entrance | None = None,
        waiting: socket.socket | None = None,
    ) -> None:
        self.log, self.failures, self.outcomes = RecordingLog(), Counter[str](), Counter[str]()
        self.entrance = entrance or wide_open(Echo)
        self._context, handshakes = None, None
        if folder is not None:
            authority = TestAuthority(folder)
            options = authority.options()
            self._context = client_context(authority.ca_file)
            handshakes = TlsHandshakes(ServerTls(options), options, self.outcomes, self.log)
        sock = waiting or socket.create_server(("127.0.0.1", 0))
        self.port: int = sock.getsockname()[1]
        self.acceptor = Acceptor([sock], self.entrance, backlog=256, failures=self.failures, log=self.log, handshakes=handshakes)

    async def connected(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        return await asyncio.open_connection("localhost", self.port, family=socket.AF_INET, ssl=self._context)

    async def echoes(self) -> None:
        """Checks that somebody who does as they should is served."""
        reader, writer = await self.connected()
        writer.write(b"hello")
        assert await reader.readexactly(5) == b"hello"
        writer.close()
        with suppress(ConnectionError):
            await writer.wait_closed()


@asynccontextmanager
async def listening(folder: Path | None = None, entrance: Entrance | None = None) -> AsyncIterator[Listening]:
    place = Listening(folder, entrance=entrance)
    try:
        yield place
    finally:
        place.acceptor.close()


@on_both_loops
async def test_many_that_come_at_once_are_taken_a_few_in_each_turn() -> None:
    """DPS-26: whoever is connected has their turns meanwhile."""
    turns, ticking = 0, True
    made: Counter[int] = Counter()

    def tick() -> None:
        nonlocal turns
        turns += 1
        if ticking:
            asyncio.get_running_loop().call_soon(tick)

    def make() -> asyncio.Protocol:
        made[turns] += 1
        return Echo()

    waiting, many = socket.create_server(("127.0.0.1", 0), backlog=256), 5 * ACCEPTED_AT_ONCE
    with ExitStack() as clients:
        for _ in range(many):
            clients.enter_context(socket.create_connection(waiting.getsockname()))
        tick()
        place = Listening(entrance=wide_open(make), waiting=waiting)
        assert await until(lambda: made.total() == many, DEADLINE_S)
        ticking = False
        place.acceptor.close()
    assert max(made.values()) == ACCEPTED_AT_ONCE


@in_plain_and_with_tls
@on_both_loops
async def test_a_machine_without_descriptors_rests_counts_and_goes_on(
    secure: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("infra.runtime.acceptor.REST_S", 0.05)
    async with listening(tmp_path if secure else None) as place:
        exhausted = [OSError(errno.EMFILE, "Too many open files")]
        accept = socket.socket.accept

        def failing(self: socket.socket) -> object:
            if exhausted:
                raise exhausted.pop()
            return accept(self)

        monkeypatch.setattr(socket.socket, "accept", failing)
        await place.echoes()
        assert [line[:2] for line in place.log.lines if line[0] == "error"] == [("error", "cannot accept connections")]
        assert place.failures == {"EMFILE": 1}


@in_plain_and_with_tls
@on_both_loops
async def test_closing_cuts_who_has_no_protocol_and_leaves_connections_alone(secure: bool, tmp_path: Path) -> None:
    async with listening(tmp_path if secure else None) as place:
        reader, writer = await place.connected()
        early, silent = await asyncio.open_connection("127.0.0.1", place.port)
        writer.write(b"first")
        assert await reader.readexactly(5) == b"first"
        place.acceptor.close()
        place.acceptor.close()
        if secure:
            with suppress(ConnectionError):
                assert await early.read() == b""
        writer.write(b"still")
        assert await reader.readexactly(5) == b"still"
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", place.port)
        silent.transport.abort()
        writer.transport.abort()
        await asyncio.sleep(0)


@on_both_loops
async def test_a_protocol_that_cannot_be_made_is_logged_and_harms_nobody_else() -> None:
    broken = [RuntimeError("no protocol")]

    def make() -> asyncio.Protocol:
        if broken:
            raise broken.pop()
        return Echo()

    place = Listening(entrance=wide_open(make))
    reader, writer = await asyncio.open_connection("127.0.0.1", place.port)
    assert await reader.read() == b""
    writer.close()
    await place.echoes()
    assert [line[:2] for line in place.log.lines] == [("error", "a connection could not be accepted")]
    place.acceptor.close()


class Placed(Echo):
    """An echo that gives its place back."""

    def __init__(self, place: HeldPlace) -> None:
        super().__init__()
        self._place = place

    def connection_lost(self, exc: Exception | None) -> None:
        self._place.give_back()


def with_places(size: int, per_address: int) -> Entrance:
    return replace(wide_open(size=size, per_address=per_address), make=Placed)


@on_both_loops
async def test_one_without_a_place_is_told_so_in_plain_until_another_leaves() -> None:
    """DPS-26."""
    async with listening(entrance=with_places(size=1, per_address=1)) as place:
        reader, writer = await place.connected()
        writer.write(b"hello")
        assert await reader.readexactly(5) == b"hello"
        for _ in range(2):
            refused, left = await place.connected()
            left.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
            answer = await refused.read()
            assert answer.startswith(b"HTTP/1.1 503 ")
            assert b"\r\nRetry-After: 1\r\n" in answer
            left.close()
        assert place.entrance.places.refused == {"address": 2}
        assert [line[:2] for line in place.log.lines] == [("warning", "connections are turned away")]
        writer.transport.abort()
        assert await until(lambda: place.entrance.places.taken == 0, DEADLINE_S)
        await place.echoes()


@on_both_loops
async def test_places_are_asked_for_before_a_tls_handshake_begins(tmp_path: Path) -> None:
    """DPS-26: a handshake costs far more than a refusal."""
    async with listening(tmp_path, with_places(size=1, per_address=1)) as place:
        _, silent = await asyncio.open_connection("127.0.0.1", place.port)
        assert await until(lambda: place.entrance.places.taken == 1, DEADLINE_S)
        with pytest.raises((ConnectionError, ssl.SSLError)):
            await place.connected()
        assert (place.outcomes, place.entrance.places.refused) == ({}, {"address": 1})
        silent.transport.abort()
        assert await until(lambda: place.entrance.places.taken == 0, DEADLINE_S)
        assert place.outcomes == {"closed": 1}
        await place.echoes()


@on_both_loops
async def test_a_client_that_resets_its_connection_is_counted_where_it_came_from() -> None:
    """The socket of such a connection does not know any more who its peer was."""
    came_from: list[str] = []

    def make(place: HeldPlace) -> asyncio.Protocol:
        came_from.append(place.host)
        return Placed(place)

    waiting = socket.create_server(("127.0.0.1", 0))
    with socket.create_connection(waiting.getsockname()) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    place = Listening(entrance=replace(wide_open(), make=make), waiting=waiting)
    await place.echoes()
    assert came_from[0] == "127.0.0.1"
    assert await until(lambda: place.entrance.places.taken == 0, DEADLINE_S)
    place.acceptor.close()


@in_plain_and_with_tls
@on_both_loops
async def test_closing_gives_back_the_places_of_those_who_have_no_protocol(secure: bool, tmp_path: Path) -> None:
    async with listening(tmp_path if secure else None, with_places(size=9, per_address=9)) as place:
        _, silent = await asyncio.open_connection("127.0.0.1", place.port)
        assert await until(lambda: place.entrance.places.taken == 1, DEADLINE_S)
        place.acceptor.close()
        silent.transport.abort()
        assert await until(lambda: place.entrance.places.taken == 0, DEADLINE_S)


async def test_no_socket_stays_open_where_one_address_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    both = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", 0)), (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 0))]

    async def found(*_: object, **__: object) -> object:
        return both

    made: list[socket.socket] = []
    create = socket.create_server

    def remembered(*args: object, **options: object) -> socket.socket:
        made.append(create(*args, **options))  # type: ignore[arg-type]  # as they came
        return made[-1]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", found)
    monkeypatch.setattr(socket, "create_server", remembered)
    with pytest.raises(OSError, match="assign"):
        await bound_sockets(Address("door.example.org", 0))
    assert [sock.fileno() for sock in made] == [-1]
