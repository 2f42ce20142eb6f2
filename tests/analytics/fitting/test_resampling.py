"""Points of a CCDF, evenly on the logarithmic axis."""

import numpy as np

from analytics.fitting.resampling import even


def test_points_are_even_on_the_logarithmic_axis_and_lie_on_the_curve() -> None:
    x = np.array([1, 10, 100, 1000, 10_000])
    across, down = even(x, np.array([1, 0.1, 0.01, 1e-3, 2e-4]), points=7)
    assert np.allclose(across, np.linspace(0, 3, 7))
    assert np.allclose(down, -across)


def test_values_that_fewer_than_five_reach_are_left_out() -> None:
    x = np.arange(1, 21)
    across, _ = even(x, np.arange(20, 0, -1) / 20)
    assert np.isclose(across[-1], np.log10(16))


def test_a_curve_of_a_few_points_keeps_them_all() -> None:
    across, down = even(np.arange(1, 6), np.array([1, 0.5, 0.25, 0.24, 0.2]))
    assert np.isclose(across[-1], np.log10(5))
    assert np.isclose(down[-1], np.log10(0.2))


def test_zeros_and_four_points_leave_nothing_to_fit() -> None:
    assert len(even(np.arange(5), np.array([1.0, 0.9, 0.8, 0.7, 0.6]))[0]) == 0
    assert len(even(np.array([], np.int64), np.array([]))[0]) == 0
