"""Retention: by which clock what is stored grows old. Pure.

A clock that is wrong for one start must not cost what is stored. So a leap ahead is not believed at once: the time by which things expire
stands still until the clock has gone on from there for a while, and follows it then. A module that was down for that long keeps things a
little longer.
"""

from typing import Final, NamedTuple

DAY_MS: Final = 86_400_000
# A leap is longer than this, or than a quarter of the retention time where that is shorter.
LEAP_MS: Final = DAY_MS
# For so long a clock must go on after a leap, or for the retention time where that is shorter.
HOLD_MS: Final = 7 * DAY_MS


class Lived(NamedTuple):
    """The time that has passed for what is stored, in Unix milliseconds.

    - `trusted_ms`: the time by which things expire.
    - `doubted_ms`: what a clock said last that has leapt ahead; 0 while there is no doubt.
    - `since_ms`: what it said first.
    """

    trusted_ms: int
    doubted_ms: int = 0
    since_ms: int = 0

    @property
    def in_doubt(self) -> bool:
        """Whether the clock has leapt ahead, and is not believed yet."""
        return self.doubted_ms > 0


def lived_on(lived: Lived, wall_ms: int, retention_ms: int) -> Lived:
    """Returns how far time has come when a clock says `wall_ms`, for what is kept for `retention_ms`."""
    leap_ms, hold_ms = min(LEAP_MS, retention_ms // 4), min(HOLD_MS, retention_ms)
    if wall_ms - lived.trusted_ms <= leap_ms:
        return Lived(wall_ms)  # also where it has gone back: then things live the longer
    if lived.in_doubt and 0 <= wall_ms - lived.doubted_ms <= leap_ms:
        return Lived(wall_ms) if wall_ms - lived.since_ms >= hold_ms else lived._replace(doubted_ms=wall_ms)
    return Lived(lived.trusted_ms, wall_ms, wall_ms)
