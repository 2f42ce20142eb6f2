"""What topics still have delivered when they are out: while they leave, and at a reduced rate (SB-65)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analytics.offloading.plan import PlanOptions

from .rates import Ints

Floats = NDArray[np.float64]


class Leftover(NamedTuple):
    """Of the events that each topic has in a period, how many are delivered if it is out: in the `first` of such periods, in which
    topics that were served have their overlap, and in each `later` one."""

    first: Floats
    later: Floats


def leftover(events: Ints, out: NDArray[np.bool_], plan: PlanOptions, sites: int) -> Leftover:
    """For topics with so many `events`, of which some are `out` already; at most, and on average.

    At a reduced rate one event in `every_ms` goes out at each of the `sites`, as each is judged where it is published.
    """
    period_ms = plan.period_s * 1000
    rate = sites * period_ms / plan.every_ms if plan.every_ms else 0.0
    overlap = np.where(out, 0.0, events * (plan.overlap_ms / period_ms))
    return Leftover(np.minimum(events, rate + overlap), np.minimum(events, rate))
