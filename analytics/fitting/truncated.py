"""The power law with an exponential cut-off, p(x) ~ x^-alpha e^(-rate x), and its greatest likelihood.

`powerlaw` fits it too, with sums of arbitrary precision: two to fifteen seconds a time. The likelihood depends on the values
through their mean and the mean of their logarithms alone, so it need not take more than milliseconds.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
from scipy.integrate import simpson
from scipy.optimize import minimize

from .power_law import Floats

_SUMMED: Final = 100
_STEPS: Final = 2001
# e^-50 is nothing.
_GONE: Final = 50.0
_ALPHAS: Final = (0.0, 20.0)


def log_likelihoods(tail: Floats, xmin: float, *, discrete: bool, alpha: float) -> Floats:
    """Returns the log-likelihood of each value of `tail` (all >= `xmin`) under the best truncated power law.

    `discrete`: whether values are whole. `alpha`: where to begin looking.
    """
    mean, mean_log = float(tail.mean()), float(np.log(tail).mean())

    def cost(at: Floats) -> float:
        rate = float(np.exp(at[1]))
        return float(at[0] * mean_log + rate * mean + log_norm(float(at[0]), rate, xmin, discrete=discrete))

    # At the least rate nothing is cut off within the values; at the greatest, everything is.
    rates = (np.log(1e-6 / tail.max()), np.log(_GONE / xmin))
    # Three starts, because there may be a second minimum: hardly a cut-off, one at the end of the values, and one at their mean.
    starts = [(alpha, rates[0] + 1.0), (max(alpha - 0.5, 0.5), -np.log(tail.max())), (0.5, -np.log(mean))]
    found = min((_search(cost, start, rates) for start in starts), key=cost)
    rate = np.exp(found[1])
    norm = log_norm(float(found[0]), float(rate), xmin, discrete=discrete)
    likelihoods: Floats = -found[0] * np.log(tail) - rate * tail - norm
    return likelihoods


def log_norm(alpha: float, rate: float, xmin: float, *, discrete: bool) -> float:
    """Returns the logarithm of the sum (`discrete`) or integral of x^-`alpha` e^(-`rate` x) from `xmin` on."""
    if not discrete:
        return _log_integral(alpha, rate, xmin)
    first = np.arange(xmin, xmin + _SUMMED)
    then = float(xmin + _SUMMED)
    summed = np.logaddexp.reduce(-alpha * np.log(first) - rate * first)
    # Euler-Maclaurin: half of the first term that is not summed, less a twelfth of its slope.
    edge = -alpha * np.log(then) - rate * then + np.log(0.5 + (alpha / then + rate) / 12)
    return float(np.logaddexp.reduce([summed, edge, _log_integral(alpha, rate, then)]))


def _log_integral(alpha: float, rate: float, low: float) -> float:
    """Returns the logarithm of the integral, taken over the logarithm of x, where the integrand is smooth."""
    at = np.linspace(np.log(low), np.log(low + _GONE / rate), _STEPS)
    logs = (1 - alpha) * at - rate * np.exp(at)
    return float(logs.max() + np.log(simpson(np.exp(logs - logs.max()), x=at)))


def _search(cost: Callable[[Floats], float], start: tuple[float, float], rates: tuple[float, float]) -> Floats:
    found: Floats = minimize(cost, start, method="Nelder-Mead", bounds=[_ALPHAS, rates], options={"xatol": 1e-5, "fatol": 1e-9}).x
    return found
