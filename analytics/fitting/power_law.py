"""The power law with the best xmin, quickly: the bootstrap needs it a hundred times.

Clauset, Shalizi and Newman 2009: for each xmin the exponent of greatest likelihood; of all xmin the one with the least
Kolmogorov-Smirnov distance. The library `powerlaw` does the same, one distribution object at a time.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import zeta

Floats = NDArray[np.float64]

# A tail that is smaller says nothing about its law.
LEAST_TAIL: Final = 50
CANDIDATES: Final = 50
# From here on the approximations are good to 1e-4 (Clauset et al., 3.4; Euler-Maclaurin).
_LARGE: Final = 10.0
_EXPONENTS: Final = (1.001, 30.0)
_STEP: Final = 1e-4
_HALVINGS: Final = 40
# Beyond this many of its first values a discrete power law is drawn from as if it were continuous.
_TABLE: Final = 1000
_GREATEST: Final = 2.0**53


class PowerLaw(NamedTuple):
    """A power law: P(X >= x) falls as x^(1 - alpha) from `xmin` on, where `n_tail` of the values are.

    `ks`: the distance of its CCDF and that of the values.
    """

    xmin: float
    alpha: float
    ks: float
    n_tail: int


def best(values: Floats, *, discrete: bool) -> PowerLaw | None:
    """Returns the power law for `values` (positive), or None where there is no tail of 50 values that are not all equal.

    xmin is tried at no more than 50 of the values: where the tail has n, 0.87 n, ... 50 of them, at even steps of the logarithm.
    """
    # All tails at once: sums from the greatest value down give the size of each tail, and its sum of logarithms.
    distinct, counts = np.unique(values, return_counts=True)
    tails = np.cumsum(counts[::-1])[::-1]
    logs = np.log(distinct)
    log_sums = np.cumsum((counts * logs)[::-1])[::-1]
    at = _candidates(tails)
    if len(at) == 0:
        return None
    alphas = _exponents(log_sums[at] / tails[at], distinct[at], discrete)
    found = [_distance(distinct[i:], logs[i:], tails[i:] / tails[i], alpha, discrete) for i, alpha in zip(at, alphas, strict=True)]
    least = int(np.argmin(found))
    return PowerLaw(float(distinct[at[least]]), float(alphas[least]), found[least], int(tails[at[least]]))


def log_likelihoods(law: PowerLaw, tail: Floats, *, discrete: bool) -> Floats:
    """Returns the log-likelihood of each value of `tail` (all >= xmin) under `law`. `discrete`: whether values are whole."""
    start = np.array([law.xmin])
    norm = np.log(_hurwitz(law.alpha, start, np.log(start))[0]) if discrete else np.log(law.xmin / (law.alpha - 1))
    likelihoods: Floats = -law.alpha * np.log(tail / law.xmin) - norm
    return likelihoods


def draw(law: PowerLaw, count: int, *, discrete: bool, rng: np.random.Generator) -> Floats:
    """Draws `count` values of `law` from `rng`. `discrete`: whole ones."""
    beyond = 1.0 - rng.random(count)
    if not discrete:
        return np.minimum(law.xmin * beyond ** (-1 / (law.alpha - 1)), _GREATEST)
    table = np.arange(law.xmin, law.xmin + _TABLE)
    ccdf = _hurwitz(law.alpha, table, np.log(table))
    ccdf /= ccdf[0]
    drawn = table[np.searchsorted(-ccdf, -beyond, side="right") - 1]
    far = beyond <= ccdf[-1]
    # Beyond the table as Clauset et al. D: a continuous law from half below its last value on, rounded.
    further = (table[-1] - 0.5) * (beyond[far] / ccdf[-1]) ** (-1 / (law.alpha - 1)) + 0.5
    drawn[far] = np.floor(np.minimum(further, _GREATEST))
    return drawn


def _candidates(tails: NDArray[np.int64]) -> NDArray[np.int64]:
    """Returns the places in the distinct values where xmin is tried. At the last value nothing can be fitted."""
    if tails[0] < LEAST_TAIL:
        return np.empty(0, np.int64)
    wanted = np.geomspace(tails[0], LEAST_TAIL, CANDIDATES)
    at = np.unique(np.searchsorted(-tails, -wanted + 1e-6, side="right") - 1)
    return at[(at >= 0) & (at < len(tails) - 1) & (tails[at] >= LEAST_TAIL)]


def _exponents(mean_logs: Floats, xmins: Floats, discrete: bool) -> Floats:
    """Returns the exponents of greatest likelihood. `mean_logs`: of the values in each tail."""
    # Whole numbers are taken for the middles of intervals (Clauset et al., equation 3.7). That is too rough for a small xmin.
    lower = xmins - 0.5 if discrete else xmins
    alphas = 1 + 1 / (mean_logs - np.log(lower))
    if discrete:
        small = xmins < _LARGE
        alphas[small] = _zeta_exponents(mean_logs[small], xmins[small])
    return alphas


def _zeta_exponents(mean_logs: Floats, xmins: Floats) -> Floats:
    """Returns where the derivative of the likelihood is 0. It falls with the exponent, so halving finds that place."""
    low, high = np.full_like(xmins, _EXPONENTS[0] + _STEP), np.full_like(xmins, _EXPONENTS[1])
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        falls = np.log(zeta(middle - _STEP, xmins) / zeta(middle + _STEP, xmins)) / (2 * _STEP)
        above = falls > mean_logs
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return (low + high) / 2


def _distance(distinct: Floats, logs: Floats, ccdf: Floats, alpha: float, discrete: bool) -> float:
    law = _hurwitz(alpha, distinct, logs) if discrete else np.exp((1 - alpha) * logs)
    return float(np.max(np.abs(ccdf - law / law[0])))


def _hurwitz(alpha: float, q: Floats, log_q: Floats) -> Floats:
    """Returns the Hurwitz zeta function for rising `q`, over a factor that is the same for all of them and keeps it from underflowing."""
    # Euler-Maclaurin from q on: the integral, half of the first term, and two terms of derivatives. For small q the sum itself is used.
    scale = np.exp(-alpha * (log_q - log_q[0]))
    found: Floats = scale * (q / (alpha - 1) + 0.5 + alpha / (12 * q) - alpha * (alpha + 1) * (alpha + 2) / (720 * q**3))
    small = q < _LARGE
    found[small] = zeta(alpha, q[small]) * q[0] ** alpha
    return found
