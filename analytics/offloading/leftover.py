"""Leftover deliveries of topics that are out: while they leave, and at a reduced rate (SB-65)."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from analytics.offloading.plan import PlanOptions

from .rates import Ints

Floats = NDArray[np.float64]


class Leftover(NamedTuple):
    """The events of each topic that are delivered in a period although it is out.

    - `first`: in the first such period, in which topics that were served have their overlap.
    - `later`: in each later one.
    """

    first: Floats
    later: Floats


def leftover(events: Ints, out: NDArray[np.bool_], plan: PlanOptions, sites: int) -> Leftover:
    """Returns the leftover of each topic.

    - `events`: how many each topic has in a period; shape (topics,).
    - `out`: which of them are out already; the same shape.
    - `plan`: how long topics are served on, and at which rate they go on.
    - `sites`: how many sites there are.

    `every_ms` gives the most that there can be, the overlap is an average.
    """
    # One event in `every_ms` goes out at each site, as each event is judged where it is published.
    period_ms = plan.period_s * 1000
    rate = sites * period_ms / plan.every_ms if plan.every_ms else 0.0
    overlap = np.where(out, 0.0, events * (plan.overlap_ms / period_ms))
    return Leftover(np.minimum(events, rate + overlap), np.minimum(events, rate))
