"""The followers of one artist: names in no order, as a page of followers has them (pure)."""

from collections.abc import Iterator
from itertools import islice
from typing import Final

import msgspec

PAGE: Final = 1000
# Prime to the number of names, so that none comes twice.
_STRIDE: Final = 61_803_399
_NAMES: Final = 10**8
_ENCODE: Final = msgspec.json.Encoder().encode


def names(number: int) -> Iterator[str]:
    """Yields `number` names, always the same."""
    return (f"f{n * _STRIDE % _NAMES:08d}" for n in range(number))


def pages(number: int) -> Iterator[list[str]]:
    """Yields the same names, a page at a time."""
    source = names(number)
    return iter(lambda: list(islice(source, PAGE)), [])


def lines(number: int) -> Iterator[bytes]:
    """Yields the same names as lines of a stream, a page a line."""
    return (_ENCODE({"followers": page}) + b"\n" for page in pages(number))
