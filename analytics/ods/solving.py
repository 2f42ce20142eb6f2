"""One problem of the decision service and its answer: arrays in, arrays out, as long as it takes (spec C7)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from analytics.planning.instance import Instance, Ints, instance
from analytics.planning.online.online import Online
from analytics.planning.satisfaction.b3m import greedy_b3m
from analytics.planning.satisfaction.bound import bounds
from analytics.planning.satisfaction.fb3m import greedy_fb3m
from analytics.planning.satisfaction.solution import Metric, Solution, evaluate

from .follows import Keys, topics_of, users_of

Solver = Literal["online", "fresh"]
# Sums of fractions that differ by less are equal.
TOLERANCE: Final = 1e-9
_SOLVERS: Final[dict[Metric, Callable[[Instance, int, int], Solution]]] = {"b3m": greedy_b3m, "fb3m": greedy_fb3m}


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """`pairs` of each access point, the `events` expected of each topic (0: idle), which topics are `out` of real time now, and
    which of them are still `remembered`."""

    pairs: list[Keys]
    events: Ints
    out: NDArray[np.bool_]
    remembered: NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """`served` of the topics that have events and followers, what they cost, and which topics are `out` from now on."""

    served: Ints
    out: NDArray[np.bool_]
    topics: int
    cost: int
    value: float
    bound: float


def solve(problem: Problem, metric: Metric, threshold: int, capacity: int | None, solver: Solver = "fresh") -> Answer:
    """The best choice that the greedy algorithm finds, or the online variant from the choice of before, with fewer moves.

    The choice of before stays if it is as good and still fits, so that nothing moves. Idle topics stay on their side while they are
    remembered. Raises PlanError for deliveries too many to be added up.
    """
    pairs = np.unique(np.concatenate([np.empty(0, np.int64), *problem.pairs]))
    found = instance(users_of(pairs), topics_of(pairs), problem.events)
    limit = int(found.cost.sum()) if capacity is None else capacity
    chosen = _chosen(found, np.flatnonzero(~problem.out[found.topic_ids]), metric, threshold, limit, solver)
    out = problem.out & problem.remembered & (problem.events == 0)
    out[found.topic_ids] = True
    served = found.topic_ids[chosen]
    out[served] = False
    value = getattr(evaluate(found, threshold, chosen), metric)
    bound = getattr(bounds(found, threshold, limit), metric)
    return Answer(served, out, len(found.events), int(found.cost[chosen].sum()), value, bound)


def _chosen(found: Instance, before: Ints, metric: Metric, threshold: int, limit: int, solver: Solver) -> Ints:
    if int(found.cost.sum()) <= limit:
        return np.arange(len(found.events))
    if solver == "online" and 0 < len(before) < len(found.events):  # with nothing out yet there is no choice to start from
        online = Online(metric, threshold)
        online.served_ids = found.topic_ids[before]
        return online.next(found, limit).topics
    best = _SOLVERS[metric](found, threshold, limit)
    if int(found.cost[before].sum()) <= limit and getattr(evaluate(found, threshold, before), metric) >= best.value - TOLERANCE:
        return before
    return best.topics
