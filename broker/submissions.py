"""Bodies of publishing requests: bytes -> submissions, each of them readable or refused. Pure."""

from collections.abc import Iterable
from typing import Final, TypeVar

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.events import Submission
from infra.kernel.json_text import read_json

T = TypeVar("T")

_ONE: Final = msgspec.json.Decoder(Submission)
_MANY: Final = msgspec.json.Decoder(list[Submission])
_RAWS: Final = msgspec.json.Decoder(list[msgspec.Raw])
_UNREADABLE: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def decode_one(text: bytes) -> Submission | Refused:
    """Returns the one event in `text`, or why it is refused."""
    try:
        return read_json(text, _ONE)
    except Refused as refused:
        return refused


def decode_array(body: bytes, most: int) -> Iterable[Submission | Refused]:
    """Returns the events of a JSON array, each of them or why it is refused.

    They are read all at once, and one by one only if something is wrong, so that one bad event does not spoil the others. Raises
    `Refused` if `body` is no array at all, or one of over `most` events: an array is dealt with in one turn of the loop.
    """
    try:
        return _few(_MANY.decode(body), most)
    except _UNREADABLE:
        pass
    return map(decode_one, raw_items(body, most))


def raw_items(body: bytes, most: int) -> Iterable[bytes]:
    """Returns the text of each item of a JSON array. Raises `Refused` as `decode_array`."""
    try:
        return map(bytes, _few(_RAWS.decode(body), most))
    except _UNREADABLE as wrong:
        raise Refused("bad-json", str(wrong)) from wrong


def _few(found: list[T], most: int) -> list[T]:
    if len(found) > most:
        raise Refused("too-large", f"an array of {len(found)} events; send at most {most}, or NDJSON, which may be of any length")
    return found


def decode_lines(text: bytes) -> Iterable[Submission | Refused]:
    """Returns the events of NDJSON, each of them or why it is refused.

    An event is one line, wherever the stream was cut. msgspec alone does not mind the line ends, so they are counted.
    """
    try:
        found = _ONE.decode_lines(text)
        if len(found) == text.count(b"\n") + 1:
            return found
    except _UNREADABLE:
        pass
    return (decode_one(line) for line in text.split(b"\n") if line.strip())
