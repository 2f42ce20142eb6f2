"""The day and the week, in counts whose shape is known."""

import msgspec
import numpy as np
import pytest

from analytics.characterization import cycles
from analytics.characterization.grid import DAY_MS, Floats, Grid
from tests.support.traces import BARE

# Two weeks from a Monday on.
_GRID = Grid.of(msgspec.structs.replace(BARE, start_ms=4 * DAY_MS, end_ms=18 * DAY_MS), 15)


def _by_hour(hours: dict[int, float], floor: float = 0) -> Floats:
    counts = np.full(_GRID.bins, floor)
    for hour, number in hours.items():
        counts[_GRID.hour == hour] = number / 4
    return counts


def test_the_peak_is_the_centre_of_the_hour_smoothed_over_three() -> None:
    evening = _by_hour({17: 9, 18: 10, 19: 9, 1: 0, 2: 2, 3: 12}, floor=1)
    assert cycles.peak_and_trough(_GRID, evening) == (18.5, 1.5)
    assert cycles.peak_and_trough(_GRID, np.zeros(_GRID.bins)) == (None, None)


def test_weekends_and_sundays_are_held_against_weekdays() -> None:
    weekday = (_GRID.day + 3) % 7
    counts = np.select([weekday == 5, weekday == 6], [3.0, 5.0], 8.0)
    found = cycles.publication_measures(_GRID, {"presence": counts})
    assert found["publications.weekend.presence"] == pytest.approx(4 / 8)
    assert found["publications.sunday.presence"] == pytest.approx(5 / 8)
    assert cycles.weekday_shares(_GRID, counts).tolist() == pytest.approx([8 / 48] * 5 + [3 / 48, 5 / 48])


def test_the_order_of_services_is_judged_day_by_day() -> None:
    playlist = np.where(_GRID.day == _GRID.whole[0], 9.0, 3.0)
    series = {"presence": _by_hour({}, 8), "playlist": playlist, "social": _by_hour({}, 1), "artist": _by_hour({}, 1)}
    assert cycles.publication_measures(_GRID, series)["publications.daily_order"] == pytest.approx(13 / 14)
    del series["playlist"]
    assert cycles.publication_measures(_GRID, series)["publications.daily_order"] is None


def test_a_day_with_one_spike_is_told_from_one_with_two() -> None:
    artist = _by_hour({10: 20}, floor=0.1)
    artist[(_GRID.day == _GRID.whole[3]) & (_GRID.hour == 15)] = 5
    assert cycles.publication_measures(_GRID, {"artist": artist})["publications.spikes_per_day.artist"] == pytest.approx(13 / 14)


def test_live_subscriptions_vary_by_their_largest_difference_at_equal_hours() -> None:
    level = np.where((_GRID.day == _GRID.whole[5]) & (_GRID.hour == 7), 114.0, 100.0)
    found = cycles.live_measures(_GRID, {"presence": level * 0.8, "artist": level * 0.2})
    assert found["live.variation"] == pytest.approx(14 / 101)
    assert found["live.share.presence"] == pytest.approx(0.8)


def test_the_weeks_of_two_things_differ_where_their_shares_do() -> None:
    begun = np.where((_GRID.day + 3) % 7 == 4, 4.0, 1.0)
    found = cycles.churn_measures(_GRID, begun, begun * 0.5, np.ones(_GRID.bins))
    assert found["churn.weekly_difference"] == pytest.approx(0.4 - 1 / 7)
    assert found["churn.imbalance"] == pytest.approx(0.5 / 1.5 * 2)
    assert cycles.churn_measures(_GRID, begun, begun, None)["churn.weekly_difference"] is None
