"""The period of a trace as a row of fine bins, with the local hour and day of each."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import numpy as np
import numpy.typing as npt
import pandas as pd

from analytics.errors import NotSupported, TraceError
from infra.kernel.manifest import Manifest

MINUTE_MS: Final = 60_000
HOUR_MS: Final = 60 * MINUTE_MS
DAY_MS: Final = 24 * HOUR_MS
# The offsets of all time zones in use are multiples of it.
_QUARTER_MS: Final = 15 * MINUTE_MS
# Widths to choose from for a period that is too short for hours, so that a line has some points.
_WIDTHS_MS: Final = (1_000, 5_000, 15_000, MINUTE_MS, 5 * MINUTE_MS, _QUARTER_MS)
_ENOUGH_BINS: Final = 240
_SHORT_MS: Final = 2 * DAY_MS
_MOST_BINS: Final = 1 << 20
# 1 January 1970 was a Thursday.
_FIRST_WEEKDAY: Final = 3

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Series = Mapping[str, Floats]


@dataclass(frozen=True, slots=True)
class Grid:
    """A period as fine bins.

    - `start_ms`, `end_ms`: the period.
    - `bins`: how many fine bins there are, of `step_ms` each, from `origin_ms` on. `per_bin` of them make one bin of a drawn line.
    - `hour` (0-23), `day` (days since 1970): of each fine bin where it begins, in the zone of the trace.
    - `whole`: the days that lie wholly in the period, in order.
    """

    start_ms: int
    end_ms: int
    origin_ms: int
    step_ms: int
    bins: int
    per_bin: int
    hour: Ints
    day: Ints
    whole: Ints

    @classmethod
    def of(cls, manifest: Manifest, bin_minutes: int | None) -> Self:
        """Makes the grid of a manifest. Bins begin at local midnight and are `bin_minutes` wide.

        Without a width they are hours, and less if the period is shorter than two days. Raises NotSupported without a period, or with one
        that is too long; TraceError for a bad zone.
        """
        start_ms, end_ms = manifest.start_ms, manifest.end_ms
        if start_ms is None or end_ms is None:
            raise NotSupported("the source has no times")
        if end_ms <= start_ms:
            raise TraceError(f"the manifest says that the period ends at {end_ms} ms, and that is not after its start, {start_ms} ms")
        zone = _zone(manifest.time_zone)
        bin_ms = _width_ms(end_ms - start_ms) if bin_minutes is None else bin_minutes * MINUTE_MS
        # So fine that a bin of a line, and a local hour of any zone, is made of whole ones.
        step_ms = math.gcd(bin_ms, _QUARTER_MS)
        midnight_ms = _midnight_ms(start_ms, zone)
        origin_ms = midnight_ms + (start_ms - midnight_ms) // bin_ms * bin_ms
        bins = -(-(end_ms - origin_ms) // bin_ms) * (bin_ms // step_ms)
        if bins > _MOST_BINS:
            raise NotSupported(
                f"{(end_ms - start_ms) / DAY_MS:,.0f} days are too long for bins of {step_ms // MINUTE_MS} minutes; choose a shorter period"
            )
        local_ms = _local_ms(np.arange(bins, dtype=np.int64) * step_ms + origin_ms, zone)
        # The days of the last moment before the period and of the first one after it: all days between them are whole.
        before, after = _local_ms(np.array([start_ms - 1, end_ms], np.int64), zone) // DAY_MS
        return cls(
            start_ms,
            end_ms,
            origin_ms,
            step_ms,
            bins,
            bin_ms // step_ms,
            local_ms // HOUR_MS % 24,
            local_ms // DAY_MS,
            np.arange(before + 1, after, dtype=np.int64),
        )

    @property
    def days(self) -> float:
        """Length of the period in days."""
        return (self.end_ms - self.start_ms) / DAY_MS

    def times_ms(self, per_bin: int) -> Ints:
        """Returns where each bin of `per_bin` fine ones begins."""
        return np.arange(0, self.bins, per_bin, dtype=np.int64) * self.step_ms + self.origin_ms

    def per_hour(self, counts: Floats, per_bin: int) -> Floats:
        """Returns counts of fine bins as a rate in each bin of `per_bin`, over the part of the bin that lies in the period."""
        begins = self.times_ms(per_bin)
        ends = np.minimum(begins + per_bin * self.step_ms, self.end_ms)
        covered_ms = ends - np.maximum(begins, self.start_ms)
        rates: Floats = np.add.reduceat(counts, np.arange(0, self.bins, per_bin)) * HOUR_MS / covered_ms
        return rates

    def by_hour(self, counts: Floats) -> Floats:
        """Returns totals of whole days, a row of 24 hours each. An hour that the clock skips has 0, one that it repeats has both."""
        table = np.zeros((len(self.whole), 24))
        inside = self._inside
        if len(self.whole):
            # Not `table[...] +=`, which adds once for each place: several fine bins are in one hour.
            np.add.at(table, (self.day[inside] - self.whole[0], self.hour[inside]), counts[inside])
        return table

    def by_day(self, counts: Floats) -> Floats:
        """Returns totals of whole days."""
        totals: Floats = self.by_hour(counts).sum(axis=1)
        return totals

    @property
    def weekday(self) -> Ints:
        """Weekday of each whole day, 0 = Monday."""
        return (self.whole + _FIRST_WEEKDAY) % 7

    @property
    def _inside(self) -> npt.NDArray[np.bool_]:
        return np.isin(self.day, self.whole)


def _width_ms(period_ms: int) -> int:
    if period_ms >= _SHORT_MS:
        return HOUR_MS
    return next((width for width in _WIDTHS_MS if period_ms <= width * _ENOUGH_BINS), HOUR_MS)


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise TraceError(
            f'the manifest says "time_zone": {name!r}, and there is no such zone; name one as in Europe/Stockholm, or UTC'
        ) from None


def _midnight_ms(at_ms: int, zone: ZoneInfo) -> int:
    local = datetime.fromtimestamp(at_ms / 1000, zone).replace(hour=0, minute=0, second=0, microsecond=0)
    return round(local.timestamp() * 1000)


def _local_ms(times_ms: Ints, zone: ZoneInfo) -> Ints:
    """Returns what the clock in the zone shows, as milliseconds since 1970 began there."""
    shown = pd.DatetimeIndex(times_ms.astype("datetime64[ms]"), tz="UTC").tz_convert(zone).tz_localize(None)
    local_ms: Ints = shown.to_numpy().astype("datetime64[ms]").astype(np.int64)
    return local_ms
