"""How fast the rings of PolderCast grow, and what events reach meanwhile (PC 6.2, figure 5; thesis 3.5)."""

from collections.abc import Callable
from typing import Final

import msgspec
import numpy as np

from analytics.numbers import number
from analytics.planning.report.chart import Axis, Series, chart
from analytics.planning.report.figure import FigureSection
from analytics.planning.report.page import drawn
from analytics.planning.report.sheet import Sheet
from analytics.report.document import ContentsEntry, document
from analytics.report.markup import element

from ..simulator.poldercast.options import PolderOptions, SpreadOptions
from ..simulator.poldercast.overlay import PolderCastOverlay
from ..simulator.workload import OverlayWorkload

# At this share of complete rings an overlay counts as converged.
CONVERGED: Final = 0.99
LINES: Final = ("missing links", "incomplete rings", "missed deliveries", "events that missed somebody")
HEAD: Final = ("cycle", "missing_links_percent", "incomplete_rings_percent", "missed_deliveries_percent", "disconnected_topics_percent")
_PUBLISHED: Final = "99 % of the rings are complete within 60 cycles, and events reach everybody earlier than that"


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


def csv(study: ConvergenceStudy) -> str:
    """Returns the numbers of the figure, a line for each cycle."""
    head = ",".join(HEAD)
    return "\n".join([head, *(",".join(f"{value:.6g}" for value in row) for row in rows(study)), ""])


def sheet(study: ConvergenceStudy) -> Sheet:
    """Returns the table: every tenth cycle, the one at which the overlay has converged, and the last one."""
    shown = {study.converged_at, study.points[-1].cycle}
    kept = [row for row in rows(study) if row[0] % 10 == 0 or row[0] in shown]
    head = ("cycle", *(f"{line}, %" for line in LINES))
    return Sheet("Convergence", head, [(f"{row[0]:.0f}", *(f"{value:.3f}" for value in row[1:])) for row in kept], words=0)


def told(study: ConvergenceStudy) -> str:
    """Returns what was simulated and what came of it, in one sentence."""
    about = f"{study.name}: {number(study.nodes)} nodes, {number(study.pairs)} subscriptions, seed {study.seed}"
    if study.converged_at is None:
        return f"{about}. After {study.points[-1].cycle} cycles less than 99 % of the rings are complete"
    return f"{about}. 99 % of the rings are complete after {study.converged_at} cycles"


def figure(study: ConvergenceStudy) -> FigureSection:
    """Returns the figure."""
    found = rows(study)
    # A share of 0 has no place on a logarithmic axis: its line ends before it.
    series = [Series(line, [(row[0], row[at]) for row in found if row[at] > 0], at - 1) for at, line in enumerate(LINES, 1)]
    plot = chart("convergence", "Convergence", Axis("cycles", is_whole=True), Axis("%", is_log=True), series)
    return FigureSection("convergence", "Convergence", "3.5", (plot,), _PUBLISHED, sheet(study))


def page(study: ConvergenceStudy) -> str:
    """Returns the whole page."""
    parts = drawn([figure(study)])
    head = element(
        "header", element("p", "Overlay: PolderCast", class_="kicker"), element("h1", study.name), element("p", f"{told(study)}.")
    )
    return document(
        f"{study.name}: PolderCast", [ContentsEntry(each.key, each.title) for each in parts], head, *(each.html for each in parts)
    )
