"""`python -m bench.micro.planning TRACE SCALE` times planning on one trace of the Spotify profile, in a process of its own."""

import resource
import sys
from pathlib import Path
from typing import Final

import msgspec
import numpy as np

from analytics.generator.profile import profile
from analytics.planning.instance import Instance
from analytics.planning.provisioning.cbp import cbp
from analytics.planning.provisioning.ffbp import ffbp
from analytics.planning.provisioning.gsp import gsp
from analytics.planning.provisioning.prices import books
from analytics.planning.provisioning.rsp import rsp
from analytics.planning.published import THRESHOLD_SHARES, THRESHOLDS, WINDOW_THRESHOLD
from analytics.planning.satisfaction.b3m import greedy_b3m
from analytics.planning.satisfaction.case import warm
from analytics.planning.satisfaction.fb3m import greedy_fb3m
from analytics.planning.satisfaction.study import in_events
from analytics.planning.stopwatch import timed
from analytics.planning.workload import load
from bench.changing_hours import Follow, hours

# The hour of the day with most events (thesis 5.1.2).
EVENING: Final = 18
MOST_SLOW: Final = 0.05


class PlanningFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The seconds of each algorithm, at the threshold where it is slowest.

    - `pairs`, `hour_pairs`: of the whole trace, and of what is connected and active in one hour.
    - `load`: of reading the trace.
    - `b3m`, `fb3m`: of the whole trace.
    - `slow`: of F-B3M without laziness, at the middle threshold; None where that would take hours.
    - `hour_b3m`, `hour_fb3m`: of one hour.
    - `gsp`, `gsp_least`: at the slowest and at the quickest threshold.
    - `cbp`, `rsp`, `ffbp`: at the first threshold.
    - `peak_bytes`: the most memory that the process had.
    """

    pairs: int
    load: float
    b3m: float
    fb3m: float
    slow: float | None
    hour_pairs: int
    hour_b3m: float
    hour_fb3m: float
    gsp: float
    gsp_least: float
    cbp: float
    rsp: float
    ffbp: float
    peak_bytes: int


def measure(trace: Path, scale: float) -> PlanningFigures:
    """Measures all algorithms one after the other on one thread. Kernels are compiled before."""
    workload, load_s = timed(load, trace)
    whole = workload.instance
    warm()
    capacity = int(whole.cost.sum()) // 10
    thresholds = in_events(whole, THRESHOLD_SHARES)
    hour = next(hours(_follow(whole, scale), 1, EVENING))
    hour_capacity = int(hour.cost.sum()) // 10
    terms = books()["ec2-2013"].terms("c3.large")
    _provision_warm(hour)
    greedy = gsp(whole, THRESHOLDS[0])
    gsp_s = [timed(gsp, whole, each)[1] for each in THRESHOLDS]
    random, rsp_s = timed(rsp, whole, THRESHOLDS[0])
    return PlanningFigures(
        pairs=len(whole.topics_of.values),
        load=load_s,
        b3m=max(timed(greedy_b3m, whole, each, capacity)[1] for each in thresholds),
        fb3m=max(timed(greedy_fb3m, whole, each, capacity)[1] for each in thresholds),
        slow=timed(greedy_fb3m, whole, thresholds[1], capacity, lazy=False)[1] if scale <= MOST_SLOW else None,
        hour_pairs=len(hour.topics_of.values),
        hour_b3m=timed(greedy_b3m, hour, WINDOW_THRESHOLD, hour_capacity)[1],
        hour_fb3m=timed(greedy_fb3m, hour, WINDOW_THRESHOLD, hour_capacity)[1],
        gsp=max(gsp_s),
        gsp_least=min(gsp_s),
        cbp=timed(cbp, whole, greedy, terms)[1],
        rsp=rsp_s,
        ffbp=timed(ffbp, whole, random, terms)[1],
        peak_bytes=1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
    )


def _follow(whole: Instance, scale: float) -> Follow:
    subscriber = np.repeat(whole.subscriber_ids, whole.topics_of.lengths)
    return Follow(profile("spotify", scale, 1), subscriber, whole.topics_of.values.astype(np.int64), whole.events)


def _provision_warm(small: Instance) -> None:
    terms = books()["ec2-2013"].terms("c3.large")
    for selection in (gsp(small, 10), rsp(small, 10)):
        cbp(small, selection, terms)
        ffbp(small, selection, terms)


if __name__ == "__main__":
    print(msgspec.json.encode(measure(Path(sys.argv[1]), float(sys.argv[2]))).decode())
