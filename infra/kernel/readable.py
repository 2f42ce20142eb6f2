"""JSON that every reader can read.

JSON knows no limits of its own, but every reader does, and they differ. What one node takes must not break the next node, or a client
that has to read past it to the next event. So text that is passed on as it came is read here once as a whole.
"""

import re
from typing import Final

import msgspec

from .errors import Refused

MAX_LEVELS: Final = 32
# Beyond this whole number JavaScript leaves out some.
LAST_EXACT: Final = (1 << 53) - 1

_ARRAY: Final = ord("[")
_TEXTS: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_OTHERS: Final = bytes(set(range(256)) - set(b"[]{}"))
_ALIKE: Final = bytes.maketrans(b"{}", b"[]")
# A typed decoder passes over fields that it does not know, and never looks at their numbers and texts. This one reads all of them.
_READ: Final = msgspec.json.Decoder().decode


def check_readable(text: bytes) -> None:
    """Checks that any reader of JSON can read `text`.

    Raises `Refused`: bad-json for what is no JSON, for a number that is too large for a double (`1e999`) and for more than `MAX_LEVELS`
    arrays and objects inside of each other; bad-utf8 for bytes that are not UTF-8.
    """
    try:
        if not text.isascii():
            text.decode()  # the reader of JSON would not say which byte it is
        _READ(text)
    except UnicodeDecodeError as wrong:
        raise Refused("bad-utf8", f"byte {wrong.start} is not UTF-8") from wrong
    except (msgspec.DecodeError, RecursionError) as wrong:
        raise Refused("bad-json", str(wrong)) from wrong
    # An object without another one and without an array, as most are, is seen to be flat at less cost than brackets are counted.
    if (_ARRAY in text or text.find(b"{", 1) > 0) and text.count(b"[") + text.count(b"{") > MAX_LEVELS:
        _check_levels(text)


def _check_levels(text: bytes) -> None:
    # Only the brackets outside of texts are left, all of one kind. Each round takes the innermost pairs away, so what is left after
    # `MAX_LEVELS` rounds was deeper.
    brackets = _TEXTS.sub(b"", text).translate(_ALIKE, _OTHERS)
    for _ in range(MAX_LEVELS):
        brackets = brackets.replace(b"[]", b"")
    if brackets:
        raise Refused("bad-json", f"more than {MAX_LEVELS} arrays and objects inside of each other")
