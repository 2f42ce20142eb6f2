"""JSON that came from outside, read as a value of a type; what is wrong with it is one of three codes. Pure."""

from typing import TypeVar

import msgspec

from .errors import Refused

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
