"""Bins of time, and hours and days in the zone of the trace."""

from datetime import UTC, datetime

import msgspec
import numpy as np
import pytest

from analytics.characterization.grid import DAY_MS, HOUR_MS, Grid
from analytics.errors import NotSupported, TraceError
from infra.kernel.manifest import Manifest
from tests.support.traces import BARE


def _at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()) * 1000


def _about(start: str, end: str, zone: str = "UTC") -> Manifest:
    return msgspec.structs.replace(BARE, start_ms=_at(start), end_ms=_at(end), time_zone=zone)


def test_bins_begin_at_local_midnight_and_hours_are_those_of_the_zone() -> None:
    grid = Grid.of(_about("2013-01-09T23:00", "2013-01-11T23:00", "Europe/Stockholm"), 60)
    assert grid.times_ms(grid.per_bin)[0] == _at("2013-01-09T23:00")
    assert grid.hour[:4].tolist() == [0, 0, 0, 0]
    assert (len(grid.whole), grid.weekday.tolist(), grid.days) == (2, [3, 4], 2)


def test_a_zone_with_an_offset_of_half_an_hour_has_its_own_hours() -> None:
    grid = Grid.of(_about("2013-01-09T18:30", "2013-01-10T18:30", "Asia/Kolkata"), 60)
    assert np.bincount(grid.hour).tolist() == [4] * 24
    assert grid.whole.tolist() == [_at("2013-01-10T00:00") // DAY_MS]


def test_days_that_are_not_wholly_in_the_period_are_not_whole() -> None:
    grid = Grid.of(_about("2013-01-09T00:01", "2013-01-11T23:59"), 60)
    assert grid.whole.tolist() == [_at("2013-01-10T00:00") // DAY_MS]
    assert Grid.of(_about("2013-01-09T01:00", "2013-01-09T20:00"), 60).whole.tolist() == []


def test_the_day_on_which_clocks_change_is_whole_and_its_skipped_hour_is_empty() -> None:
    grid = Grid.of(_about("2013-03-30T23:00", "2013-03-31T22:00", "Europe/Stockholm"), 60)
    assert len(grid.whole) == 1
    assert grid.by_hour(np.ones(grid.bins))[0].tolist() == [4, 4, 0] + [4] * 21


def test_a_rate_counts_only_what_of_a_bin_lies_in_the_period() -> None:
    grid = Grid.of(_about("2013-01-09T00:30", "2013-01-09T02:15"), 60)
    counts = np.zeros(grid.bins)
    counts[[2, 4, 8]] = 5, 6, 7
    assert grid.per_hour(counts, grid.per_bin).tolist() == [10, 6, 28]


def test_bins_that_no_quarter_fits_are_made_of_smaller_ones() -> None:
    grid = Grid.of(_about("2013-01-09T00:00", "2013-01-10T00:00"), 7)
    assert (grid.step_ms, grid.per_bin) == (60_000, 7)
    assert grid.bins * grid.step_ms >= DAY_MS
    assert HOUR_MS % grid.step_ms == 0


def test_what_has_no_times_or_too_many_is_not_supported() -> None:
    with pytest.raises(NotSupported, match="has no times"):
        Grid.of(msgspec.structs.replace(BARE, start_ms=None, end_ms=None), 60)
    with pytest.raises(NotSupported, match="too long for bins of 15 minutes"):
        Grid.of(_about("1956-01-01", "2013-01-01"), 60)


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd"])
def test_a_zone_that_is_none_is_told_with_the_remedy(zone: str) -> None:
    with pytest.raises(TraceError, match="name one as in Europe/Stockholm, or UTC"):
        Grid.of(_about("2013-01-09", "2013-01-10", zone), 60)


@pytest.mark.parametrize(
    ("end", "width_s", "bins"),
    [("2013-01-09T00:00:20", 1, 20), ("2013-01-09T00:10", 5, 120), ("2013-01-09T12:00", 300, 144), ("2013-01-12T00:00", 3600, 72)],
)
def test_a_period_that_is_too_short_for_hours_has_finer_bins(end: str, width_s: int, bins: int) -> None:
    grid = Grid.of(_about("2013-01-09T00:00", end), None)
    assert grid.per_bin * grid.step_ms == width_s * 1000
    assert len(grid.times_ms(grid.per_bin)) == bins
