"""Connections of TLS on asyncio's own loop and on uvloop: what is written arrives, bounds hold, and every end is one."""

import asyncio
import random
import socket
import ssl
import struct
from pathlib import Path
from typing import Any

import pytest

from infra.runtime.tls.contexts import ServerTls
from infra.runtime.tls.securing import secured
from infra.runtime.tls.transport import MAX_THROWN_BYTES, PIECE_BYTES, WRITE_BUFFER_BYTES
from segue.demo.until import until
from tests.support.both_loops import on_both_loops
from tests.support.secured_pair import DEADLINE_S, Noted, secured_pair, sockets
from tests.support.tls_files import TestAuthority

MUCH = b"0123456789abcdef" * (512 << 10)  # 8 MiB, more than the buffers of sockets hold


async def gone(*ends: Noted) -> list[Exception | None]:
    """Waits until all `ends` are lost, and returns what they were told."""
    async with asyncio.timeout(DEADLINE_S):
        return [await end.lost for end in ends]


async def cut(*ends: Noted) -> None:
    for end in ends:
        end.transport.abort()
    await gone(*ends)


# Writing.


@on_both_loops
async def test_what_is_written_arrives_whole_and_in_order_both_ways(tmp_path: Path) -> None:
    """DPS-23."""
    ends, rng = await secured_pair(tmp_path), random.Random(1)
    sent: list[bytes] = [b"", b""]
    for size in (0, 1, 300, PIECE_BYTES, PIECE_BYTES + 1, 5 * PIECE_BYTES + 7, 3, 16_384, 16_385):
        for number, end in enumerate(ends):
            data = rng.randbytes(size)
            sent[number] += data
            end.transport.write(rng.choice((bytes, bytearray, memoryview))(data))
    assert await until(lambda: [len(end.heard) for end in ends] == [len(sent[1]), len(sent[0])], DEADLINE_S)
    assert [end.heard for end in ends] == [sent[1], sent[0]]
    await cut(*ends)


@on_both_loops
async def test_what_the_peer_does_not_take_waits_and_the_protocol_is_told(tmp_path: Path) -> None:
    """DPS-26."""
    end, peer = await secured_pair(tmp_path)
    peer.transport.pause_reading()
    end.transport.write(MUCH)
    size = end.transport.get_write_buffer_size()
    assert WRITE_BUFFER_BYTES < size < len(MUCH)
    end.transport.write(b"the last")
    assert (end.told, end.transport.get_write_buffer_size()) == (["pause"], size + 8)
    peer.transport.resume_reading()
    assert await until(lambda: end.told == ["pause", "resume"], DEADLINE_S)
    assert await until(lambda: len(peer.heard) == len(MUCH) + 8, DEADLINE_S)
    assert peer.heard == MUCH + b"the last"
    assert end.transport.get_write_buffer_size() == 0
    await cut(end, peer)


@on_both_loops
async def test_small_writes_that_wait_are_told_by_the_limits_of_the_protocol(tmp_path: Path) -> None:
    end, peer = await secured_pair(tmp_path)
    end.transport.set_write_buffer_limits(high=5_000)
    assert end.transport.get_write_buffer_limits() == (1_250, 5_000)
    peer.transport.pause_reading()
    written = 0
    while not end.told:
        end.transport.write(b"x" * 1_000)
        written += 1_000
    assert 5_000 < end.transport.get_write_buffer_size() <= 6_000
    peer.transport.resume_reading()
    assert await until(lambda: len(peer.heard) == written, DEADLINE_S)
    assert end.told == ["pause", "resume"]
    await cut(end, peer)


@on_both_loops
async def test_limits_that_are_not_said_follow_from_the_other(tmp_path: Path) -> None:
    end, peer = await secured_pair(tmp_path)
    found = []
    for limits in ({}, {"low": 10}, {"high": 9, "low": 3}):
        end.transport.set_write_buffer_limits(**limits)
        found.append(end.transport.get_write_buffer_limits())
    assert found == [(WRITE_BUFFER_BYTES // 4, WRITE_BUFFER_BYTES), (10, 40), (3, 9)]
    await cut(end, peer)


@on_both_loops
async def test_a_buffer_may_be_used_again_while_it_waits(tmp_path: Path) -> None:
    end, peer = await secured_pair(tmp_path)
    peer.transport.pause_reading()
    end.transport.write(MUCH)
    buffer = bytearray(b"before")
    end.transport.write(buffer)
    buffer[:] = b"after!"
    peer.transport.resume_reading()
    assert await until(lambda: len(peer.heard) == len(MUCH) + 6, DEADLINE_S)
    assert peer.heard[-6:] == b"before"
    await cut(end, peer)


# Reading.


@on_both_loops
async def test_who_does_not_read_is_given_nothing_and_then_all_at_once(tmp_path: Path) -> None:
    end, peer = await secured_pair(tmp_path)
    end.transport.pause_reading()
    end.transport.pause_reading()
    for number in range(5):
        peer.transport.write(b"%d" % number)
    peer.transport.write(b"")
    await asyncio.sleep(0)
    assert (end.pieces, end.transport.is_reading()) == ([], False)
    end.transport.resume_reading()
    assert end.transport.is_reading()
    assert await until(lambda: bool(end.pieces), DEADLINE_S)
    assert end.pieces == [b"01234"]
    await cut(end, peer)


@on_both_loops
async def test_another_protocol_takes_over(tmp_path: Path) -> None:
    end, peer = await secured_pair(tmp_path)
    other = Noted()
    end.transport.set_protocol(other)
    assert end.transport.get_protocol() is other
    peer.transport.write(b"hello")
    assert await until(lambda: other.heard == b"hello", DEADLINE_S)
    other.transport = end.transport
    await cut(other, peer)


@on_both_loops
async def test_a_protocol_that_fails_ends_its_connection_and_the_loop_is_told(tmp_path: Path) -> None:
    class Failing(Noted):
        def data_received(self, data: bytes) -> None:
            raise RuntimeError("a defect")

    told: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: told.append(context["exception"]))
    end, peer = await secured_pair(tmp_path, Failing)
    peer.transport.write(b"hello")
    (error, _) = await gone(end, peer)
    assert (str(error), [str(each) for each in told]) == ("a defect", ["a defect"])


@on_both_loops
async def test_what_is_known_of_a_connection_can_be_asked(tmp_path: Path) -> None:
    end, peer = await secured_pair(tmp_path)
    assert peer.transport.get_extra_info("peercert")["subjectAltName"][0] == ("DNS", "localhost")
    assert end.transport.get_extra_info("sslcontext") is end.transport.get_extra_info("ssl_object").context
    assert end.transport.get_extra_info("socket").fileno() >= 0
    assert end.transport.get_extra_info("compression", "none") == "none"
    assert end.transport.can_write_eof()
    await cut(end, peer)
    assert end.transport.get_extra_info("peername", "gone") == "gone"


# The end.


@on_both_loops
async def test_closing_comes_behind_what_was_written(tmp_path: Path) -> None:
    end, peer = await secured_pair(tmp_path)
    end.transport.write(MUCH)
    end.transport.close()
    end.transport.close()
    end.transport.write(b"too late")
    assert end.transport.is_closing()
    assert await gone(end, peer) == [None, None]
    assert (peer.heard, peer.told) == (MUCH, ["ended"])


@on_both_loops
async def test_a_goodbye_is_heard_while_the_peer_goes_on_sending(tmp_path: Path) -> None:
    end, peer = await secured_pair(tmp_path)
    peer.transport.write(b"x" * 100_000)
    end.transport.write(b"goodbye")
    end.transport.write_eof()
    end.transport.write_eof()
    end.transport.write(b"too late")
    peer.transport.write(b"x" * 100_000)
    assert not end.transport.is_closing()
    await gone(peer, end)
    assert (peer.heard, peer.told, end.told) == (b"goodbye", ["ended"], [])


@on_both_loops
async def test_who_reads_nothing_reads_nothing_behind_its_goodbye(tmp_path: Path) -> None:
    """A flooder's bytes stay in its own buffers until it is cut."""
    end, peer = await secured_pair(tmp_path)
    end.transport.pause_reading()
    end.transport.write_eof()
    peer.transport.pause_reading()
    peer.transport.write(MUCH)
    waiting = peer.transport.get_write_buffer_size()
    for _ in range(20):
        await asyncio.sleep(0)
    assert peer.transport.get_write_buffer_size() == waiting > 0
    await cut(end, peer)


@on_both_loops
async def test_a_peer_that_goes_on_sending_behind_our_goodbye_is_cut(tmp_path: Path) -> None:
    """DPS-26: for as long as a goodbye may take, everything that it sent was read and decrypted."""
    end, peer = await secured_pair(tmp_path)
    end.transport.write_eof()
    peer.transport.pause_reading()  # it does not hear the goodbye
    sent_bytes = 0
    while not peer.transport.is_closing() and sent_bytes < 8 * MAX_THROWN_BYTES:
        if peer.transport.get_write_buffer_size() < len(MUCH):
            peer.transport.write(MUCH)
            sent_bytes += len(MUCH)
        await asyncio.sleep(0)
    assert MAX_THROWN_BYTES <= sent_bytes < 4 * MAX_THROWN_BYTES
    assert await gone(end) == [None]
    await cut(peer)


@on_both_loops
async def test_a_peer_that_does_not_close_has_so_long(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infra.runtime.tls.transport.SHUTDOWN_S", 0.05)
    end, peer = await secured_pair(tmp_path)
    peer.transport.pause_reading()
    end.transport.pause_reading()
    end.transport.write(MUCH)
    end.transport.close()
    assert await gone(end) == [None]
    peer.transport.resume_reading()
    await gone(peer)


@on_both_loops
async def test_aborting_drops_what_waits(tmp_path: Path) -> None:
    end, peer = await secured_pair(tmp_path)
    peer.transport.pause_reading()
    end.transport.write(MUCH)
    end.transport.abort()
    end.transport.abort()
    end.transport.write(b"too late")
    end.transport.resume_reading()
    assert (end.transport.get_write_buffer_size(), end.transport.is_closing()) == (0, True)
    assert await gone(end) == [None]
    end.transport.write(b"too late")
    peer.transport.resume_reading()
    await gone(peer)
    assert len(peer.heard) < len(MUCH)


@on_both_loops
async def test_what_is_no_record_ends_the_connection(tmp_path: Path) -> None:
    """DPS-23: nobody on the way can put bytes in."""
    end, peer = await secured_pair(tmp_path)
    socket.socket.send(peer.transport.get_extra_info("socket"), b"\x17\x03\x03\x00\x20" + b"x" * 32)
    error, _ = await gone(end, peer)
    assert isinstance(error, ssl.SSLError)
    assert end.pieces == []


@on_both_loops
async def test_a_connection_that_ends_without_a_goodbye_has_ended(tmp_path: Path) -> None:
    end, peer = await secured_pair(tmp_path)
    peer.transport.write(b"the last")
    socket.socket.shutdown(peer.transport.get_extra_info("socket"), socket.SHUT_WR)
    error, _ = await gone(end, peer)
    assert (error, end.heard, end.told) == (None, b"the last", ["ended"])


class HalfClosing:
    """A client that says goodbye and still listens, as RFC 8446 6.1 allows. asyncio's do not."""

    def __init__(self, sock: socket.socket, context: ssl.SSLContext) -> None:
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing)
        self._socket = sock

    async def do(self, step: Any, *arguments: Any) -> Any:
        """Returns what `step` of TLS returns, when enough has come for it."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                return step(self._tls, *arguments)
            except ssl.SSLWantReadError:
                await loop.sock_sendall(self._socket, self._outgoing.read())
                self._incoming.write(await loop.sock_recv(self._socket, 65536))
            finally:
                await loop.sock_sendall(self._socket, self._outgoing.read())

    async def say_goodbye(self) -> None:
        """Ends its own half."""
        with pytest.raises(ssl.SSLWantReadError):
            self._tls.unwrap()
        await asyncio.get_running_loop().sock_sendall(self._socket, self._outgoing.read())


@on_both_loops
async def test_a_protocol_may_answer_behind_the_goodbye_of_its_peer(tmp_path: Path) -> None:
    tls = ServerTls(TestAuthority(tmp_path).options())
    ours, theirs = sockets()
    client = HalfClosing(theirs, tls.own_context())
    accepting = secured(ours, tls.context, lambda: Noted(says_more=True), timeout_s=DEADLINE_S, is_called=True)
    async with asyncio.timeout(DEADLINE_S):
        end, _ = await asyncio.gather(accepting, client.do(ssl.SSLObject.do_handshake))
        await client.say_goodbye()
        assert await until(lambda: end.told == ["ended"], DEADLINE_S)
        end.transport.write(b"the answer")
        assert await client.do(ssl.SSLObject.read, 100) == b"the answer"
        end.transport.close()
        assert await gone(end) == [None]
    theirs.close()


@on_both_loops
async def test_a_peer_that_resets_the_connection_is_an_error(tmp_path: Path) -> None:
    tls = ServerTls(TestAuthority(tmp_path).options())
    listening = socket.create_server(("127.0.0.1", 0))
    theirs = socket.create_connection(listening.getsockname())
    ours, _ = listening.accept()
    listening.close()
    for sock in (ours, theirs):
        sock.setblocking(False)
    called = secured(ours, tls.context, Noted, timeout_s=DEADLINE_S, is_called=True)
    end, peer = await asyncio.gather(called, secured(theirs, tls.own_context(), Noted, timeout_s=DEADLINE_S))
    assert peer.transport.get_extra_info("peername") == end.transport.get_extra_info("sockname")
    peer.transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.transport.abort()
    error, _ = await gone(end, peer)
    assert isinstance(error, ConnectionError)
