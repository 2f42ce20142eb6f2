"""Breaks of a CCDF on logarithmic axes: knees, kinks and cliffs.

Where there is nothing to judge by (no values there), the functions that return one number return nan, and the measure is missing.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .resampling import LEAST_DISTINCT, LEAST_VALUES, Floats, even

# A line needs points on either side of the break.
_MARGIN: Final = 5
# Slopes are measured as far around a cliff as this factor.
_AROUND: Final = 1.5
_EXACT: Final = 1e-18

Counts = NDArray[np.int64]


class Knee(NamedTuple):
    """Two lines that meet at `x`, with their slopes. `p`: of the F-test against one line (see `Straightness` for what such a p is)."""

    x: float
    slope_before: float
    slope_after: float
    p: float


def knee(x: NDArray[np.int64] | Floats, ccdf: Floats) -> Knee:
    """Returns the broken stick with least squares through the log-log CCDF, resampled to 100 points (see `resampling.even`).

    The break is tried at each of these points but five at either end. All are nan, and p is 1, with fewer than ten different x: either line
    needs its five.
    """
    across, down = even(x, ccdf)
    if np.count_nonzero(np.asarray(x) > 0) < 2 * LEAST_DISTINCT or across[-1] - across[0] < _EXACT:
        return Knee(np.nan, np.nan, np.nan, 1.0)
    line = np.stack([np.ones_like(across), across - across[0]], axis=1)
    one = _least(line, down)[1]
    tried = [(_least(_stick(line, across, at), down), at) for at in across[_MARGIN:-_MARGIN]]
    # By trying, not by descent: the squares as a function of the break have several minima.
    (coefficients, two), at = min(tried, key=lambda found: found[0][1])
    return Knee(float(10**at), float(coefficients[1]), float(coefficients[1] + coefficients[2]), _gain(one, two, len(across)))


def kink_mass(values: Counts, counts: Counts, at: int, near: int) -> float:
    """Returns how many have exactly `at`, over what their neighbours let expect. 1: no kink.

    That is read from a line through the log-log counts of the `near` values on either side. `counts[i]` have `values[i]`; values that
    nobody has may be missing. nan where the line says fewer than five.
    """
    beside = (np.abs(values - at) <= near) & (values != at) & (values > 0) & (counts > 0)
    if np.count_nonzero(beside) < 2:
        return float("nan")
    _, height = np.polyfit(np.log(values[beside] / at), np.log(counts[beside]), 1)
    expected = np.exp(height)
    return float(counts[values == at].sum() / expected) if expected >= LEAST_VALUES else float("nan")


def cliff(values: Counts, counts: Counts, low: int, high: int) -> float:
    """Returns by what factor the CCDF falls from `low` to `high`, over what the mean of its slopes on both sides says. 1: no cliff.

    `counts[i]` have `values[i]`. The slopes are those from 2/3 of `low` to `low` and from `high` to 3/2 of `high`. nan where fewer than
    five are beyond that.
    """

    def beyond(least: float) -> float:
        return float(counts[values >= least].sum())

    # Without a cliff, log P would fall over log x between `low` and `high` as it does on average on both sides.
    at = [low / _AROUND, low, high, high * _AROUND]
    heights = [beyond(each) for each in at]
    if heights[-1] < LEAST_VALUES:
        return float("nan")
    before, fall, after = -np.diff(np.log(heights))
    expected = (before + after) / 2 / np.log(_AROUND) * np.log(high / low)
    return float(np.exp(fall - expected))


def steepest_change(x: NDArray[np.int64] | Floats, ccdf: Floats, beyond: float) -> float:
    """Returns the x > `beyond` where the slope of the log-log CCDF changes most: the break of the `knee` through that part of it.

    `ccdf[i]` is P(X >= `x[i]`).
    """
    there = x >= beyond
    return knee(np.asarray(x[there], np.float64), ccdf[there]).x


def _stick(line: Floats, across: Floats, at: float) -> Floats:
    return np.column_stack([line, np.maximum(across - at, 0.0)])


def _least(design: Floats, down: Floats) -> tuple[Floats, float]:
    coefficients = np.asarray(np.linalg.lstsq(design, down, rcond=None)[0], np.float64)
    return coefficients, float(np.sum((down - design @ coefficients) ** 2))


def _gain(one: float, two: float, points: int) -> float:
    """Returns the p of two lines against one. The break costs two parameters: where it is, and the second slope."""
    if one - two <= _EXACT:
        return 1.0
    free = points - 4
    return float(stats.f.sf((one - two) / 2 / max(two / free, _EXACT), 2, free))
