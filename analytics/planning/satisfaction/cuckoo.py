"""The rule to beat (thesis 2.3, 6.1.2; spec C7): Cuckoo leaves the topics with low rates and few followers to the peers.

The source gives no order. Here topics are ordered by events times followers, which is small where both are small. We read the rule in
its favour: it serves everything that fits, and does not stop at the first topic that does not.
"""

import numpy as np
from numba import njit

from ..instance import Instance, Ints
from .solution import Metric, Solution, check_metric, check_problem, counted


def cuckoo(instance: Instance, threshold: int, capacity: int, metric: Metric) -> Solution:
    """Serves the topics with the greatest product first, of equals the lower number, and skips those that do not fit.

    Raises PlanError for a `threshold` or a `capacity` that makes no sense. `metric` says what `value` counts.
    """
    check_problem(threshold, capacity)
    check_metric(metric)
    work = instance.cost
    topics = _fitting(np.argsort(-work, kind="stable"), work, min(capacity, int(work.sum())))
    return counted(instance, threshold, topics, metric)


@njit(cache=True, nogil=True)
def _fitting(topics: Ints, cost: Ints, capacity: int) -> Ints:
    chosen, count, left = np.empty_like(topics), 0, capacity
    for topic in topics:
        if cost[topic] <= left:
            chosen[count] = topic
            count += 1
            left -= cost[topic]
    return chosen[:count].copy()
