"""Shapes of degrees, for graphs that are to look like others."""

import numpy as np
from numpy.typing import NDArray

from analytics.comparison.distance import shape_ks
from analytics.fitting.power_law import PowerLaw, best


def apart(degrees: NDArray[np.int64], others: NDArray[np.int64]) -> float:
    """Returns how far the CCDFs of two lists of degrees are from each other at most, both in units of their mean: 0 to 1."""
    return shape_ks(*_counted(degrees), *_counted(others))


def tail(degrees: NDArray[np.int64]) -> PowerLaw:
    """Returns the power law in which the degrees above 0 end."""
    law = best(np.sort(degrees[degrees > 0]).astype(np.float64), discrete=True)
    assert law
    return law


def _counted(degrees: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    values, counts = np.unique(degrees[degrees > 0], return_counts=True)
    return values.astype(np.float64), counts.astype(np.float64)
