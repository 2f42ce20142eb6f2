"""A better choice of topics than the algorithms of the thesis find: the relaxed choice, rounded and filled up."""

from typing import Final

import numpy as np

from ..instance import Instance, Ints
from .b3m import greedy_b3m
from .covers import Floats
from .fb3m import greedy_fb3m
from .filling import filled, pruned
from .relaxed import Relaxed, relaxed
from .solution import Metric, Solution, check_metric, check_problem

# Topics whose share is that much are taken before the rest is filled up.
_CUTS: Final = (0.5, 0.8)
# The second exchange brings a tenth of the first.
_ROUNDS: Final = 3


def improved(instance: Instance, threshold: int, capacity: int, metric: Metric, *, relaxation: Relaxed | None = None) -> Solution:
    """Returns the best of the greedy choice of the thesis and of the relaxed one, which is rounded in several ways. Each is filled up.

    In each, topics that bring less than their capacity is worth make room for others, while that is better. The result is never worth less
    than the greedy choice. Most of the time goes into `relaxation`, which is computed here if it is None; its `sweeps` limit the time.
    Raises PlanError for a `threshold`, a `capacity` or a `metric` that makes no sense.
    """
    check_problem(threshold, capacity)
    check_metric(metric)
    capacity = min(capacity, int(instance.cost.sum()))  # kernels take 64 bits
    greedy = (greedy_b3m if metric == "b3m" else greedy_fb3m)(instance, threshold, capacity)
    relaxation = relaxation or relaxed(instance, threshold, capacity, metric)
    starts = [greedy.topics, *(_rounded(relaxation.shares, instance.cost, capacity, cut) for cut in _CUTS)]
    tried = [_exchanged(instance, threshold, capacity, metric, start, relaxation.price) for start in starts]
    return max(greedy, *tried, key=lambda each: each.value)


def _exchanged(instance: Instance, threshold: int, capacity: int, metric: Metric, start: Ints, price: float) -> Solution:
    best = filled(instance, threshold, capacity, metric, start)
    for _ in range(_ROUNDS):
        other = filled(instance, threshold, capacity, metric, pruned(instance, threshold, metric, best.topics, price))
        if other.value <= best.value:
            break
        best = other
    return best


def _rounded(shares: Floats, cost: Ints, capacity: int, cut: float) -> Ints:
    """Returns the topics with the greatest shares, as long as they are `cut` or more and fit."""
    order = np.argsort(-shares, kind="stable")
    fit = int(np.searchsorted(np.cumsum(cost[order]), capacity, side="right"))
    return order[: min(fit, int(np.count_nonzero(shares >= cut)))]
