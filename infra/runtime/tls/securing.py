"""The handshake of TLS on a socket that is connected: step by step, as its bytes come, and not for ever."""

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Any, TypeVar

from .transport import TlsTransport

P = TypeVar("P", bound=asyncio.Protocol)


async def secured(
    sock: socket.socket, context: ssl.SSLContext, factory: Callable[[], P], *, timeout_s: float, is_called: bool = False
) -> P:
    """Does the handshake on `sock`, which is connected and does not block, and returns the protocol of `factory` that has it then.

    `is_called`: the peer has called us. If not, the name of its host is not checked.

    Raises OSError, which `TimeoutError` and `ssl.SSLError` are. Then, and when it is cancelled, the socket is closed.
    """
    try:
        sock = wrapped = context.wrap_socket(sock, server_side=is_called, do_handshake_on_connect=False)
        async with asyncio.timeout(timeout_s):
            await _shake(wrapped)
        protocol = factory()
    except BaseException:
        sock.close()
        raise
    TlsTransport(wrapped, protocol).begin()
    return protocol


async def _shake(sock: ssl.SSLSocket) -> None:
    loop = asyncio.get_running_loop()
    while True:
        try:
            sock.do_handshake()
        except ssl.SSLWantReadError:
            await readable(sock)
        except ssl.SSLWantWriteError:
            await _ready(sock, loop.add_writer, loop.remove_writer)
        else:
            return


async def readable(sock: socket.socket) -> None:
    """Waits until something can be read from `sock`, or it has ended."""
    loop = asyncio.get_running_loop()
    await _ready(sock, loop.add_reader, loop.remove_reader)


async def _ready(sock: socket.socket, add: Callable[..., Any], remove: Callable[..., Any]) -> None:
    ready = asyncio.Event()
    add(sock, ready.set)
    try:
        await ready.wait()
    finally:
        remove(sock)
