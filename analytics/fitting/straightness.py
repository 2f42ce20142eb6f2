"""The straightness of a CCDF on logarithmic axes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from .resampling import Floats, even

_FLAT = 1e-9


class Straightness(NamedTuple):
    """A line and a parabola through a curve.

    - `slope`, `r2`: of the least-squares line. `decades`: of x that it spans.
    - `curvature`: of the parabola, the coefficient of the square of log10 x (below 0: it bends down).
    - `curvature_p`: of the t-test of that coefficient. Points of a CCDF are not independent, so this p is no probability: it says how much
      better a parabola fits.
    """

    slope: float
    r2: float
    decades: float
    curvature: float
    curvature_p: float


def straightness(x: NDArray[np.int64] | Floats, ccdf: Floats) -> Straightness:
    """Fits the line and the parabola through the log-log CCDF, resampled to 100 points (see `resampling.even`).

    `ccdf[i]` is P(X >= x[i]), and `x` rises. All are nan with fewer than five different x, which have no shape.
    """
    across, down = even(x, ccdf)
    if len(across) == 0 or across[-1] - across[0] < _FLAT:
        return Straightness(np.nan, np.nan, np.nan, np.nan, np.nan)
    # Centred, so that slope and curvature are told apart: over even points, x and its square are then not correlated.
    centred = across - across.mean()
    slope = float(centred @ down / (centred @ centred))
    total = float(np.sum((down - down.mean()) ** 2))
    left = float(np.sum((down - down.mean() - slope * centred) ** 2))
    r2 = 1.0 - left / total if total > _FLAT else 1.0
    return Straightness(slope, r2, float(across[-1] - across[0]), *_curvature(centred, down))


def _curvature(across: Floats, down: Floats) -> tuple[float, float]:
    design = np.stack([np.ones_like(across), across, across**2], axis=1)
    coefficients, *_ = np.linalg.lstsq(design, down, rcond=None)
    curvature = float(coefficients[2])
    if abs(curvature) < _FLAT:
        return curvature, 1.0
    free = len(across) - 3
    variance = float(np.sum((down - design @ coefficients) ** 2)) / free
    error = np.sqrt(variance * np.linalg.inv(design.T @ design)[2, 2])
    return curvature, float(2 * stats.t.sf(abs(curvature) / error, free)) if error > 0 else 0.0
