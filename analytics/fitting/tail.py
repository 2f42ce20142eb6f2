"""The test of a tail: is it a power law? (Clauset, Shalizi and Newman 2009)"""

import math
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

import numpy as np
import powerlaw
from numpy.typing import NDArray
from powerlaw.statistics import loglikelihood_ratio

from analytics.summary import LEAST_DECADES, LikelihoodRatio, TailFit

from .bootstrap import p_value
from .power_law import LEAST_TAIL, Floats, PowerLaw, best
from .power_law import log_likelihoods as power_law_likelihoods
from .truncated import log_likelihoods as truncated_likelihoods

# Below this p the power law is rejected, or the sign of a likelihood ratio believed (Clauset et al., 4 and 5).
SIGNIFICANT: Final = 0.1
# With fewer replications no p is known to be below that.
_LEAST_BOOTSTRAPS: Final = 10
TOO_FEW: Final = "too few values"
_NAMES: Final = {"lognormal": "a lognormal", "truncated_power_law": "a truncated power law"}


def fit_tail(values: NDArray[np.int64] | Floats, *, discrete: bool, rng: np.random.Generator, bootstraps: int) -> TailFit:
    """Fits a power law to the tail of `values`, and compares it with others. The same values and state of `rng` give the same result.

    - `values`: those that are not positive are left out (`n` is of the rest).
    - `discrete`: whether they are whole.
    - `rng`, `bootstraps`: the stream and the number of replications; without any, `p_value` is None.

    The power law is that of `power_law.best`. The lognormal and the ratios (Vuong's, normalised) are those of the library `powerlaw`. Its
    discrete power law is not used: it has no digits left for one as steep as the tail of a bounded rate. The truncated power law is that of
    `truncated`. A comparison that has no number is not in `against`.

    With fewer than 50 positive values, or all equal, the verdict is "too few values" and all numbers but `n` are 0. A tail over less than
    1.5 decades is too short for a verdict. The verdict does not consider the p of fewer than 10 bootstraps.
    """
    positive = np.sort(np.asarray(values, np.float64)[np.asarray(values) > 0])
    law = best(positive, discrete=discrete) if len(positive) >= LEAST_TAIL else None
    if law is None:
        return _nothing(len(positive))
    tail = positive[positive >= law.xmin]
    p = p_value(positive, law, discrete=discrete, rng=rng, bootstraps=bootstraps) if bootstraps else None
    against = _compared(law, tail, discrete)
    decades = math.log10(float(tail[-1]) / law.xmin)
    return TailFit(
        n=len(positive),
        n_tail=len(tail),
        xmin=law.xmin,
        decades=decades,
        alpha=law.alpha,
        sigma=(law.alpha - 1) / math.sqrt(len(tail)),  # Clauset et al., equation 3.2
        ks=law.ks,
        p_value=p,
        bootstraps=bootstraps,
        against=against,
        verdict=verdict(decades, p if bootstraps >= _LEAST_BOOTSTRAPS else None, against),
    )


def verdict(decades: float, p: float | None, against: Mapping[str, LikelihoodRatio]) -> str:
    """Returns in words whether a power law is plausible (`p` of its goodness of fit at least 0.1), and what fits better (p below 0.1).

    `against`: the comparisons with other distributions. A tail over fewer than 1.5 `decades` is too short to tell.
    """
    if decades < LEAST_DECADES:
        return f"{decades:.1f} decades are too short to tell"
    better = [(found.ratio, name) for name, found in against.items() if found.ratio < 0 and found.p < SIGNIFICANT]
    rejected = p is not None and p < SIGNIFICANT
    if better:
        fits_better = f"{_NAMES[min(better)[1]]} fits better"
        return f"a power law is rejected: {fits_better}" if rejected else f"undecided: {fits_better}"
    if rejected:
        return "a power law is rejected"
    return "undecided" if p is None else "a power law is plausible"


def _compared(law: PowerLaw, tail: Floats, discrete: bool) -> dict[str, LikelihoodRatio]:
    with _quietly():
        lognormal = powerlaw.Fit(tail, discrete=discrete, xmin=law.xmin, verbose=0).lognormal.loglikelihoods(tail)
        truncated = truncated_likelihoods(tail, law.xmin, discrete=discrete, alpha=law.alpha)
        ours = power_law_likelihoods(law, tail, discrete=discrete)
        found = {
            "lognormal": loglikelihood_ratio(ours, lognormal, normalized_ratio=True),
            # Nested: a power law is one with a cut-off at infinity, so its likelihood is never greater and the test is another one.
            "truncated_power_law": loglikelihood_ratio(ours, truncated, nested=True, normalized_ratio=True),
        }
    known = {name: LikelihoodRatio(ratio=float(ratio), p=float(p)) for name, (ratio, p) in found.items()}
    return {name: each for name, each in known.items() if math.isfinite(each.ratio) and math.isfinite(each.p)}


@contextmanager
def _quietly() -> Iterator[None]:
    """Silences warnings within the block.

    While the library searches for parameters, it tries some that overflow, and warns of it. Its result is checked instead.
    """
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        for category in (UserWarning, RuntimeWarning):
            warnings.simplefilter("ignore", category)
        yield


def _nothing(n: int) -> TailFit:
    return TailFit(
        n=n, n_tail=0, xmin=0.0, decades=0.0, alpha=0.0, sigma=0.0, ks=0.0, p_value=None, bootstraps=0, against={}, verdict=TOO_FEW
    )
