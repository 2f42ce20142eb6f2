"""Distributions as stratified quantiles: the i-th of n values is the quantile (i + 1/2) / n of its law.

They are not drawn one by one, because these laws have infinite variance: the mean of a sample would miss that of its law by far (WA-15).
Exponents and scales are solved so that the mean is what is asked for. Values come in rising order.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtri

_EXPONENTS: Final = (0.01, 8.0)
# So many quantiles give a mean well enough.
_SOLVED_WITH: Final = 50_000


def power_law(n: int, total: int, cut: int) -> NDArray[np.int32]:
    """Returns `n` values from 1 to `cut` with P(x) ~ x^-a, where a is solved so that their sum is exactly `total`.

    Raises ValueError if no such law has this mean.
    """
    # Beyond half of `cut` the exponent would have to be negative, and the law rise.
    if not n <= total <= n * cut // 2:
        raise ValueError(f"{n} values up to {cut} cannot have the sum {total} by a power law")

    def missing(exponent: float) -> float:
        return float(_sum(_occurrences(n, cut, exponent)) - total)

    occurrences = _occurrences(n, cut, brentq(missing, *_EXPONENTS, xtol=1e-12))
    return exact(np.repeat(np.arange(1, cut + 1, dtype=np.int32), occurrences), total)


def soft_knee(x: NDArray[np.float64], knee: float, power: float) -> NDArray[np.float64]:
    """Returns `x` up to `knee`, and `knee * (x / knee)^power` above it."""
    return np.where(x <= knee, x, knee * np.maximum(x / knee, 1.0) ** power)


def lognormal(n: int, mean: float, sigma: float, bent: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> NDArray[np.int64]:
    """Returns `n` values, each at least 1, with the mean `mean` to a thousandth.

    `bent` is applied to a lognormal law of width `sigma`, whose median is solved.
    """

    def values(normal: NDArray[np.float64], log_median: float) -> NDArray[np.int64]:
        return np.maximum(1, np.rint(bent(np.exp(log_median + sigma * normal)))).astype(np.int64)

    few = quantiles(min(n, _SOLVED_WITH))
    log_mean = float(np.log(mean))
    found = brentq(lambda at: values(few, at).mean() - mean, log_mean - sigma**2 - 3, log_mean + 3, xtol=1e-9)
    return values(quantiles(n), found)


def quantiles(n: int) -> NDArray[np.float64]:
    """Returns the `n` stratified quantiles of the standard normal law."""
    result: NDArray[np.float64] = ndtri((np.arange(n) + 0.5) / n)
    return result


def exact(values: NDArray[np.int32], total: int) -> NDArray[np.int32]:
    """Brings the sum of `values` (each at least 1, rising) to `total` by steps of one, the greatest first."""
    missing = total - int(values.sum(dtype=np.int64))
    while missing:
        # The greatest values are last: a step of one changes them least, and of the others some have nothing to give.
        room = len(values) if missing > 0 else int(np.count_nonzero(values > 1))
        step = min(abs(missing), room)
        values[len(values) - step :] += np.int32(np.sign(missing))
        missing -= int(np.sign(missing)) * step
    return values


def _occurrences(n: int, cut: int, exponent: float) -> NDArray[np.int64]:
    """Returns how often each of 1 ... `cut` is among the `n` values."""
    cumulated = np.cumsum(np.arange(1, cut + 1, dtype=np.float64) ** -exponent)
    # The k-th value is reached by all quantiles (i + 1/2) / n below its share: i < n * share - 1/2.
    reached = np.rint(n * (cumulated / cumulated[-1])).astype(np.int64)
    occurrences: NDArray[np.int64] = np.diff(reached, prepend=0)
    return occurrences


def _sum(occurrences: NDArray[np.int64]) -> int:
    return int(occurrences @ np.arange(1, len(occurrences) + 1))
