"""Stamps: a payload tells the number and time of its publication, so that each delivery can be matched and timed (pure)."""

import re
from collections.abc import Callable
from typing import Final

PAYLOAD_BYTES: Final = 120
# A stamp is one decimal number: microseconds times NUMBERS, plus the number of the publication.
NUMBERS: Final = 10**10
_FRAME: Final = b'{"stamp":"@%026d","pad":""}'
_PADDING: Final = b"x" * (PAYLOAD_BYTES - len(_FRAME % 0))
_PAYLOAD: Final = _FRAME.replace(b'""', b'"%b"' % _PADDING)

# `find(buffer, start, stop)` returns all stamps between two positions of a buffer. One group of fixed width is the fastest pattern.
find: Final[Callable[..., list[bytes]]] = re.compile(rb"@([0-9]{26})").findall


def payload(at_us: int, number: int) -> bytes:
    """Returns a JSON object of `PAYLOAD_BYTES` for publication `number`, which was due at `at_us` (see `clock`)."""
    return _PAYLOAD % (at_us * NUMBERS + number)


def read(stamp: bytes) -> tuple[int, int]:
    """Returns when the publication was due, and its number. (`DeliveryLedger.settle` repeats this line, because it is on the hot path.)"""
    return divmod(int(stamp), NUMBERS)
