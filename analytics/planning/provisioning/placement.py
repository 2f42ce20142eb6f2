"""The machine of each pair (thesis 7.2.2): the outcome of stage 2."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class PairPlacement:
    """The machine of each pair: `machine_of[i]`, from 0 to `machines` - 1, serves pair i of a selection. Every machine has a pair."""

    machine_of: NDArray[np.int32]
    machines: int
