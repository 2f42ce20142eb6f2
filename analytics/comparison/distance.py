"""Distances between two curves: pure functions of arrays. All are symmetric, and 0 for equal curves.

A distribution is its distinct values and how many have each. It is not empty, and no count is negative.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.stats import wasserstein_distance

Array = NDArray[np.float64]

BINS_PER_DECADE: Final = 10
# Squares of smaller numbers are 0 in 64 bits.
_LEAST_SPAN: Final = 1e-150


def ks(values_a: Array, counts_a: Array, values_b: Array, counts_b: Array) -> float:
    """Returns the largest difference of two distribution functions, over all values of both: 0 to 1 (Kolmogorov-Smirnov).

    `values_a` occur `counts_a` times, and `values_b` occur `counts_b` times.
    """
    everywhere = np.union1d(values_a, values_b)
    return float(np.abs(_cdf(values_a, counts_a, everywhere) - _cdf(values_b, counts_b, everywhere)).max())


def shape_ks(values_a: Array, counts_a: Array, values_b: Array, counts_b: Array) -> float:
    """Returns `ks` of the shapes: both in units of their mean, and each value spread half way to its neighbours.

    Without the spreading, two grids of whole numbers that do not meet would look different, whatever is counted on them.
    `values_a` occur `counts_a` times, and `values_b` occur `counts_b` times.
    """
    mine, theirs = (_spread(over_mean(values, counts), counts) for values, counts in ((values_a, counts_a), (values_b, counts_b)))
    everywhere = np.union1d(mine[0], theirs[0])
    difference = np.interp(everywhere, *mine, left=0.0, right=1.0) - np.interp(everywhere, *theirs, left=0.0, right=1.0)
    return float(np.abs(difference).max())


def over_mean(values: Array, counts: Array) -> Array:
    """Returns the values in units of their mean, so that shapes can be compared; the values themselves where all are 0."""
    mean = float((values * counts).sum() / counts.sum())
    return values / mean if mean else values


def wasserstein_log10(values_a: Array, counts_a: Array, values_b: Array, counts_b: Array) -> float:
    """Returns how many decades the values of one distribution must move, on average, to become the other. Values of 0 do not take part.

    `values_a` occur `counts_a` times, and `values_b` occur `counts_b` times. NaN where one of them has nothing above 0.
    """
    a, b = values_a > 0, values_b > 0
    if not a.any() or not b.any():
        return float("nan")
    return float(wasserstein_distance(np.log10(values_a[a]), np.log10(values_b[b]), counts_a[a], counts_b[b]))


def rms_difference(a: Array, b: Array) -> float:
    """Returns the root of the mean square difference of two lines, in units of their common mean."""
    level = float(np.abs(np.concatenate([a, b])).mean())
    return float(np.sqrt(((a - b) ** 2).mean())) / level if level else 0.0


def correlation(a: Array, b: Array) -> float:
    """Returns Pearson's r; NaN where one of them is constant, or as good as that."""
    spans = np.ptp(a), np.ptp(b)
    if min(spans) < _LEAST_SPAN:
        return float("nan")
    # In units of their spans, so that no square overflows or vanishes; r does not depend on units.
    return float(np.clip(np.corrcoef(a / spans[0], b / spans[1])[0, 1], -1.0, 1.0))


def log_means(x: Array, n: Array, mean: Array) -> dict[int, float]:
    """Returns log10 of the mean y in each bin of log10 `x`, by the number of the bin: `BINS_PER_DECADE` of them.

    `n` values lie behind each `mean`.
    """
    kept = (x > 0) & (n > 0)
    bins = np.floor(np.log10(x[kept]) * BINS_PER_DECADE).astype(np.int64)
    found, place = np.unique(bins, return_inverse=True)
    means = np.bincount(place, n[kept] * mean[kept]) / np.bincount(place, n[kept]) if len(found) else np.empty(0)
    return {int(each): float(np.log10(y)) for each, y in zip(found, means, strict=True) if y > 0}


def _cdf(values: Array, counts: Array, at: Array) -> Array:
    order = np.argsort(values)
    cumulated = np.concatenate([[0.0], np.cumsum(counts[order])])
    # side="right": a value counts as reached where it is, as in P(X <= x).
    found: Array = cumulated[np.searchsorted(values[order], at, side="right")] / cumulated[-1]
    return found


def _spread(values: Array, counts: Array) -> tuple[Array, Array]:
    """Returns where a continuous distribution function bends, and its value there."""
    order = np.argsort(values)
    found, cumulated = values[order], np.concatenate([[0.0], np.cumsum(counts[order])])
    if len(found) == 1:
        half = found[0] / 2 or 0.5
        edges = np.array([found[0] - half, found[0] + half])
    else:
        between = (found[1:] + found[:-1]) / 2
        edges = np.concatenate([[2 * found[0] - between[0]], between, [2 * found[-1] - between[-1]]])
    return edges, cumulated / cumulated[-1]
