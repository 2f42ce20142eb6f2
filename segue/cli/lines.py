"""Lines of a file or pipe, as they come, without holding up the event loop."""

import asyncio
import os
import threading
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Final

from segue.sdk.errors import Misuse

CHUNK_BYTES: Final = 1 << 16
MAX_LINE_BYTES: Final = 1 << 20


async def lines(descriptor: int) -> AsyncGenerator[bytes, None]:
    """Yields each line of an open file, without its end. It waits once for all lines that come together.

    Raises OSError, and Misuse for a line of more than `MAX_LINE_BYTES`. Cancelling it drops what was read ahead.
    """
    rest = b""
    while chunk := await _chunk(descriptor):
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line
        if len(rest) > MAX_LINE_BYTES:
            raise Misuse(f"a line is longer than {MAX_LINE_BYTES} bytes; is this NDJSON, with one event a line?")
    if rest:
        yield rest


async def _chunk(descriptor: int) -> bytes:
    """Returns what there is to read, at most `CHUNK_BYTES`; nothing at the end.

    A terminal or a pipe may never have more. Python waits at exit for the threads of an executor, so this is a daemon thread. It reads
    the descriptor itself, because it would hold the lock of `sys.stdin` for ever.
    """
    loop = asyncio.get_running_loop()
    found: asyncio.Future[bytes] = loop.create_future()

    def read() -> None:
        try:
            chunk, error = os.read(descriptor, CHUNK_BYTES), None
        except OSError as raised:
            chunk, error = b"", raised
        with suppress(RuntimeError):  # the loop was closed meanwhile
            loop.call_soon_threadsafe(_settle, found, chunk, error)

    threading.Thread(target=read, daemon=True, name="lines").start()
    return await found


def _settle(found: asyncio.Future[bytes], chunk: bytes, error: OSError | None) -> None:
    if found.cancelled():
        return
    if error is None:
        found.set_result(chunk)
    else:
        found.set_exception(error)
