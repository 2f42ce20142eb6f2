"""Times of day in a user's time zone, as instants: milliseconds since 1970 UTC. Each comes exactly once on each day.

Rule: where clocks are put back, a time that exists twice means the first one. Where they are put forward, a time that does not
exist means the end of the gap.
"""

from datetime import date, datetime, time, timedelta
from functools import lru_cache
from typing import Final
from zoneinfo import ZoneInfo

UTC: Final = ZoneInfo("UTC")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MS: Final = timedelta(milliseconds=1)
# More than there are; `ZoneInfo` itself keeps few, and reads the others anew from their files.
_ZONES: Final = 1 << 10


@lru_cache(maxsize=_ZONES)
def zone_named(name: str) -> ZoneInfo:
    """Returns the time zone. Raises `KeyError`, `ValueError` or `OSError` where there is none of that name."""
    return ZoneInfo(name)


def local_date(zone: ZoneInfo, at_ms: int) -> date:
    """Returns what the calendar in `zone` says at the instant `at_ms`."""
    return (_EPOCH + at_ms * _MS).astimezone(zone).date()


def instant_ms(zone: ZoneInfo, day: date, at: time) -> int:
    """Returns when the clocks in `zone` show `at` on `day`, by the rule above."""
    shown = datetime.combine(day, at, zone)
    instant = shown.astimezone(UTC)
    # A time in the gap does not come back from UTC as it went there.
    if instant.astimezone(zone).replace(tzinfo=None) != shown.replace(tzinfo=None):
        instant = _end_of_gap(zone, shown)
    return (instant - _EPOCH) // _MS


def _end_of_gap(zone: ZoneInfo, missing: datetime) -> datetime:
    """Returns the moment when the clocks are put forward over `missing`, to the second."""
    # Read with the offset after the gap it lies before that moment, read with the one before the gap, after it (PEP 495).
    early, late = (missing.replace(fold=fold).astimezone(UTC) for fold in (1, 0))
    after = late.astimezone(zone).utcoffset()
    while late - early > timedelta(seconds=1):
        middle = early + timedelta(seconds=(late - early) // timedelta(seconds=2))
        if middle.astimezone(zone).utcoffset() == after:
            late = middle
        else:
            early = middle
    return late
