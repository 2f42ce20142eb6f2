"""The course of activity, by service (thesis 5.1.2).

Quantiles at equal distances stand for very many events, so nothing here is by chance.
"""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.stats import chi2_contingency

from analytics.generator.clock import STEP_MS, Activity, ActivityClock, clock
from analytics.generator.profile import profile, rng

HOUR_MS = 3_600_000
SPOTIFY = profile("spotify", 0.01, 1)
FRIDAYS, SATURDAYS, SUNDAY, WEEKDAYS = [1, 8], [2, 9], [3], [0, 1, 4, 5, 6, 7, 8]


def hourly(activity: Activity, n: int = 1_000_000) -> NDArray[np.int64]:
    """Counts events by day and hour; days begin on Thursday."""
    times = clock(SPOTIFY, activity).at((np.arange(n) + 0.5) / n)
    return np.bincount((times - SPOTIFY.start_ms) // HOUR_MS, minlength=240).reshape(10, 24)


@pytest.mark.parametrize("service", ["presence", "playlist"])
def test_every_day_is_busiest_about_18_and_quietest_about_2(service: Activity) -> None:
    """WA-12: the centre of the hour is within one hour."""
    days = hourly(service)
    assert np.all(np.abs(days.argmax(axis=1) + 0.5 - 18) <= 1)
    assert np.all(np.abs(days.argmin(axis=1) + 0.5 - 2) <= 1)


def test_presence_is_slightly_lower_on_weekends_and_playlists_are_slightly_higher_on_sunday() -> None:
    """WA-12"""
    presence, playlist = hourly("presence").sum(axis=1), hourly("playlist").sum(axis=1)
    assert 0.85 < presence[SATURDAYS + SUNDAY].mean() / presence[WEEKDAYS].mean() < 0.98
    assert 1.02 < playlist[SUNDAY].mean() / playlist[WEEKDAYS].mean() < 1.15


def test_artists_have_one_spike_a_day_of_one_hour() -> None:
    """WA-12, SB-36: one hour of the day is above three times its mean, and most of the day is in it."""
    days = hourly("artist")
    assert np.all((days > 3 * days.mean(axis=1, keepdims=True)).sum(axis=1) == 1)
    assert np.all(days.max(axis=1) > 0.6 * days.sum(axis=1))


def test_the_week_of_log_ins_is_not_that_of_presence() -> None:
    """WA-13: it follows log-ins and not playback."""
    logged_in, played = hourly("log-in", 50_000).sum(axis=1), hourly("presence", 50_000).sum(axis=1)
    assert chi2_contingency([logged_in, played]).pvalue < 1e-9
    assert logged_in[FRIDAYS + SATURDAYS].mean() > logged_in[[0, 4, 5, 6, 7]].mean()


def test_hours_are_local_when_clocks_change() -> None:
    """On 31 March 2013 Stockholm went from 02:00 to 03:00; the peak comes one hour of elapsed time earlier from then on."""
    spring = replace(SPOTIFY, start_ms=1_364_511_600_000, days=4)
    times = clock(spring, "presence").at((np.arange(100_000) + 0.5) / 100_000)
    peaks = np.bincount((times - spring.start_ms) // HOUR_MS, minlength=96).reshape(4, 24).argmax(axis=1)
    assert peaks.tolist() == [17, 17, 16, 16]


def test_moments_are_spread_inside_the_hour() -> None:
    times = clock(SPOTIFY, "presence").times(10_000, rng(1, "test"))
    assert len(np.unique(times % HOUR_MS)) > 9_900


@settings(max_examples=50)
@given(st.lists(st.floats(0.01, 100), min_size=2, max_size=6))
def test_the_share_before_a_moment_is_its_quantile(weights: list[float]) -> None:
    """Against the area under the same lines, integrated in small steps."""
    shape = np.array(weights)
    quantiles = np.linspace(0.001, 0.999, 99)
    found = ActivityClock(0, shape).at(quantiles)
    fine = np.linspace(0, len(shape) - 1, 20_001)
    density = np.interp(fine, np.arange(len(shape)), shape)
    area = np.concatenate([[0], np.cumsum((density[1:] + density[:-1]) / 2)])
    assert np.allclose(np.interp(found / STEP_MS, fine, area / area[-1]), quantiles, atol=1e-4)
    assert np.all(np.diff(found) >= 0)
    assert found.max() < STEP_MS * (len(shape) - 1)
