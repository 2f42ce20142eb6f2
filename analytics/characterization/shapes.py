"""Measures of the shape of each distribution: lines, knees, kinks and fits, from the thinned curves and samples."""

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
from pyspark.sql import functions as f

from analytics.fitting.knee import cliff, kink_mass, knee, steepest_change
from analytics.fitting.straightness import straightness
from analytics.fitting.tail import fit_tail
from analytics.summary import LEAST_DECADES, TailFit

from .curves import collected
from .distribution import Thinned

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# Twitter's number of suggestions at sign-up, its limit, and how far around them to look.
_SUGGESTED: Final = 20
_NEAR: Final = 5
_LIMIT: Final = (1_900, 2_100)
_EXACT_UP_TO: Final = 5_000
_STARS_FROM: Final = 20_000
_LEAST_STARS: Final = 30
# Above this p one line does as well as two: there is no knee.
_BROKEN: Final = 0.01

Measures = dict[str, float | None]


def line_measures(key: str, curve: Thinned) -> Measures:
    """Returns how straight the curve of popularity or size is."""
    found = straightness(curve.value, curve.ccdf)
    return {f"{key}.r2": found.r2, f"{key}.slope": found.slope, f"{key}.decades": found.decades}


def rate_measures(curve: Thinned) -> Measures:
    """Returns how the curve of rates bends, if it is long enough to tell."""
    bent = straightness(curve.value, curve.ccdf)
    if not bent.decades >= LEAST_DECADES:
        return {"rate.curvature": None, "rate.curvature_p": None}
    return {"rate.curvature": bent.curvature, "rate.curvature_p": bent.curvature_p}


def knee_measures(curve: Thinned) -> Measures:
    """Returns where the curve of rates breaks, if it does."""
    found = knee(curve.value, curve.ccdf)
    if found.p > _BROKEN:
        return {"rate.knee_events": None, "rate.knee_percent": None}
    return {"rate.knee_events": found.x, "rate.knee_percent": 100 * found.x / curve.total}


def star_measures(curve: Thinned) -> Measures:
    """Returns where the popularity of stars breaks. The last of them are left out: they are too few to show a break."""
    enough = curve.ccdf * curve.n >= _LEAST_STARS
    return {"popularity.kink_100000": steepest_change(curve.value[enough], curve.ccdf[enough], _STARS_FROM)}


def kink_measures(exact: "DataFrame", n: int) -> Measures:
    """Returns the kinks at 20 and 2,000 of the exact curve of sizes of `n` subscribers. At most 5,000 rows of it are looked at."""
    values, counts = _frequencies(exact, n)
    return {
        "size.kink_20": kink_mass(values, counts, _SUGGESTED, _NEAR),
        "size.kink_2000": cliff(values, counts, *_LIMIT),
    }


def fit(values: npt.NDArray[np.int64], seed: int, bootstraps: int) -> TailFit:
    """Fits the tail of a sample of whole numbers, `values`. `seed`, `bootstraps`: of the replications behind its p."""
    return fit_tail(values[values > 0], discrete=True, rng=np.random.default_rng(seed), bootstraps=bootstraps)


def _frequencies(exact: "DataFrame", n: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Returns values with their counts, where all values larger than 5,000 are one."""
    found = collected(exact.where(f.col("value") <= _EXACT_UP_TO).select("value", "count").orderBy("value")).to_numpy(np.int64)
    rest = n - int(found[:, 1].sum())
    return np.append(found[:, 0], _EXACT_UP_TO + 1), np.append(found[:, 1], rest)
