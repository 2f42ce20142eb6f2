"""Intervals of correlations and of slopes."""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

LEVEL: Final = 0.95
# With fewer pairs a rank correlation can only be one of a handful of numbers.
LEAST_PAIRS: Final = 5


def interval(r: float, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Returns the interval of a rank correlation `r` of `n` pairs, at `level`: Fisher's z with the variance of Bonett and Wright (2000).

    Nothing is known from three pairs or fewer: (-1, 1).
    """
    if n <= 3:
        return -1.0, 1.0
    if abs(r) >= 1:
        return float(r), float(r)
    half = stats.norm.ppf((1 + level) / 2) * np.sqrt((1 + r * r / 2) / (n - 3))
    return float(np.tanh(np.arctanh(r) - half)), float(np.tanh(np.arctanh(r) + half))


def slope_interval(x: NDArray[np.float64], y: NDArray[np.float64], level: float = LEVEL) -> tuple[float, float, float]:
    """Returns the slope of log10 `y` over log10 `x` by least squares, and the ends of its interval at `level`.

    Points that are not positive are left out. All are nan with fewer than three points, which leave nothing to judge a slope by, or with
    fewer than two different x.
    """
    kept = (x > 0) & (y > 0)
    across, up = np.log10(x[kept]), np.log10(y[kept])
    if len(across) < 3 or len(np.unique(across)) < 2:
        return float("nan"), float("nan"), float("nan")
    found = stats.linregress(across, up)
    half = stats.t.ppf((1 + level) / 2, len(across) - 2) * found.stderr
    return float(found.slope), float(found.slope - half), float(found.slope + half)
