"""infra.runtime.turned_away: who is turned away reads why, and does not stay."""

import asyncio
import socket
import struct

import pytest

from infra.runtime.turned_away import MAX_READING, TurnedAway
from segue.demo.until import until
from tests.support.both_loops import on_both_loops

DEADLINE_S = 20.0


class Crowd:
    """Pairs of connected sockets: of clients, and of those whom they came to."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._clients: list[socket.socket] = []

    def pair(self) -> tuple[socket.socket, socket.socket]:
        client = socket.create_connection(self._listening.getsockname())
        server, _ = self._listening.accept()
        server.setblocking(False)
        client.settimeout(DEADLINE_S)
        self._clients.append(client)
        return client, server

    def close(self) -> None:
        for each in (self._listening, *self._clients):
            each.close()


def all_of(client: socket.socket) -> bytes:
    """Returns what comes until the end."""
    pieces = []
    while piece := client.recv(1 << 16):
        pieces.append(piece)
    return b"".join(pieces)


@on_both_loops
async def test_a_client_that_is_still_sending_reads_why_and_is_not_reset() -> None:
    """RFC 9112 9.6."""
    crowd, turned_away = Crowd(), TurnedAway()
    client, server = crowd.pair()
    client.sendall(b"x" * 10_000)
    turned_away.tell(server, b"no room")
    client.sendall(b"x" * 10_000)
    assert await asyncio.to_thread(all_of, client) == b"no room"
    client.close()
    assert await until(lambda: len(turned_away) == 0, DEADLINE_S)
    assert server.fileno() == -1
    crowd.close()


@on_both_loops
async def test_a_client_that_reads_and_does_not_go_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    """DPS-26."""
    monkeypatch.setattr("infra.runtime.turned_away.READING_S", 0.05)
    crowd, turned_away = Crowd(), TurnedAway()
    _, server = crowd.pair()
    turned_away.tell(server, b"no room")
    assert len(turned_away) == 1
    assert await until(lambda: server.fileno() == -1, DEADLINE_S)
    crowd.close()


@on_both_loops
async def test_for_so_many_nobody_waits_and_they_are_told_all_the_same() -> None:
    """DPS-26."""
    crowd, turned_away = Crowd(), TurnedAway()
    pairs = [crowd.pair() for _ in range(MAX_READING + 5)]
    for client, server in pairs:
        client.sendall(b"GET / HTTP/1.1\r\n\r\n")
        turned_away.tell(server, b"no room")
    assert len(turned_away) == MAX_READING
    assert [server.fileno() for _, server in pairs[MAX_READING:]] == [-1] * 5
    assert [all_of(client) for client, _ in pairs[MAX_READING:]] == [b"no room"] * 5
    turned_away.close()
    turned_away.close()
    assert {server.fileno() for _, server in pairs} == {-1}
    crowd.close()


@on_both_loops
async def test_one_that_is_gone_already_harms_nobody() -> None:
    crowd, turned_away = Crowd(), TurnedAway()
    client, server = crowd.pair()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    turned_away.tell(server, b"no room")
    assert await until(lambda: len(turned_away) == 0, DEADLINE_S)
    crowd.close()
