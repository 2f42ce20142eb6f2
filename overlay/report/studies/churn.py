"""PolderCast while nodes come and leave as Skype's super-peers did: who misses events, in each minute (PC 6.6)."""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from analytics.planning.report.chart import Axis, Series, chart
from analytics.report.plot import Plot

from ...simulator.churn.cycles import by_cycle
from ...simulator.churn.maker import ChurnShape, make_churn
from ...simulator.churning import ChurnedCycle, ChurningPlan, run_churning
from ...simulator.event_counts import missed_share
from ...simulator.graphs.friends import friends
from ...simulator.poldercast.options import PolderOptions, SpreadOptions
from ...simulator.poldercast.overlay import PolderCastOverlay
from ..study import OverlayStudy, StudyClaim, StudyResult, StudyScale, StudyTable

_MINUTE_MS: Final = 60_000
_MINUTES: Final = 60
# Rings grow for so many cycles before the first minute, and for no more than so many after the last one.
_BEFORE: Final = 100
_MOST_AFTER: Final = 200
_ACCEPTED: Final = 0.01
_SPIKE: Final = 0.04
_BACK: Final = 5
_VARIANTS: Final = {
    "ring-4": (PolderOptions(), SpreadOptions()),
    "ring-2": (PolderOptions(ring=2), SpreadOptions()),
    "ring-4-noticed": (PolderOptions(), SpreadOptions(notices=True)),
}


class ChurnScale(NamedTuple):
    """The size of a run: the churn, the minutes of it, and the cycles before."""

    shape: ChurnShape
    cycles: int
    before: int


_SCALES: Final[dict[StudyScale, ChurnScale]] = {
    "tiny": ChurnScale(ChurnShape(nodes=200, days=0.05, crowd=30, crowd_h=0.2, drop_h=0.5), 45, 30),
    "quick": ChurnScale(ChurnShape(nodes=800, days=0.2, crowd=120, crowd_h=0.5, drop_h=2.0), 180, 60),
    "full": ChurnScale(ChurnShape(days=1.0), 1440, _BEFORE),
}


class ChurnRun(NamedTuple):
    """The minutes of a run with one of the variants, and how many cycles after its end nobody missed anything (None: not in time)."""

    name: str
    cycles: list[ChurnedCycle]
    healed: int | None


def run(scale: StudyScale, seed: int, told: Callable[[str], None]) -> StudyResult:
    """Lets friends come and leave, publishes an event on each topic after each minute, and waits in the end until nobody misses any."""
    size = _SCALES[scale]
    runs = [_run(size, name, seed, told) for name in _VARIANTS]
    return StudyResult(tables=[_table(each) for each in runs], claims=claims(runs, size.shape, is_full=scale == "full"))


def plots(result: StudyResult) -> list[Plot]:
    """Returns who missed events and how many nodes were there, by hours."""
    hours, misses = Axis("hours"), Axis("% of the nodes that missed an event", least=0)
    by_node = [Series(each.name, _line(each, 4), style) for style, each in enumerate(result.tables)]
    by_delivery = [Series(each.name, _line(each, 5), style) for style, each in enumerate(result.tables)]
    there = [Series("nodes", [(float(row[0]) / _MINUTES, float(row[1])) for row in result.tables[0].rows])]
    return [
        chart("churn-nodes", "Nodes that missed an event", hours, misses, by_node),
        chart("churn-deliveries", "Deliveries that failed", hours, Axis("% of the deliveries", least=0), by_delivery),
        chart("churn-present", "Nodes that are there", hours, Axis("nodes", least=0), there),
    ]


def _run(size: ChurnScale, name: str, seed: int, told: Callable[[str], None]) -> ChurnRun:
    workload = friends(size.shape.nodes, seed).workload()
    churn = by_cycle(make_churn(size.shape, seed), _MINUTE_MS, size.cycles, workload.nodes)
    away = np.setdiff1d(np.arange(workload.nodes), churn.coming[0]).tolist()
    options, how = _VARIANTS[name]
    system = PolderCastOverlay(workload, seed, options, how=how, away=away)
    cycles = []
    for each in run_churning(system, workload, ChurningPlan(churn=churn, before=size.before)):
        told(f"{name}, minute {each.cycle} of {size.cycles}: {each.present:,} nodes, {each.misses.by_node:.2%} missed something")
        cycles.append(each)
    return ChurnRun(name, cycles, _heal(system))


def _heal(system: PolderCastOverlay) -> int | None:
    for cycle in range(_MOST_AFTER):
        if missed_share(system.publish_each()) == 0:
            return cycle
        system.cycle()
    return None


def _table(found: ChurnRun) -> StudyTable:
    head = (
        "minute",
        "present",
        "came",
        "left",
        "by node, %",
        "by delivery, %",
        "by node, settled, %",
        "by delivery, settled, %",
    )
    return StudyTable(name=found.name, head=head, rows=[_row(each) for each in found.cycles])


def _row(each: ChurnedCycle) -> tuple[float | str, ...]:
    shares = (each.misses.by_node, each.misses.by_delivery, each.settled.by_node, each.settled.by_delivery)
    return (each.cycle, each.present, each.came, each.left, *(100 * share for share in shares))


def _line(table: StudyTable, column: int) -> list[tuple[float, float]]:
    return [(float(row[0]) / _MINUTES, float(row[column])) for row in table.rows]


def claims(runs: list[ChurnRun], shape: ChurnShape, *, is_full: bool) -> list[StudyClaim]:
    """Returns what is claimed of minutes without anything special, of the drop, of the crowd, of rings of 2, and of the time after."""
    usual, narrow, noticed = runs
    drop, crowd = round(shape.drop_h * _MINUTES), round(shape.crowd_h * _MINUTES)
    within = range(crowd, crowd + round(shape.crowd_min) + 1)
    after = [each for each in usual.cycles if drop <= each.cycle <= drop + _BACK]
    calm = [each for each in usual.cycles if each not in after and each.cycle not in within]
    crowded = [each for each in usual.cycles if each.cycle in within]
    worst = max((each.misses.by_node for each in calm), default=0.0)
    spike = max((each.misses.by_node for each in after), default=0.0)
    is_back = bool(after) and after[-1].misses.by_node <= _ACCEPTED
    rush = max((each.settled.by_node for each in crowded), default=0.0)
    rings = [_deliveries(found.cycles) for found in runs]
    return [
        StudyClaim(
            requirement="P2P-26",
            published="at most 0.01 of the nodes miss an event",
            demanded="the same in every minute outside of the drop and the crowd, after a warm-up of 10 s",
            measured=f"{worst:.4f} in the worst minute, {_mean(calm):.4f} in the mean; {_deliveries(calm):.5f} of the deliveries",
            holds=worst <= _ACCEPTED if is_full else None,
            why="of a node with many topics each event counts; and a dead neighbour stays until it is the oldest of 60 entries, of which "
            "one is asked in a cycle: for half an hour",
        ),
        StudyClaim(
            requirement="P2P-27",
            published="0.04 at a sharp drop",
            demanded=f"at most 0.04, and 0.01 or less after {_BACK} cycles, where a tenth of the nodes leaves at once",
            measured=f"{spike:.4f} by node, {max((each.misses.by_delivery for each in after), default=0.0):.5f} by delivery; "
            + ", ".join(f"{each.misses.by_node:.4f}" for each in after),
            holds=spike <= _SPIKE and is_back if is_full else None,
            why="the size of the published drop is not told; here a tenth of the nodes leaves at once, and stays in views for as long",
        ),
        StudyClaim(
            requirement="P2P-28",
            published="at most 0.01 while a crowd of 600 comes",
            demanded="the same of those who have been there for a cycle",
            measured=f"{rush:.4f} in the worst minute; {max((each.misses.by_node for each in crowded), default=0.0):.4f} after 10 s",
            holds=rush <= _ACCEPTED if is_full else None,
            why="a new node needs tens of cycles to find its place in all of its rings, and 600 of them come to 1,500 others in ten; "
            "how many there were among whom the published crowd came is not told",
        ),
        StudyClaim(
            requirement="P2P-30",
            published="stand-bys help",
            demanded="with 2 ring neighbours more deliveries fail than with 4",
            measured=f"{rings[1]:.5f} in {narrow.name}, {rings[0]:.5f} in {usual.name}; where senders notice who is dead "
            f"{rings[2]:.5f} in {noticed.name}",
            holds=rings[1] > rings[0] if is_full else None,
            why="a stand-by is of use to those only who know that the neighbour before it is dead; twice as many entries are asked half as "
            "often, so the dead stay twice as long",
        ),
        StudyClaim(
            requirement="P2P-31",
            published="the overlay recovers",
            demanded="no delivery missed some cycles after the churn has ended, which are told",
            measured=f"{'not yet' if usual.healed is None else usual.healed} cycles",
            holds=usual.healed is not None,
        ),
    ]


def _mean(cycles: list[ChurnedCycle]) -> float:
    return float(np.mean([each.misses.by_node for each in cycles])) if cycles else 0.0


def _deliveries(cycles: list[ChurnedCycle]) -> float:
    return float(np.mean([each.misses.by_delivery for each in cycles])) if cycles else 0.0


CHURN: Final = OverlayStudy("churn", "Nodes that come and leave", "PolderCast figure 11, thesis figure 3.11", run, plots)
