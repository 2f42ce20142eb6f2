"""Frames <-> bytes: a four-byte big-endian length, then one MessagePack array.

Rule: garbage in means frames out or `Refused`, never another error; lengths are checked before memory is reserved.
"""

from struct import Struct, error
from typing import Final

import msgspec

from . import frames
from .errors import Refused
from .topics import is_topic

_LENGTH: Final = Struct(">I")
_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(frames.Any)
MAX_FRAME_BYTES: Final = 8 << 20


def encode(frame: frames.Frame) -> bytes:
    """The bytes of `frame`, length prefix included."""
    body = _ENCODER.encode(frame)
    return _LENGTH.pack(len(body)) + body


class FrameDecoder:
    """Incremental: bytes in any portions -> frames. Holds at most one unfinished frame."""

    __slots__ = ("_max_frame_bytes", "_rest")

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self._rest = b""
        self._max_frame_bytes = max_frame_bytes

    def feed(self, data: bytes) -> list[frames.Any]:
        """Frames completed by `data`. Raises `Refused("bad-link-frame")`; the decoder is of no use afterwards."""
        if self._rest:
            data = self._rest + data
        found: list[frames.Any] = []
        start, size = 0, len(data)
        view = memoryview(data)
        while size - start >= 4:
            (length,) = _LENGTH.unpack_from(data, start)
            if length > self._max_frame_bytes:
                raise Refused("bad-link-frame", f"a frame of {length} bytes is over the limit of {self._max_frame_bytes}")
            if size - start - 4 < length:
                break
            found.append(_decode(view[start + 4 : start + 4 + length]))
            start += 4 + length
        self._rest = data[start:] if start < size else b""
        return found


def _decode(body: memoryview) -> frames.Any:
    try:
        frame: frames.Any = _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, error) as wrong:
        raise Refused("bad-link-frame", f"not a frame: {wrong}") from wrong
    _check(frame)
    return frame


def _check(frame: frames.Any) -> None:
    """What the types cannot say: lists that belong together are equally long, topics are topics."""
    match frame:
        case frames.Deliver(handles, bodies):
            fits = len(handles) == len(bodies)
        case frames.Subscribe(_, handles, topics):
            fits = len(handles) == len(topics) and all(map(is_topic, topics))
        case frames.Unsubscribe(_, topics):
            fits = all(map(is_topic, topics))
        case frames.Publish(_, _, topics, ids, tails):
            fits = len(topics) == len(ids) == len(tails) and all(map(is_topic, topics))
        case _:
            fits = True
    if not fits:
        raise Refused("bad-link-frame", f"{type(frame).__name__} with lists of different length or a malformed topic")
