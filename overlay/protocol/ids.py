"""Node ids on a circle: after the highest comes 0 again (P2P-1). Pure: an id is a number below SPACE."""

from typing import Final

BITS: Final = 62
SPACE: Final = 1 << BITS
_MASK: Final = SPACE - 1


def ahead(start: int, end: int) -> int:
    """Returns how far it is from `start` up to `end`, over the highest id if need be: 0 to SPACE - 1."""
    return (end - start) & _MASK


def apart(one: int, other: int) -> int:
    """Returns how far two ids are from each other, the shorter way round."""
    up = (other - one) & _MASK
    return min(up, SPACE - up)


def between(start: int, middle: int, end: int) -> bool:
    """Returns whether `middle` comes before `end` for those who go up from `start`. With `start` = `end` that is every id but `start`."""
    way, whole = ahead(start, middle), ahead(start, end)
    return way > 0 and (way < whole or whole == 0)
