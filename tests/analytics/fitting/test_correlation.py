"""Intervals of correlations and slopes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analytics.fitting.correlation import interval, slope_interval


@given(r=st.floats(-1, 1), n=st.integers(0, 10**9), level=st.floats(0.5, 0.999))
def test_an_interval_holds_its_correlation_and_lies_between_minus_one_and_one(r: float, n: int, level: float) -> None:
    low, high = interval(r, n, level)
    assert -1 <= low <= r + 1e-12
    assert r - 1e-12 <= high <= 1


@given(r=st.floats(-0.99, 0.99), n=st.integers(4, 10**6))
def test_the_other_sign_mirrors_it_and_more_pairs_narrow_it(r: float, n: int) -> None:
    low, high = interval(r, n)
    assert interval(-r, n) == pytest.approx((-high, -low))
    assert np.diff(interval(r, 2 * n + 10)) < high - low


def test_without_correlation_it_is_fishers() -> None:
    assert interval(0.0, 403) == pytest.approx((-np.tanh(1.959964 / 20), np.tanh(1.959964 / 20)))


def test_it_holds_the_truth_about_nineteen_times_in_twenty() -> None:
    rng = np.random.default_rng(3)
    truth = 6 / np.pi * np.arcsin(0.6 / 2)
    held = 0
    for _ in range(300):
        x, y = rng.multivariate_normal([0, 0], [[1, 0.6], [0.6, 1]], 80).T
        low, high = interval(float(stats.spearmanr(x, y).statistic), 80)
        held += low <= truth <= high
    assert 0.91 <= held / 300 <= 0.98


@given(slope=st.floats(-3, 3), height=st.floats(-3, 3), factor=st.floats(0.01, 100))
def test_the_slope_of_a_power_is_its_exponent_in_any_unit(slope: float, height: float, factor: float) -> None:
    x = np.logspace(0, 4, 20)
    y = 10 ** (height + slope * np.log10(x) + 0.1 * np.sin(np.arange(20)))
    found = slope_interval(x, y)
    assert found == pytest.approx(slope_interval(x * factor, y / factor), abs=1e-9)
    assert found[1] < found[0] < found[2]
    assert found[0] == pytest.approx(slope, abs=0.05)


def test_the_interval_of_a_slope_is_that_of_students_t() -> None:
    """By hand: logs (0, 0), (1, 1), (2, 3) have slope 1.5 with standard error sqrt(1/6 / 2)."""
    slope, low, high = slope_interval(np.array([1.0, 10, 100]), np.array([1.0, 10, 1000]))
    half = 12.7062 * np.sqrt(1 / 6 / 2)
    assert (slope, low, high) == pytest.approx((1.5, 1.5 - half, 1.5 + half), rel=1e-4)


def test_two_points_or_points_above_each_other_have_no_slope() -> None:
    assert np.isnan(slope_interval(np.array([1.0, 0.0]), np.array([1.0, 5.0]))).all()
    assert np.isnan(slope_interval(np.array([2.0, 2.0, 2.0]), np.array([1.0, 5.0, 9.0]))).all()
    assert np.isnan(slope_interval(np.array([1.0, 10.0]), np.array([1.0, 10.0]))).all()
