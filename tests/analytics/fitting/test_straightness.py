"""The straight line through a CCDF."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from analytics.fitting.straightness import straightness
from tests.support.ccdfs import ccdf_of


@given(slope=st.floats(-5, -0.1), decades=st.floats(1, 7))
def test_a_straight_curve_is_straight(slope: float, decades: float) -> None:
    x = np.logspace(0, decades, 300)
    found = straightness(x, x**slope)
    assert np.isclose(found.slope, slope)
    assert np.isclose(found.r2, 1)
    assert found.decades == pytest.approx(decades) or found.decades == pytest.approx(decades + np.log10(5) / slope, abs=0.05)
    assert abs(found.curvature) < 1e-6


@settings(max_examples=50)
@given(
    steps=st.lists(st.integers(1, 50), min_size=5, max_size=30),
    falls=st.lists(st.floats(0.01, 2), min_size=30, max_size=30),
    factor=st.integers(1, 1000),
)
def test_another_unit_of_x_changes_nothing_and_all_is_within_bounds(steps: list[int], falls: list[float], factor: int) -> None:
    x = np.cumsum(steps)
    ccdf = np.exp(-np.cumsum(falls[: len(x)]) + falls[0])
    found, other = straightness(x, ccdf), straightness(x * factor, ccdf)
    assert np.allclose(found, other, rtol=1e-4, atol=1e-6)
    assert found.slope <= 0
    assert 0 <= found.r2 <= 1 + 1e-9
    assert 0 <= found.curvature_p <= 1


def test_the_curvature_is_that_of_the_parabola_with_the_p_of_its_t_test() -> None:
    across = np.linspace(0, 3, 100)
    rng = np.random.default_rng(1)
    down = -0.3 * across - 0.4 * across**2 + rng.normal(0, 0.05, 100)
    down = np.minimum.accumulate(np.append(down, down[-1] - np.log10(5)))
    found = straightness(10 ** np.append(across, 3.0001), 10**down)
    assert np.isclose(found.curvature, np.polyfit(across, down[:-1], 2)[0], rtol=0.05)
    assert found.curvature_p < 1e-10


def test_a_power_law_is_straight_and_a_lognormal_is_not() -> None:
    """WA-5, WA-6: over more than three decades 0.97 tells one from the other."""
    quantiles = (np.arange(200_000) + 0.5) / 200_000
    straight = straightness(*ccdf_of(np.floor(stats.pareto.ppf(quantiles, 0.95))))
    bent = straightness(*ccdf_of(np.floor(np.exp(6.3 + 1.8 * stats.norm.ppf(quantiles))) + 1))
    assert straight.r2 > 0.99
    assert straight.decades > 3
    assert bent.r2 < 0.97
    assert bent.curvature < -0.2
    assert bent.curvature_p < 1e-6


def test_four_values_have_no_shape() -> None:
    """Any two lie on a line, any three on a parabola."""
    assert np.isnan(straightness(np.arange(1, 5), np.array([1.0, 0.5, 0.2, 0.1]))).all()
