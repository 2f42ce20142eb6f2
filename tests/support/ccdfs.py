"""CCDFs of values."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def counted(values: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns the distinct values, and how many there are of each."""
    distinct, counts = np.unique(np.asarray(values, np.int64), return_counts=True)
    return distinct, counts.astype(np.int64)


def ccdf_of(values: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Returns the distinct values x, and P(X >= x)."""
    distinct, counts = counted(values)
    return distinct, np.cumsum(counts[::-1])[::-1] / counts.sum()
