"""WebSocket frames as a client writes them: bytes in any portions -> messages (RFC 6455 5), without I/O.

Nearly every frame of a client is one whole, small, final text frame. `FrameReader` recognises it with one `struct` call and unmasks it
with one big-integer XOR. Every other frame (long, fragmented, control, unfinished, broken) goes through `_any_frame`. That applies the
rules in the order in which their bytes arrive, so a stream means the same in one portion as byte by byte.
"""

from struct import Struct
from typing import Final

from .errors import Refused
from .websocket import BINARY, CLOSE, CONTINUATION, MAX_SMALL_BYTES, PING, PONG, TEXT

Message = tuple[int, bytes]
"""Opcode (TEXT, CLOSE, PING or PONG) and unmasked payload."""

_FINAL: Final = 0x80
_RESERVED: Final = 0x70
_OPCODE: Final = 0x0F
_MASKED: Final = 0x80
_FINAL_TEXT: Final = _FINAL | TEXT
_CLOSE_NUMBERS: Final = frozenset({*range(1000, 1004), *range(1007, 1015), *range(3000, 5000)})  # RFC 6455 7.4

_SMALL_HEADER_BYTES: Final = 6
_small_header: Final = Struct(">BBI").unpack_from  # flags and opcode, mask bit and length, mask
_from_bytes: Final = int.from_bytes
_to_bytes: Final = int.to_bytes  # unbound is 60 ns cheaper than the method

# A mask times _REPEAT[n] is the mask repeated over n bytes and _SURPLUS[n] bits more.
_REPEAT: Final = tuple(_from_bytes(b"\0\0\0\1" * (-(-n // 4))) for n in range(MAX_SMALL_BYTES + 1))
_SURPLUS: Final = tuple(-n % 4 * 8 for n in range(MAX_SMALL_BYTES + 1))

# From this length on, `bytes.translate` over every fourth byte is faster than the XOR, whose integers cost 4 ns a byte.
_TRANSLATE_FROM_BYTES: Final = 512
_XOR_WITH: Final = tuple(bytes(byte ^ mask for byte in range(256)) for mask in range(256))

# What a frame costs beside its bytes: as much as so many bytes of a long message.
FRAME_COST: Final = 512
_NO_BOUND: Final = 1 << 62


class FrameReader:
    """An incremental reader of one connection. While no frame is unfinished it holds nothing but a few references.

    `error` is set by the first violation (`bad-frame`, `bad-utf8`, `too-large`). Messages that were complete before it are still
    returned. What follows it is dropped, and so is what follows a close frame (RFC 6455 1.4).

    - `max_message_bytes`: may be changed between two calls.
    - `frames`, `size_bytes`: of what the last `feed` has read.
    - `stopped`: the last `feed` has left something unread, because its budget was used up.
    """

    __slots__ = ("_ended", "_fragments", "_held", "error", "frames", "max_message_bytes", "size_bytes", "stopped")

    def __init__(self, max_message_bytes: int) -> None:
        """Takes messages of at most `max_message_bytes`; a longer one is refused by its header. Raises ValueError below 125."""
        if max_message_bytes < MAX_SMALL_BYTES:
            raise ValueError(f"max_message_bytes is {max_message_bytes}; it must be at least {MAX_SMALL_BYTES}")
        self.max_message_bytes = max_message_bytes
        self.frames = self.size_bytes = 0
        self.stopped = False
        self._held: bytearray | None = None  # the beginning of an unfinished frame
        self._fragments: bytearray | None = None  # the beginning of a fragmented message
        self._ended = False
        self.error: Refused | None = None

    @property
    def cost(self) -> int:
        """What the last `feed` has cost: `FRAME_COST` for each frame, and its bytes."""
        return self.frames * FRAME_COST + self.size_bytes

    @property
    def held_bytes(self) -> int:
        """How much was fed and not read yet, or belongs to an unfinished message."""
        return len(self._held or b"") + len(self._fragments or b"")

    def feed(self, data: bytes, budget: int = _NO_BOUND) -> list[Message]:
        """Returns the messages that `data` completes, in order. The caller looks at `error` and `stopped` afterwards.

        When what was read costs `budget` or more, no further frame is begun. The rest is read by later calls, with or without new data.
        """
        messages: list[Message] = []
        held = self._held
        if held is None:
            used = self._read(data, messages, budget)
            if used < len(data):
                self._held = bytearray(data[used:])
        else:
            held += data
            del held[: self._read(held, messages, budget)]
            if not held:
                self._held = None
        return messages

    def _read(self, buffer: bytes | bytearray, messages: list[Message], budget: int) -> int:
        """Appends to `messages` what is complete in `buffer`, and returns how many of its bytes are done with."""
        start, size = 0, len(buffer)
        bound = budget  # what may still be read ends here; it comes nearer with every frame
        try:
            while start < size and start < bound and not self._ended:
                if size - start >= _SMALL_HEADER_BYTES:
                    first, second, mask = _small_header(buffer, start)
                    length = second - _MASKED  # below 0 without a mask, above 125 with a longer header: both fail the test below
                    stop = start + _SMALL_HEADER_BYTES + length
                    if first == _FINAL_TEXT and 0 <= length <= MAX_SMALL_BYTES and stop <= size and self._fragments is None:
                        # The whole payload as one number, XORed with the mask repeated as often, less what stands over at its end.
                        masked = _from_bytes(buffer[start + _SMALL_HEADER_BYTES : stop])
                        payload = _to_bytes(masked ^ (mask * _REPEAT[length] >> _SURPLUS[length]), length)
                        messages.append((TEXT, payload if payload.isascii() else _utf8(payload)))
                        start = stop
                        bound -= FRAME_COST
                        continue
                stop = self._any_frame(buffer, start, messages)
                if stop == start:
                    break
                start = stop
                bound -= FRAME_COST
        except Refused as refused:
            self.error = refused.with_traceback(None)  # whose frames would keep this reader and the buffer alive
            self._ended = True
        if self._ended:
            start = size
        self.size_bytes = start
        self.frames = (budget - bound) // FRAME_COST
        self.stopped = bound <= start < size
        return start

    def _any_frame(self, buffer: bytes | bytearray, start: int, messages: list[Message]) -> int:
        """Takes the frame at `start` and returns where it stops, or `start` while it is unfinished. Raises Refused."""
        if len(buffer) - start < 2:
            return start
        first = buffer[start]
        self._check_kind(first, buffer[start + 1])
        header = _measure(buffer, start)
        if header is None:
            return start
        header_bytes, length = header
        if first & _OPCODE < CLOSE:  # control frames are at most 125 bytes, which `_check_kind` has seen
            self._check_length(length)
        body = start + header_bytes
        stop = body + length
        if stop > len(buffer):
            return start
        payload = _unmask(bytes(buffer[body:stop]), bytes(buffer[body - 4 : body]))
        self._take(first & _OPCODE, payload, messages, final=first >= _FINAL)
        return stop

    def _check_kind(self, first: int, second: int) -> None:
        """Checks the rules that the first two bytes can break. Raises Refused."""
        opcode = first & _OPCODE
        if first & _RESERVED:
            raise Refused("bad-frame", "a reserved bit is set, but no extension was agreed on")
        if opcode == BINARY:
            raise Refused("bad-frame", "this is a binary message; segue.v1 is JSON in text messages")
        if opcode not in (CONTINUATION, TEXT, CLOSE, PING, PONG):
            raise Refused("bad-frame", f"opcode {opcode} is not defined")
        if not second & _MASKED:
            raise Refused("bad-frame", "the frame is not masked; a client must mask every frame")
        if opcode >= CLOSE and (first < _FINAL or second & ~_MASKED > MAX_SMALL_BYTES):
            raise Refused("bad-frame", f"a control frame must be whole and carry at most {MAX_SMALL_BYTES} bytes")
        if opcode == CONTINUATION and self._fragments is None:
            raise Refused("bad-frame", "this frame continues a message that was not begun")
        if opcode == TEXT and self._fragments is not None:
            raise Refused("bad-frame", "a new message begins inside a fragmented one")

    def _check_length(self, length: int) -> None:
        """Raises Refused, before memory is taken, if the message so far and this frame are over the limit."""
        total = length + len(self._fragments or b"")
        if total > self.max_message_bytes:
            raise Refused("too-large", f"a message of {total} bytes; the limit is {self.max_message_bytes}")

    def _take(self, opcode: int, payload: bytes, messages: list[Message], *, final: bool) -> None:
        """Delivers a whole control frame or message, or keeps a fragment."""
        if opcode >= CLOSE:
            if opcode == CLOSE:
                _check_close(payload)
                self._ended = True
            messages.append((opcode, payload))
            return
        if self._fragments is not None or not final:
            self._fragments = self._fragments or bytearray()
            self._fragments += payload
            if not final:
                return
            payload, self._fragments = bytes(self._fragments), None
        messages.append((TEXT, _utf8(payload)))


def _measure(buffer: bytes | bytearray, start: int) -> tuple[int, int] | None:
    """Returns the bytes of the header, mask included, and of the payload; None while the header is unfinished."""
    length = buffer[start + 1] & ~_MASKED
    if length <= MAX_SMALL_BYTES:
        return _SMALL_HEADER_BYTES, length
    width, least = (2, MAX_SMALL_BYTES + 1) if length == 126 else (8, 1 << 16)
    if len(buffer) - start < 2 + width:
        return None
    length = _from_bytes(buffer[start + 2 : start + 2 + width])
    if length < least:
        raise Refused("bad-frame", f"the length {length} must be written in its shortest form")
    return _SMALL_HEADER_BYTES + width, length


def _unmask(payload: bytes, mask: bytes) -> bytes:
    """Returns `payload` XOR the four bytes of `mask` in turn (RFC 6455 5.3)."""
    length = len(payload)
    if length < _TRANSLATE_FROM_BYTES:
        pad = (mask * (length // 4 + 1))[:length]
        return _to_bytes(_from_bytes(payload) ^ _from_bytes(pad), length)
    plain = bytearray(payload)
    for offset in range(4):
        plain[offset::4] = plain[offset::4].translate(_XOR_WITH[mask[offset]])
    return bytes(plain)


def _utf8(payload: bytes) -> bytes:
    """Returns `payload` itself if it is UTF-8. Raises Refused."""
    try:
        payload.decode()
    except UnicodeDecodeError as wrong:
        raise Refused("bad-utf8", f"byte {wrong.start} of the text is not UTF-8: {wrong.reason}") from None
    return payload


def _check_close(payload: bytes) -> None:
    """Raises Refused unless a close frame is empty, or a number that may be sent and a text (RFC 6455 5.5.1, 7.4)."""
    if payload and (len(payload) == 1 or _from_bytes(payload[:2]) not in _CLOSE_NUMBERS):
        raise Refused("bad-frame", "a close frame must be empty or begin with a close code that may be sent")
    _utf8(payload[2:])
