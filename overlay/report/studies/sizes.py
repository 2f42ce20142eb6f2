"""How PolderCast grows: cycles, seconds and memory from 1,000 to 100,000 nodes (OV-6)."""

import statistics
import time
from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from analytics.planning.report.chart import Axis, Series, chart
from analytics.report.plot import Plot

from ...simulator.event_counts import missed_share
from ...simulator.graphs.friends import friends
from ...simulator.poldercast.overlay import PolderCastOverlay
from ..growth import FEW
from ..study import OverlayStudy, StudyClaim, StudyResult, StudyScale, StudyTable

_SIZES: Final[dict[StudyScale, tuple[int, ...]]] = {
    "tiny": (200, 400),
    "quick": (300, 1000, 3000),
    "full": (1000, 3000, 10_000, 30_000, 100_000),
}
_CYCLES: Final = 100
# The largest overlay runs until its views are full, and cycles cost what all further ones do: a whole run takes longer than a report may.
# `python -m bench overlay_poldercast` makes it.
_FEWER_CYCLES: Final = {100_000: 12}
# A cycle's cost is the middle one of so many last ones.
_LAST: Final = 5
# A cycle may cost so much more for each node when there are ten times as many: pools grow with the logarithm, and caches end.
_NEAR_LINEAR: Final = 1.3


class SizePoint(NamedTuple):
    """An overlay of so many nodes: cycles run, seconds of processor time for them and for an event on each topic, and what came of it.

    `cycle_seconds`: of one of the last cycles.
    """

    nodes: int
    pairs: int
    cycles: int
    seconds: float
    cycle_seconds: float
    event_seconds: float
    incomplete: float
    missed: float


def run(scale: StudyScale, seed: int, told: Callable[[str], None]) -> StudyResult:
    """Lets overlays of friends grow until 99 % of the rings are complete; the largest one until its views are full."""
    _warm(seed)
    found = [_point(nodes, seed, told) for nodes in _SIZES[scale]]
    head = (
        "nodes",
        "pairs",
        "cycles",
        "seconds",
        "seconds of a late cycle",
        "seconds of an event on each topic",
        "incomplete rings, %",
        "missed deliveries, %",
    )
    rows: list[tuple[float | str, ...]] = [(*each[:6], 100 * each.incomplete, 100 * each.missed) for each in found]
    return StudyResult(tables=[StudyTable(name="sizes", head=head, rows=rows)], claims=claims(found, is_full=scale == "full"))


def plots(result: StudyResult) -> list[Plot]:
    """Returns seconds of a late cycle, and cycles until rings are complete, over the number of nodes."""
    rows = [tuple(float(value) for value in row) for row in result.table("sizes").rows]
    nodes, in_all = Axis("nodes", is_log=True), [(row[0], row[2]) for row in rows if row[6] <= 100 * FEW]
    seconds = [
        Series("a late cycle", [(row[0], row[4]) for row in rows]),
        Series("an event on each topic", [(row[0], row[5]) for row in rows], 1),
    ]
    return [
        chart("sizes-seconds", "Processor time by nodes", nodes, Axis("seconds", is_log=True), seconds),
        chart("sizes-cycles", "Cycles by nodes", nodes, Axis("cycles", least=0), [Series("99 % of the rings are complete", in_all)]),
    ]


def _warm(seed: int) -> None:
    """Loads the kernels, which takes time that belongs to no size."""
    system = PolderCastOverlay(friends(200, seed).workload(), seed)
    system.cycle()
    system.rings()
    system.publish_each()


def _point(nodes: int, seed: int, told: Callable[[str], None]) -> SizePoint:
    workload = friends(nodes, seed).workload()
    system, seconds = PolderCastOverlay(workload, seed), list[float]()
    while len(seconds) < _FEWER_CYCLES.get(nodes, _CYCLES) and system.rings().incomplete_share > FEW:
        began = time.process_time()
        system.cycle()
        seconds.append(time.process_time() - began)
        told(f"{nodes:,} nodes, cycle {len(seconds)}, {sum(seconds):.0f} s")
    began = time.process_time()
    counts = system.publish_each()
    took = time.process_time() - began
    late, incomplete = statistics.median(seconds[-_LAST:]), system.rings().incomplete_share
    return SizePoint(nodes, workload.pairs, len(seconds), sum(seconds), late, took, incomplete, missed_share(counts))


def claims(found: list[SizePoint], *, is_full: bool) -> list[StudyClaim]:
    """Returns what is claimed of growth: time for a node and late cycle, between the smallest size and the largest."""
    each = [1e6 * point.cycle_seconds / point.nodes for point in found]
    slope = float(np.polyfit(np.log([point.nodes for point in found]), np.log(each), 1)[0])
    return [
        StudyClaim(
            requirement="OV-6",
            published="PeerSim stopped at 10,000 nodes",
            demanded="near linear from 1,000 to 100,000 nodes",
            measured=f"µs for a node and late cycle: {', '.join(map(_told, found, each))}; it grows as nodes to the power of {slope:z.2f}",
            holds=slope <= _NEAR_LINEAR - 1 if is_full else None,
            why="partners have the more topics the larger the graph is, and their views no place in caches",
        )
    ]


def _told(point: SizePoint, us: float) -> str:
    return f"{point.nodes:,}: {us:.0f}" + (f" (after {point.cycles} cycles, rings incomplete)" if point.incomplete > FEW else "")


SIZES: Final = OverlayStudy("sizes", "From 1,000 to 100,000 nodes", "", run, plots)
