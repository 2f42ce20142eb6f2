"""A CCDF as points that lie evenly on the logarithmic axis: what lines are fitted to.

Of a heavy tail nearly all distinct values lie in its last decade, where each stands for one topic. A fit through all of them
would be a fit to that decade.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

POINTS: Final = 100
# So many different values at least have a shape: any two lie on a line, any three on a parabola.
LEAST_DISTINCT: Final = 5
# The last points of a CCDF stand for so few that chance bends them.
LEAST_VALUES: Final = 5
_LEAST_POINTS: Final = 4

Floats = NDArray[np.float64]


def even(x: NDArray[np.int64] | Floats, ccdf: Floats, points: int = POINTS) -> tuple[Floats, Floats]:
    """Returns `points` pairs (log10 x, log10 P(X >= x)), evenly spaced in log10 x, with straight lines between the given points.

    `x` rises, and values that are not positive are left out. So are those at the end with P less than five times the last P: of a
    distribution whose greatest value occurs once, fewer than five values are there. If fewer than four points remained, all stay. Both
    arrays are empty where `x` and `ccdf` have fewer than five points.
    """
    kept = (np.asarray(x) > 0) & (np.asarray(ccdf) > 0)
    across, down = np.log10(np.asarray(x, np.float64)[kept]), np.log10(np.asarray(ccdf, np.float64)[kept])
    if len(across) < LEAST_DISTINCT:
        return np.empty(0), np.empty(0)
    enough = down >= down[-1] + np.log10(LEAST_VALUES) - 1e-9
    if np.count_nonzero(enough) >= _LEAST_POINTS:
        across, down = across[enough], down[enough]
    grid = np.linspace(across[0], across[-1], points)
    return grid, np.interp(grid, across, down)
