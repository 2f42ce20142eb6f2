"""WebSocket frames as a server writes them (RFC 6455 5), and the opcodes; see `websocket_reader` for the other way.

The frames of a server are not masked and never fragmented. So a frame is a short header and the payload as it is: the same bytes for
every receiver, encoded once (design 5).
"""

from typing import Final

CONTINUATION: Final = 0x0
TEXT: Final = 0x1
BINARY: Final = 0x2
CLOSE: Final = 0x8
PING: Final = 0x9
PONG: Final = 0xA

MAX_SMALL_BYTES: Final = 125  # what a two-byte header can say; no control frame may be longer (RFC 6455 5.5)
_MAX_REASON_BYTES: Final = MAX_SMALL_BYTES - 2
_FINAL: Final = 0x80


def _header(opcode: int, length: int) -> bytes:
    """Returns the header of a final, unmasked frame, with the length in its shortest form (RFC 6455 5.2)."""
    if length <= MAX_SMALL_BYTES:
        return bytes((_FINAL | opcode, length))
    if length < 1 << 16:
        return bytes((_FINAL | opcode, 126)) + length.to_bytes(2)
    return bytes((_FINAL | opcode, 127)) + length.to_bytes(8)


_READY: Final = 1024  # events are nearly always shorter; 40 KB of headers
_TEXT_HEADERS: Final = tuple(_header(TEXT, length) for length in range(_READY))


def text_frame(payload: bytes) -> bytes:
    """Returns one whole text message. `payload` must be UTF-8; that is not checked here."""
    length = len(payload)
    return (_TEXT_HEADERS[length] if length < _READY else _header(TEXT, length)) + payload


def close_frame(number: int, reason: str) -> bytes:
    """Returns a close frame. `reason` is cut to what fits, between two characters."""
    # Cut as bytes; then half a character at the end is left out.
    text = reason.encode(errors="replace")[:_MAX_REASON_BYTES].decode(errors="ignore").encode()
    return _header(CLOSE, 2 + len(text)) + number.to_bytes(2) + text


def ping_frame(payload: bytes = b"") -> bytes:
    """Returns a ping. `payload` is at most `MAX_SMALL_BYTES` long."""
    return _header(PING, len(payload)) + payload


def pong_frame(payload: bytes = b"") -> bytes:
    """Returns the answer to a ping, with the payload of that ping."""
    return _header(PONG, len(payload)) + payload
