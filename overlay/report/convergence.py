"""How fast the rings of PolderCast grow, and what events reach meanwhile (PC 6.2, figure 5; thesis 3.5)."""

from collections.abc import Callable
from typing import Final

import msgspec
import numpy as np

from ..simulator.poldercast.options import PolderOptions, SpreadOptions
from ..simulator.poldercast.overlay import PolderCastOverlay
from ..simulator.workload import OverlayWorkload

# At this share of complete rings an overlay counts as converged.
CONVERGED: Final = 0.99
LINES: Final = ("missing links", "incomplete rings", "missed deliveries", "events that missed somebody")
HEAD: Final = ("cycle", "missing_links_percent", "incomplete_rings_percent", "missed_deliveries_percent", "disconnected_topics_percent")


class ConvergencePoint(msgspec.Struct, frozen=True, kw_only=True):
    """The state of an overlay after a `cycle`, as shares: of links, of rings, of deliveries, of events."""

    cycle: int
    missing_links: float
    incomplete_rings: float
    missed_deliveries: float
    disconnected_topics: float


class ConvergenceStudy(msgspec.Struct, frozen=True, kw_only=True):
    """The growth of an overlay from a cold start: one point for each cycle, the first before any."""

    name: str
    nodes: int
    topics: int
    pairs: int
    seed: int
    fanout: int
    points: list[ConvergencePoint]

    @property
    def converged_at(self) -> int | None:
        """The first cycle after which 99 % of the rings are complete."""
        return next((point.cycle for point in self.points if point.incomplete_rings <= 1 - CONVERGED + 1e-12), None)


def converge(
    name: str,
    workload: OverlayWorkload,
    seed: int,
    *,
    options: PolderOptions,
    how: SpreadOptions,
    cycles: int,
    told: Callable[[int, ConvergencePoint], None],
) -> ConvergenceStudy:
    """Runs an overlay until all rings are complete, or for `cycles`, and tells each point as it is found."""
    system, points = PolderCastOverlay(workload, seed, options, how=how), list[ConvergencePoint]()
    for cycle in range(cycles + 1):
        if cycle:
            system.cycle()
        points.append(_point(system, cycle))
        told(cycle, points[-1])
        if points[-1].missing_links == 0:
            break
    return ConvergenceStudy(
        name=name,
        nodes=workload.nodes,
        topics=workload.topics,
        pairs=workload.pairs,
        seed=seed,
        fanout=how.fanout,
        points=points,
    )


def _point(system: PolderCastOverlay, cycle: int) -> ConvergencePoint:
    rings, events = system.rings(), system.publish_each()
    wanted, reached = np.asarray(events.wanted), np.asarray(events.reached)
    return ConvergencePoint(
        cycle=cycle,
        missing_links=rings.missing_share,
        incomplete_rings=rings.incomplete_share,
        missed_deliveries=1 - float(reached.sum()) / float(wanted.sum()),
        disconnected_topics=float((reached < wanted).mean()),
    )


def rows(study: ConvergenceStudy) -> list[tuple[float, ...]]:
    """Returns (cycle, and the four shares in percent) of each point."""
    return [
        (
            point.cycle,
            100 * point.missing_links,
            100 * point.incomplete_rings,
            100 * point.missed_deliveries,
            100 * point.disconnected_topics,
        )
        for point in study.points
    ]
