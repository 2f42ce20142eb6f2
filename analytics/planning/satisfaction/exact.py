"""Optimal choices of topics for small problems, found in two ways that have nothing in common (spec C1)."""

from typing import Final

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, csr_array, eye_array, hstack

from ..errors import PlanError
from ..instance import Instance, Ints
from .solution import Metric, Solution, check_metric, check_problem, counted

MOST_ENUMERATED: Final = 20
# Solvers take 0.999999 for 1; with needs as high as this that could be a whole event.
_MOST_NEED: Final = 100_000


def enumerated(instance: Instance, threshold: int, capacity: int, metric: Metric) -> Solution:
    """The best of all choices; of equals the one that costs least. Raises PlanError for more topics than MOST_ENUMERATED, too."""
    check_problem(threshold, capacity)
    check_metric(metric)
    count = len(instance.events)
    if count > MOST_ENUMERATED:
        raise PlanError(f"there are {count} topics; all choices can be tried for {MOST_ENUMERATED} topics at most")
    cost = _sums(instance.cost)
    needs = instance.thresholds(threshold)
    values = np.zeros(1 << count)
    for topics, need in zip(instance.topics_of.lists(), needs.tolist(), strict=True):
        weights = np.zeros(count, np.int64)
        weights[topics] = instance.events[topics]
        parts = np.minimum(1.0, _sums(weights) / need)
        values += parts >= 1.0 if metric == "b3m" else parts
    fitting = np.flatnonzero(cost <= capacity)
    best = fitting[np.lexsort((cost[fitting], -np.round(values[fitting], 9)))[0]]
    return counted(instance, threshold, np.flatnonzero(best >> np.arange(count) & 1), metric)


def exact(instance: Instance, threshold: int, capacity: int, metric: Metric) -> Solution:
    """The optimum as an integer program, solved by HiGHS: for some hundreds of topics. Topics by number.

    Raises PlanError too if somebody needs more events than the solver can tell from one less, or if it does not come to an end.
    """
    check_problem(threshold, capacity)
    check_metric(metric)
    capacity = min(capacity, int(instance.cost.sum()))
    needs = instance.thresholds(threshold)
    if needs.max(initial=0) > _MOST_NEED:
        raise PlanError(f"somebody needs {needs.max()} events; exact solutions are for thresholds of {_MOST_NEED} at most")
    count = len(instance.events)
    if int(instance.cost.min(initial=capacity + 1)) > capacity:
        return counted(instance, threshold, np.empty(0, np.int64), metric)
    found = milp(
        np.concatenate([np.zeros(count), -np.ones(len(needs))]),
        integrality=np.concatenate([np.ones(count), np.full(len(needs), metric == "b3m")]),
        bounds=Bounds(0, 1),
        constraints=[_within(instance, capacity), LinearConstraint(_received(instance, needs), lb=0)],
        options={"mip_rel_gap": 0.0},
    )
    if not found.success:
        raise PlanError(f"the exact solver found no optimum ({found.message}); give it fewer topics")
    solution = counted(instance, threshold, np.flatnonzero(np.round(found.x[:count])), metric)
    if solution.cost > capacity:
        raise PlanError(f"the exact solver went {solution.cost - capacity} over the capacity of {capacity}: numbers too large for it")
    return solution


def _within(instance: Instance, capacity: int) -> LinearConstraint:
    cost = np.concatenate([instance.cost, np.zeros(len(instance.topics_of), np.int64)])
    return LinearConstraint(csr_array(cost[np.newaxis, :].astype(np.float64)), ub=float(capacity))


def _received(instance: Instance, needs: Ints) -> csr_array:
    """For each subscriber, the events of his served topics less what he needs if he counts. No topic gives more than is needed."""
    of = instance.topics_of
    rows = np.repeat(np.arange(len(of)), of.lengths)
    useful = np.minimum(instance.events[of.values], needs[rows])
    got = coo_array((useful.astype(np.float64), (rows, of.values)), shape=(len(of), len(instance.events)))
    return csr_array(hstack([got, -eye_array(len(of)) * needs[np.newaxis, :]]))


def _sums(weights: Ints) -> Ints:
    """The sum of each choice of weights: choice number i takes those whose bits it has."""
    sums = np.zeros(1, np.int64)
    for weight in weights.tolist():
        sums = np.concatenate([sums, sums + weight])
    return sums
