"""The order in which the greedy algorithms visit things."""

import numpy as np

from ..instance import Ints


def falling(weights: Ints) -> Ints:
    """Returns the places of `weights` (0 or more) from the greatest to the least; equals keep their order."""
    count, most = len(weights), int(weights.max(initial=0))
    if most >= (1 << 62) // max(1, count):
        return np.argsort(-weights, kind="stable")
    # Sorting numbers that hold both weight and place takes a tenth of the time of a stable argsort.
    ordered: Ints = np.sort((most - weights) * count + np.arange(count)) % max(1, count)
    return ordered
