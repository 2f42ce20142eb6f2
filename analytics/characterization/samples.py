"""Uniform samples that are the same on every machine: the first rows in the order of a hash of their number."""

from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
from pyspark.sql import functions as f

from .curves import collected

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MOST: Final = 20_000
# Points shown of a cloud: a hundredth as in the source, where that is not too few to see.
POINTS_SHARE: Final = 0.01
FEWEST_POINTS: Final = 1000


def sample(rows: "DataFrame", number: str, seed: int, *columns: str) -> npt.NDArray[np.int64]:
    """Returns `columns` of at most 20,000 of `rows`, one array row each, in the order of the hash of `seed` and the column `number`."""
    # Order and limit together: each piece keeps its first 20,000 rows only, and nothing is sorted as a whole. The number breaks ties.
    first = rows.orderBy(f.xxhash64(f.lit(seed), f.col(number)), number).limit(MOST)
    values: npt.NDArray[np.int64] = collected(first.select(*columns)).to_numpy(np.int64)
    return values


def points_shown(points: int) -> int:
    """Returns how many of so many points are shown."""
    return min(points, MOST, max(FEWEST_POINTS, round(points * POINTS_SHARE)))
