"""Knees, kinks and cliffs are found where they were put."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from analytics.fitting.knee import cliff, kink_mass, knee, steepest_change
from tests.support.ccdfs import ccdf_of, counted


@settings(max_examples=30)
@given(at=st.floats(0.8, 2.2), before=st.floats(-1, -0.1), steeper=st.floats(0.5, 4))
def test_a_break_is_found_with_the_slopes_on_both_sides(at: float, before: float, steeper: float) -> None:
    # What is left of the CCDF when its last fifth is cut off must have some of the second line.
    assume((steeper - before) * (3 - at) > 1.5)
    across = np.linspace(0, 3, 400)
    ccdf = 10 ** (before * across - steeper * np.maximum(across - at, 0))
    found = knee(10**across, ccdf)
    assert abs(np.log10(found.x) - at) < 0.05
    assert np.isclose(found.slope_before, before, rtol=0.1, atol=0.1)
    assert np.isclose(found.slope_after, before - steeper, rtol=0.1)
    assert found.p < 1e-6


def test_a_straight_line_has_no_break() -> None:
    x = np.logspace(0, 3, 100)
    assert knee(x, x**-1.2).p > 0.01


def test_the_limit_of_human_listening_is_found_within_a_factor_of_two() -> None:
    """WA-6: a lognormal that bends at 15,000 events, as the rates of Spotify's topics do."""
    z = stats.norm.ppf((np.arange(200_000) + 0.5) / 200_000)
    free = np.exp(6.3 + 1.8 * z)
    events = np.floor(np.where(free > 15_000, 15_000 * (free / 15_000) ** 0.25, free)) + 1
    found = knee(*ccdf_of(events))
    assert 15_200 / 2 < found.x < 15_200 * 2
    assert found.slope_after < -3 < found.slope_before
    assert found.p < 1e-6


def test_of_nine_values_there_is_no_knee() -> None:
    found = knee(np.arange(1, 10), np.array([1.0, 0.9, 0.8, 0.7, 0.6, 0.3, 0.1, 0.03, 0.01]))
    assert np.isnan(found.x)
    assert found.p == 1


def test_where_few_are_expected_there_is_neither_kink_nor_cliff() -> None:
    """One subscriber with exactly 20 topics, beside four with others, makes no kink."""
    assert np.isnan(kink_mass(np.array([18, 19, 20, 21, 22]), np.ones(5, np.int64), 20, 5))
    values = np.array([1000, 1500, 1950, 2500, 4000])
    assert np.isnan(cliff(values, np.array([90, 50, 9, 8, 4]), 1900, 2100))


@pytest.mark.parametrize("extra", [1.0, 3.0, 10.0])
def test_extra_mass_at_a_value_is_told_as_a_factor(extra: float) -> None:
    """WA-10: the kink at 20."""
    values = np.arange(1, 100)
    counts = np.round(1e6 * values**-1.5).astype(np.int64)
    counts[values == 20] = round(counts[values == 20][0] * extra)
    assert np.isclose(kink_mass(values, counts, 20, 5), extra, rtol=0.01)


def test_a_value_that_nobody_has_has_no_mass_and_without_neighbours_there_is_no_kink() -> None:
    values = np.array([18, 19, 21, 22])
    assert kink_mass(values, np.array([50, 40, 40, 30]), 20, 5) == 0
    assert np.isnan(kink_mass(np.array([20]), np.array([5]), 20, 5))


@pytest.mark.parametrize("kept", [1.0, 0.5, 0.1])
def test_a_cliff_is_told_as_the_factor_of_those_who_are_missing_beyond(kept: float) -> None:
    """WA-10: the cliff at 2,000."""
    values = np.arange(1000, 10_000)
    ccdf = 1e9 * values**-1.3 * np.where(values > 2000, kept, 1)
    heights = np.round(ccdf).astype(np.int64)
    counts = heights - np.append(heights[1:], 0)
    assert np.isclose(cliff(values, counts, 1900, 2100), 1 / kept, rtol=0.01)


def test_where_nobody_is_beyond_there_is_no_cliff_to_measure() -> None:
    assert np.isnan(cliff(*counted([1, 5, 10]), 1900, 2100))


def test_a_change_of_slope_is_found_beyond_a_point_whatever_happens_before_it() -> None:
    """WA-10: the kink of the followers at 100,000."""
    across = np.linspace(0, 6.5, 2000)
    down = -0.3 * across - 2 * np.maximum(across - 3, 0) - 0.8 * np.maximum(across - 5, 0)
    found = steepest_change(10**across, 10**down, 20_000)
    assert np.isclose(found, 100_000, rtol=0.15)


def test_where_nothing_lies_beyond_nothing_changes() -> None:
    assert np.isnan(steepest_change(np.array([1, 2, 3]), np.array([1, 0.5, 0.2]), 20_000))
