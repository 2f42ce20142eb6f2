"""Server-Sent Events (WHATWG HTML, 9.2) out of the frames of a session. Pure.

A session writes WebSocket frames, which are encoded once for everybody. Here they become lines for one client that has no WebSocket. An
event of a topic is a message without a name; whatever else is said has the name of its `op`, but an error is called `refused`, since
browsers call the loss of a connection `error`.
"""

from collections.abc import Iterator
from typing import Final

import msgspec

from infra.kernel.events import OPENING
from infra.kernel.websocket import TEXT

COMMENT: Final = b":\n\n"
_REFUSED: Final = "refused"
_SHORT: Final = 126
_LONG: Final = 127


class _Said(msgspec.Struct):
    op: str
    reconnect_in_ms: int | None = None


_SAID: Final = msgspec.json.Decoder(_Said)


def blocks(frames: bytes) -> bytes:
    """Returns what `frames`, one or more whole frames of a server, are as blocks of a stream. Only texts are told."""
    return b"".join(_block(payload) for opcode, payload in _split(frames) if opcode == TEXT)


def position(point: str) -> bytes:
    """Returns the block that has a client say `point` when it comes back. It brings no message."""
    return b"id: %b\n\n" % point.encode()


def _block(text: bytes) -> bytes:
    # Outside of strings, where JSON has line ends, they mean as much as blanks.
    data = text.replace(b"\r", b" ").replace(b"\n", b" ")
    if text.startswith(OPENING):
        return b"data: %b\n\n" % data
    said = _SAID.decode(text)
    name = _REFUSED if said.op == "error" else said.op
    retry = b"" if said.reconnect_in_ms is None else b"retry: %d\n" % said.reconnect_in_ms
    return b"%bevent: %b\ndata: %b\n\n" % (retry, name.encode(), data)


def _split(frames: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields opcode and payload of each frame. They are ours: whole, final and not masked."""
    at = 0
    while at < len(frames):
        opcode, length = frames[at] & 0x0F, frames[at + 1]
        more = {_SHORT: 2, _LONG: 8}.get(length, 0)
        start = at + 2 + more
        end = start + (int.from_bytes(frames[at + 2 : start]) if more else length)
        yield opcode, frames[start:end]
        at = end
