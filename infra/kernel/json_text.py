"""JSON that came from outside, read as a value of a type; what is wrong with it is one of three codes. Pure."""

from typing import TypeVar

import msgspec

from .errors import Refused
from .readable import check_readable

T = TypeVar("T")


def read_json(text: bytes, decoder: msgspec.json.Decoder[T]) -> T:
    """Returns what `text` says. Raises `Refused` (bad-json, bad-utf8, bad-field) with a reason that teaches."""
    try:
        return decoder.decode(text)
    except msgspec.ValidationError as wrong:
        raise Refused("bad-field", str(wrong)) from wrong
    except UnicodeDecodeError as wrong:
        raise Refused("bad-utf8", f"a name or text is not UTF-8: {wrong.reason}") from wrong
    except (msgspec.DecodeError, RecursionError) as wrong:
        raise Refused("bad-json", str(wrong)) from wrong


def typed(text: bytes, kind: type[T]) -> T:
    """Returns what `text` says as a value of `kind`, in which every reader finds the same. Raises `Refused` as `read_json`."""
    value = read_json(text, msgspec.json.Decoder(kind))
    check_readable(text)
    return value
