"""The gain of each further topic (thesis figures 6.2 and 6.4; spec C6, C7 no. 5)."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..instance import Instance, Ints
from ..threshold import check_threshold
from .solution import Metric, check_metric, check_topics


class SatisfactionCurve(NamedTuple):
    """The capacity `used` and the `value` by the metric, after each chosen topic. Neither ever falls."""

    used: Ints
    value: NDArray[np.float64]


def curve(instance: Instance, threshold: int, topics: Ints, metric: Metric) -> SatisfactionCurve:
    """Returns the curve of serving the `topics` one after the other.

    Raises PlanError for a `threshold` or `topics` that make no sense. `metric` says what the value counts.
    """
    check_threshold(threshold)
    check_topics(instance, topics)
    check_metric(metric)
    needs, by = instance.thresholds(threshold), instance.subscribers_of
    gained = _gained(topics, instance.events, by.offsets, by.values, needs, metric == "b3m")
    return SatisfactionCurve(np.cumsum(instance.cost[topics]), np.cumsum(gained))


@njit(cache=True, nogil=True)
def _gained(
    topics: Ints, events: Ints, offsets: Ints, subscribers: NDArray[np.int32], needs: Ints, whole_only: bool
) -> NDArray[np.float64]:
    """Returns what each topic adds: subscribers that become satisfied (`whole_only`), or parts of subscribers."""
    lacks, gained = needs.copy(), np.zeros(len(topics), np.float64)
    for place, topic in enumerate(topics):
        for at in range(offsets[topic], offsets[topic + 1]):
            subscriber = subscribers[at]
            got = min(events[topic], lacks[subscriber])
            lacks[subscriber] -= got
            if not whole_only:
                gained[place] += got / needs[subscriber]
            elif got and lacks[subscriber] == 0:
                gained[place] += 1
    return gained
