"""The handshake of TLS on a connected socket, on asyncio's own loop and on uvloop: how it ends, and that no socket stays open."""

import asyncio
import socket
import ssl
from pathlib import Path

import pytest

from infra.runtime.tls.contexts import ServerTls
from infra.runtime.tls.securing import secured
from tests.support.both_loops import on_both_loops
from tests.support.secured_pair import DEADLINE_S, Noted, secured_pair, sockets
from tests.support.tls_files import TestAuthority


def contexts(folder: Path) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    """Returns a context for who is called, and one for who calls and believes them."""
    tls = ServerTls(TestAuthority(folder).options())
    return tls.context, tls.own_context()


async def heard(sock: socket.socket) -> bytes:
    """Returns what comes until the other end closes."""
    loop, found = asyncio.get_running_loop(), b""
    async with asyncio.timeout(DEADLINE_S):
        while piece := await loop.sock_recv(sock, 65536):
            found += piece
    return found


@on_both_loops
async def test_both_sides_get_their_protocol_when_the_handshake_is_done(tmp_path: Path) -> None:
    """DPS-23, DPS-24."""
    called, calling = await secured_pair(tmp_path)
    assert called.transport.get_extra_info("ssl_object").version() == "TLSv1.3"
    for one in (called, calling):
        one.transport.abort()
        assert await one.lost is None


@on_both_loops
async def test_a_handshake_that_takes_too_long_ends_with_its_socket(tmp_path: Path) -> None:
    """DPS-23."""
    (ours, theirs), (called, _) = sockets(), contexts(tmp_path)
    with pytest.raises(TimeoutError):
        await secured(ours, called, Noted, timeout_s=0.05, is_called=True)
    assert await heard(theirs) == b""
    theirs.close()


@on_both_loops
async def test_a_handshake_that_is_cancelled_ends_with_its_socket(tmp_path: Path) -> None:
    (ours, theirs), (_, calling) = sockets(), contexts(tmp_path)
    task = asyncio.create_task(secured(ours, calling, Noted, timeout_s=DEADLINE_S))
    await asyncio.get_running_loop().sock_recv(theirs, 1)  # it has begun
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert await heard(theirs)
    theirs.close()


@on_both_loops
async def test_who_is_not_believed_gets_no_protocol_and_hears_why(tmp_path: Path) -> None:
    """DPS-24."""
    (ours, theirs), (called, _) = sockets(), contexts(tmp_path)
    calling = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    calling.check_hostname = False
    both = secured(ours, called, Noted, timeout_s=DEADLINE_S, is_called=True), secured(theirs, calling, Noted, timeout_s=DEADLINE_S)
    of_called, of_calling = await asyncio.gather(*both, return_exceptions=True)
    assert isinstance(of_calling, ssl.SSLCertVerificationError)
    assert isinstance(of_called, ssl.SSLError)
    assert "ALERT_UNKNOWN_CA" in str(of_called.reason)


@on_both_loops
async def test_bytes_that_are_no_handshake_are_an_error(tmp_path: Path) -> None:
    (ours, theirs), (called, _) = sockets(), contexts(tmp_path)
    theirs.send(b"\x16\x03\x01\x00\x05hello")
    with pytest.raises(ssl.SSLError):
        await secured(ours, called, Noted, timeout_s=DEADLINE_S, is_called=True)
    await heard(theirs)
    theirs.close()


@on_both_loops
async def test_a_protocol_that_cannot_be_made_ends_the_connection(tmp_path: Path) -> None:
    def broken() -> Noted:
        raise RuntimeError("no protocol")

    (ours, theirs), (called, calling) = sockets(), contexts(tmp_path)
    ending = secured(ours, called, broken, timeout_s=DEADLINE_S, is_called=True)
    error, peer = await asyncio.gather(ending, secured(theirs, calling, Noted, timeout_s=DEADLINE_S), return_exceptions=True)
    assert isinstance(error, RuntimeError)
    assert isinstance(peer, Noted)
    await peer.lost
