"""A choice of topics, and its worth (thesis 6.2; spec C1)."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, get_args

import numpy as np

from ..errors import PlanError
from ..instance import Instance, Ints
from ..threshold import check_threshold, whole_number

# b3m: subscribers that get all they need. fb3m: the sum of the parts that subscribers get of what they need.
Metric = Literal["b3m", "fb3m"]


@dataclass(frozen=True, slots=True)
class Solution:
    """The `topics` to serve in the order of choice, their cost together, and their `value` in the metric that they were chosen for."""

    topics: Ints
    cost: int
    value: float


class Value(NamedTuple):
    """The worth of a choice of topics by either metric."""

    b3m: int
    fb3m: float


def evaluate(instance: Instance, threshold: int, topics: Ints) -> Value:
    """Returns the worth of serving `topics` to all their subscribers, counted anew.

    Raises PlanError for a `threshold` that makes no sense, and for topics that do not exist.
    """
    check_threshold(threshold)
    check_topics(instance, topics)
    served = np.zeros(len(instance.events), dtype=np.int64)
    served[topics] = instance.events[topics]
    got = np.concatenate([np.zeros(1, np.int64), np.cumsum(served[instance.topics_of.values])])[instance.topics_of.offsets]
    parts = np.minimum(1.0, np.diff(got) / instance.thresholds(threshold))
    return Value(int(np.count_nonzero(parts >= 1.0)), float(parts.sum()))


def counted(instance: Instance, threshold: int, topics: Ints, metric: Metric) -> Solution:
    """Returns the choice of these topics for a `threshold` and a `metric`, with its cost and value counted anew."""
    value = evaluate(instance, threshold, topics)
    return Solution(topics, int(instance.cost[topics].sum()), float(getattr(value, metric)))


def check_problem(threshold: int, capacity: int) -> None:
    """Raises PlanError for a threshold or a capacity that makes no sense. Capacity 0 makes sense: nothing is served."""
    check_threshold(threshold)
    if whole_number("capacity", capacity, "a whole number of deliveries") < 0:
        raise PlanError(f"the capacity is {capacity}; it must be 0 deliveries or more")


def check_metric(metric: Metric) -> None:
    """Raises PlanError for an unknown metric."""
    if metric not in get_args(Metric):
        raise PlanError(f"there is no metric {metric!r}; take {' or '.join(get_args(Metric))}")


def check_topics(instance: Instance, topics: Ints) -> None:
    """Raises PlanError for a topic that the instance does not have."""
    count = len(instance.events)
    if len(topics) and not 0 <= int(topics.min()) <= int(topics.max()) < count:
        raise PlanError(f"topics must be numbered from 0 to {count - 1}, not {topics.min()} to {topics.max()}")
