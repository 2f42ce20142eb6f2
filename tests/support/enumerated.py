"""The optimum of a small problem, found by trying every choice of topics."""

from typing import Final

import numpy as np

from analytics.planning.instance import Instance, Ints
from analytics.planning.satisfaction.solution import Metric, Solution, counted

MOST_ENUMERATED: Final = 20


def enumerated(instance: Instance, threshold: int, capacity: int, metric: Metric) -> Solution:
    """Returns the best of all choices; of equals the one that costs least. `instance` has `MOST_ENUMERATED` topics at most.

    - `threshold`: events that satisfy a subscriber.
    - `capacity`: the most that the chosen topics may cost.
    - `metric`: what the value of a choice is.
    """
    count = len(instance.events)
    assert count <= MOST_ENUMERATED
    cost = _sums(instance.cost)
    needs = instance.thresholds(threshold)
    # Choice number i takes the topics whose bits it has; each array here has one entry a choice.
    values = np.zeros(1 << count)
    for topics, need in zip(instance.topics_of.lists(), needs.tolist(), strict=True):
        weights = np.zeros(count, np.int64)
        weights[topics] = instance.events[topics]
        parts = np.minimum(1.0, _sums(weights) / need)
        values += parts >= 1.0 if metric == "b3m" else parts
    fitting = np.flatnonzero(cost <= capacity)
    # Rounded, so that equal sums in another order are equal and the cost decides.
    best = fitting[np.lexsort((cost[fitting], -np.round(values[fitting], 9)))[0]]
    return counted(instance, threshold, np.flatnonzero(best >> np.arange(count) & 1), metric)


def _sums(weights: Ints) -> Ints:
    """Returns the sum of each choice of weights: choice number i takes those whose bits it has."""
    sums = np.zeros(1, np.int64)
    for weight in weights.tolist():
        sums = np.concatenate([sums, sums + weight])
    return sums
