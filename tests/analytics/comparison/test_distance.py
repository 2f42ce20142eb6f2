"""Distances: their values by hand, and what holds for all of them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from analytics.comparison.distance import correlation, ks, log_means, over_mean, rms_difference, shape_ks, wasserstein_log10

Array = NDArray[np.float64]
Distribution = tuple[Array, Array]


def array(*values: float) -> Array:
    return np.array(values, dtype=np.float64)


@st.composite
def distributions(draw: st.DrawFn) -> Distribution:
    """Draws distinct whole numbers in any order, and how many of each."""
    values = draw(st.lists(st.integers(0, 1000), min_size=1, max_size=20, unique=True))
    counts = draw(st.lists(st.integers(1, 50), min_size=len(values), max_size=len(values)))
    return array(*values), array(*counts)


LINES = arrays.arrays(np.float64, 24, elements=st.floats(0, 1e6))


def test_ks_is_the_largest_difference_of_the_distribution_functions() -> None:
    one = array(1, 2, 4), array(5, 3, 2)
    other = array(1, 3), array(2, 8)

    assert ks(*one, *other) == pytest.approx(0.6), "at 2: 0.8 against 0.2"


def test_distributions_without_a_common_value_are_as_far_apart_as_can_be() -> None:
    assert ks(array(1, 2), array(1, 1), array(3), array(7)) == 1


@settings(max_examples=60)
@given(distributions(), distributions())
def test_distances_of_distributions_are_symmetric_and_bounded(one: Distribution, other: Distribution) -> None:
    for distance in (ks, shape_ks):
        assert 0 <= distance(*one, *other) <= 1
        assert distance(*one, *other) == pytest.approx(distance(*other, *one))
        assert distance(*one, *one) == 0
    moved = wasserstein_log10(*one, *other)
    assert math.isnan(moved) or 0 <= moved <= 3
    assert moved == pytest.approx(wasserstein_log10(*other, *one), nan_ok=True)


@settings(max_examples=60)
@given(distributions(), distributions(), distributions())
def test_no_detour_is_shorter(one: Distribution, other: Distribution, third: Distribution) -> None:
    for distance in (ks, shape_ks):
        assert distance(*one, *other) <= distance(*one, *third) + distance(*third, *other) + 1e-9


@settings(max_examples=60)
@given(distributions(), st.integers(2, 9))
def test_a_shape_is_the_same_whatever_the_unit(one: Distribution, factor: int) -> None:
    values, counts = one

    assert shape_ks(values, counts, factor * values, counts) == pytest.approx(0, abs=1e-9)
    if (values > 0).any():
        assert wasserstein_log10(values, counts, factor * values, counts) == pytest.approx(math.log10(factor))


def test_grids_that_do_not_meet_are_not_taken_for_different_shapes() -> None:
    values = np.arange(1.0, 101)
    nearly = np.ones(100)
    nearly[-1] = 2

    assert ks(over_mean(values, np.ones(100)), np.ones(100), over_mean(values, nearly), nearly) > 0.01
    assert shape_ks(values, np.ones(100), values, nearly) < 0.011


def test_what_has_nothing_above_0_has_no_logarithms() -> None:
    assert math.isnan(wasserstein_log10(array(0), array(3), array(1), array(1)))


def test_values_are_told_in_units_of_their_mean() -> None:
    assert over_mean(array(1, 5), array(3, 1)).tolist() == [0.5, 2.5]
    assert over_mean(array(0), array(4)).tolist() == [0]


@settings(max_examples=60)
@given(LINES, LINES)
def test_distances_of_lines_are_symmetric_and_0_for_equal_ones(one: Array, other: Array) -> None:
    assert rms_difference(one, other) == pytest.approx(rms_difference(other, one))
    assert rms_difference(one, one) == 0
    r = correlation(one, other)
    assert math.isnan(r) or -1 <= r <= 1


def test_lines_that_differ_by_half_of_their_mean_everywhere_have_that_distance() -> None:
    assert rms_difference(array(3, 5), array(5, 3)) == 0.5
    assert correlation(array(3, 5), array(5, 3)) == pytest.approx(-1)
    assert math.isnan(correlation(array(3, 3), array(5, 3)))


def test_means_are_taken_over_tenths_of_a_decade() -> None:
    found = log_means(array(0, 1, 1.1, 10, 100), array(9, 3, 1, 2, 5), array(7, 10, 50, 1000, 0))

    assert found == {0: pytest.approx(math.log10(20)), 10: 3.0}
