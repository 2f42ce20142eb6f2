"""Nesting: how deep JSON may go that others will have to read.

JSON has no limit of its own, but every reader has one, and they differ. What one node takes must not break the next node, or a client
that has to read past it to the next event.
"""

import re
from typing import Final

from .errors import Refused

MAX_LEVELS: Final = 32

_TEXTS: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_OTHERS: Final = bytes(set(range(256)) - set(b"[]{}"))
_ALIKE: Final = bytes.maketrans(b"{}", b"[]")


def check_nesting(text: bytes) -> None:
    """Raises `Refused("bad-json")` if more than `MAX_LEVELS` arrays and objects of `text`, which must be JSON, are inside of each other."""
    if text.count(b"[") + text.count(b"{") <= MAX_LEVELS:
        return  # nearly always
    # Only the brackets outside of texts are left, all of one kind. Each round takes the innermost pairs away, so what is left after
    # `MAX_LEVELS` rounds was deeper.
    brackets = _TEXTS.sub(b"", text).translate(_ALIKE, _OTHERS)
    for _ in range(MAX_LEVELS):
        brackets = brackets.replace(b"[]", b"")
    if brackets:
        raise Refused("bad-json", f"more than {MAX_LEVELS} arrays and objects inside of each other")
