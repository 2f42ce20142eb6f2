"""Frames <-> bytes: a four-byte big-endian length, then one MessagePack array.

Rule: garbage in means frames out or `Refused`, never another error. Lengths are checked before memory is reserved.
"""

from struct import Struct
from typing import Final

import msgspec

from . import frames
from .errors import Refused
from .topics import are_topics

_LENGTH: Final = Struct(">I")
_ENCODER: Final = msgspec.msgpack.Encoder()
_DECODER: Final = msgspec.msgpack.Decoder(frames.AnyFrame)
MAX_FRAME_BYTES: Final = 8 << 20
# What a stranger may send: room for a hello with the longest names of the most slots.
MAX_HELLO_BYTES: Final = 1 << 16
# Frequent frames of which the types say everything.
_SOUND: Final = frozenset({frames.Heartbeat, frames.Applied, frames.Settled, frames.CopiesHeld})


def encode(frame: frames.Frame) -> bytes:
    """Returns the bytes of `frame`, with the length in front."""
    body = _ENCODER.encode(frame)
    return _LENGTH.pack(len(body)) + body


class FrameDecoder:
    """An incremental decoder: bytes in any portions -> frames. It holds at most one unfinished frame."""

    __slots__ = ("_needed", "_rest", "max_frame_bytes")

    def __init__(self, max_frame_bytes: int = MAX_FRAME_BYTES) -> None:
        self._rest = bytearray()
        self._needed = 0
        self.max_frame_bytes = max_frame_bytes

    def feed(self, data: bytes) -> list[frames.AnyFrame]:
        """Returns the frames that `data` completes. Raises `Refused("bad-link-frame")`; the decoder is of no use afterwards."""
        if self._rest:
            # Appended until the frame is whole, and decoded once: a large frame in many portions is not copied again and again.
            self._rest += data
            if len(self._rest) < self._needed:
                return []
            data = bytes(self._rest)
        found: list[frames.AnyFrame] = []
        start, end, view = 0, self._end_of_frame(data, 0), memoryview(data)
        while end <= len(data):
            found.append(_decode(view[start + _LENGTH.size : end]))
            start, end = end, self._end_of_frame(data, end)
        self._rest, self._needed = bytearray(data[start:]), end - start
        return found

    def _end_of_frame(self, data: bytes, start: int) -> int:
        """Returns where the frame at `start` ends, or where its length ends as long as that is not there."""
        begin = start + _LENGTH.size
        if len(data) < begin:
            return begin
        (length,) = _LENGTH.unpack_from(data, start)
        if length > self.max_frame_bytes:  # before anything is kept: four bytes must not reserve four gigabytes
            raise Refused("bad-link-frame", f"a frame of {length} bytes is over the limit of {self.max_frame_bytes}")
        return begin + int(length)


def _decode(body: memoryview) -> frames.AnyFrame:
    try:
        frame: frames.AnyFrame = _DECODER.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as wrong:
        raise Refused("bad-link-frame", f"not a frame: {wrong}") from wrong
    if type(frame) not in _SOUND:
        _check(frame)
    return frame


def _check(frame: frames.AnyFrame) -> None:
    """Checks what the types cannot say: lists that belong together are equally long, topics are topics."""
    match frame:
        case frames.Deliver(handles, bodies):
            fits = len(handles) == len(bodies)  # first: nearly all frames are deliveries
        case frames.Subscribe(_, handles, topics, gains):
            fits = len(handles) == len(topics) and len(gains) in (0, len(topics)) and are_topics(topics)
        case frames.Unsubscribe(_, topics):
            fits = are_topics(topics)
        case frames.Publish(_, _, topics, ids, tails):
            fits = len(topics) == len(ids) == len(tails) and are_topics(topics)
        case frames.Moved(topics, lasts, ids):
            fits = len(topics) == len(lasts) == len(ids) and are_topics(topics)
        case frames.Here(users, clients, devices):
            fits = len(users) == len(clients) == len(devices)
        case frames.Gone(users, clients):
            fits = len(users) == len(clients)
        case frames.Tally(topics, counts):
            fits = len(topics) == len(counts) and are_topics(topics)
        case frames.Followed(users, topics) | frames.Unfollowed(users, topics):
            fits = len(users) == len(topics) and are_topics(topics)
        case frames.Barred(owners, askers):
            fits = len(owners) == len(askers)
        case frames.Recall(topics=topics, since=since):
            fits = len(since) in (0, len(topics)) and are_topics(topics)
        case frames.Recalled(_, topics, reasons, counts, bodies, quiet=quiet):
            fits = len(topics) == len(reasons) == len(counts) and sum(counts) == len(bodies) and are_topics(topics)
            fits = fits and len(quiet) in (0, len(topics))
        case frames.KeptEvents(topics, followed, counts, epochs, stamps, bodies, lost, replaced, unheard):
            fits = len(topics) == len(followed) == len(counts) == len(lost) == len(replaced) and are_topics(topics)
            fits = fits and len(unheard) in (0, len(topics)) and sum(counts) == len(epochs) == len(stamps) == len(bodies)
        case frames.Copies(parts=parts):
            for part in parts:
                _check(part)
            fits = True
        case frames.Lost(topics):
            fits = are_topics(topics)
        case frames.Assignment(leave=leave, come=come):
            fits = are_topics(leave) and are_topics(come)
        case _:
            fits = True
    if not fits:
        raise Refused("bad-link-frame", f"{type(frame).__name__} with lists of different length or a malformed topic")
