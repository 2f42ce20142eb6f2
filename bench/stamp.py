"""Stamps: what a payload says about its publication, so that each delivery can be matched and timed (pure)."""

import re
from collections.abc import Callable
from typing import Final

PAYLOAD_BYTES: Final = 120
# A stamp is one decimal number: microseconds times NUMBERS, plus the number of the publication.
NUMBERS: Final = 10**10
_FRAME: Final = b'{"stamp":"@%026d","pad":""}'
_PADDING: Final = b"x" * (PAYLOAD_BYTES - len(_FRAME % 0))
_PAYLOAD: Final = _FRAME.replace(b'""', b'"%b"' % _PADDING)

# All stamps between two positions of a buffer: `find(buffer, start, stop)`. One group of fixed width is the fastest.
find: Final[Callable[..., list[bytes]]] = re.compile(rb"@([0-9]{26})").findall


def payload(at_us: int, number: int) -> bytes:
    """Returns a JSON object of `PAYLOAD_BYTES` for publication `number`, due at `at_us` (see `clock`)."""
    return _PAYLOAD % (at_us * NUMBERS + number)


def read(stamp: bytes) -> tuple[int, int]:
    """When the publication was due, and its number. (`DeliveryLedger.settle` has this line inlined.)"""
    return divmod(int(stamp), NUMBERS)
