"""Gains: about how many clients follow a topic, in powers of two, a byte for each row. Pure.

A gain is the number of bits of the number of followers: 0 for nobody, 1 for one, 2 for two or three, 3 for four to seven. It is what an
event of the topic is worth where not all events can go (DPS-20). It changes when the number is well outside. So one who comes and goes
is not told each time.
"""

from collections.abc import Sequence
from typing import Final

MOST: Final = 63
# So far a number may be outside before the gain changes.
SLACK: Final = 0.25


def gain_of(followers: float) -> int:
    """Returns the gain of so many followers."""
    return min(int(followers).bit_length(), MOST)


def followers_of(gain: int) -> float:
    """Returns about how many followers a `gain` means: the middle of those that have it."""
    return ((1 << gain - 1) + (1 << gain) - 1) / 2 if gain else 0.0


def settled(gain: int, followers: float) -> int:
    """Returns the gain of so many followers of a topic that had this `gain` before: the same, unless they are well outside of it."""
    low, high = (1 << gain >> 1) * (1 - SLACK), (1 << gain) * (1 + SLACK)
    return gain if gain and low <= followers < high else gain_of(followers)


class Gains:
    """The gain of each row; 0 of one of which nothing was told."""

    __slots__ = ("_of_row",)

    def __init__(self) -> None:
        self._of_row = bytearray()

    def __getitem__(self, row: int) -> int:
        """Returns the gain of `row`."""
        return self._of_row[row] if row < len(self._of_row) else 0

    def __setitem__(self, row: int, gain: int) -> None:
        """Notes the gain of `row`; a peer may tell more than there is."""
        if row >= len(self._of_row):
            self._of_row += bytes(row + 1 - len(self._of_row))
        self._of_row[row] = min(gain, MOST)

    def told(self, rows: Sequence[int]) -> bytes:
        """Returns what is told of `rows` that are followed, so by one at least."""
        return bytes(self[row] or 1 for row in rows)
