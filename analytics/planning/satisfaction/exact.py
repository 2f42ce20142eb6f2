"""Optimal choices of topics for small problems, found by an integer program (spec C1)."""

from typing import Final

import numpy as np
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import coo_array, csr_array, eye_array, hstack

from ..errors import PlanError
from ..instance import Instance, Ints
from .solution import Metric, Solution, check_metric, check_problem, counted

# Beyond so many pairs the solver may take hours; up to it most problems take seconds, some of them minutes.
MOST_PAIRS: Final = 100_000
MOST_S: Final = 600.0
# Solvers take 0.999999 for 1; with needs as high as this that could be a whole event.
_MOST_NEED: Final = 100_000


def exact(instance: Instance, threshold: int, capacity: int, metric: Metric) -> Solution:
    """Returns the optimum, found by HiGHS as an integer program, with its topics in rising order.

    It takes seconds for most problems of up to 30,000 pairs, and `MOST_S` seconds at most. Raises PlanError for a `threshold`, a
    `capacity` or a `metric` that makes no sense, for more than `MOST_PAIRS` pairs, when a subscriber needs so many events that the solver
    cannot tell them from one less, and when the time runs out.
    """
    check_problem(threshold, capacity)
    check_metric(metric)
    if (pairs := len(instance.topics_of.values)) > MOST_PAIRS:
        raise PlanError(f"there are {pairs:,} pairs; exact solutions are for {MOST_PAIRS:,} at most: take --algorithm improved")
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
        options={"mip_rel_gap": 0.0, "time_limit": MOST_S},
    )
    if not found.success:
        raise PlanError(f"the exact solver found no optimum ({found.message}); take --algorithm improved, or a smaller trace")
    solution = counted(instance, threshold, np.flatnonzero(np.round(found.x[:count])), metric)
    if solution.cost > capacity:
        raise PlanError(f"the exact solver went {solution.cost - capacity} over the capacity of {capacity}: numbers too large for it")
    return solution


def _within(instance: Instance, capacity: int) -> LinearConstraint:
    cost = np.concatenate([instance.cost, np.zeros(len(instance.topics_of), np.int64)])
    return LinearConstraint(csr_array(cost[np.newaxis, :].astype(np.float64)), ub=float(capacity))


def _received(instance: Instance, needs: Ints) -> csr_array:
    """Returns, for each subscriber, the events of the served topics less the need of a subscriber who counts.

    No topic gives more than is needed.
    """
    of = instance.topics_of
    rows = np.repeat(np.arange(len(of)), of.lengths)
    useful = np.minimum(instance.events[of.values], needs[rows])
    got = coo_array((useful.astype(np.float64), (rows, of.values)), shape=(len(of), len(instance.events)))
    return csr_array(hstack([got, -eye_array(len(of)) * needs[np.newaxis, :]]))
