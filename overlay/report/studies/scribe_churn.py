"""Scribe under churn, beside PolderCast under the same (PC 6.6, figure 11)."""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analytics.planning.report.chart import Axis, Series, chart
from analytics.report.plot import Plot

from ...simulator.churn.cycles import CycleChurn, by_cycle
from ...simulator.churn.maker import ChurnShape, make_churn
from ...simulator.churning import ChurnedCycle, ChurningPlan, run_churning
from ...simulator.graphs.friends import friends
from ...simulator.poldercast.overlay import PolderCastOverlay
from ...simulator.scribe.overlay import ScribeOverlay
from ...simulator.workload import OverlayWorkload
from ..study import OverlayStudy, StudyClaim, StudyResult, StudyScale, StudyTable

_CYCLE_MS: Final = 60_000
_CYCLES_H: Final = 60
# After the crowd has come, and after the drop, this many cycles are looked at for a peak.
_AFTER: Final = 5


class _Course(NamedTuple):
    """The course of a scale: the churn, so many cycles of it, and those before it in which overlays grow."""

    shape: ChurnShape
    cycles: int
    before: int


_COURSES: Final[dict[StudyScale, _Course]] = {
    "tiny": _Course(ChurnShape(nodes=200, days=1, crowd=30, crowd_h=0.1, crowd_min=2, drop_h=0.3), 25, 30),
    "quick": _Course(ChurnShape(nodes=1000, days=1, crowd=150, crowd_h=0.5, drop_h=1.5), 120, 60),
    "full": _Course(ChurnShape(days=1), 1440, 100),
}


def run(scale: StudyScale, seed: int, told: Callable[[str], None]) -> StudyResult:
    """Runs both systems through the same churn."""
    shape, cycles, before = _COURSES[scale]
    workload = friends(shape.nodes, seed).workload()
    churn = by_cycle(make_churn(shape, seed), _CYCLE_MS, cycles, workload.nodes)
    away = np.setdiff1d(np.arange(workload.nodes), churn.coming[0]).tolist()
    systems: dict[str, ScribeOverlay | PolderCastOverlay] = {
        "Scribe": ScribeOverlay(workload, seed, away=away),
        "PolderCast": PolderCastOverlay(workload, seed, away=away),
    }
    found = {name: _outcomes(name, system, workload, churn, before, seed, told) for name, system in systems.items()}
    rows: list[tuple[float | str, ...]] = [
        (theirs.cycle, theirs.present, theirs.came, theirs.left, *_percents(theirs), *_percents(ours))
        for theirs, ours in zip(found["Scribe"], found["PolderCast"], strict=True)
    ]
    head = (
        "cycle", "present", "came", "left",
        "Scribe, nodes that missed, %", "Scribe, deliveries, %", "PolderCast, nodes that missed, %", "PolderCast, deliveries, %",
    )  # fmt: skip
    table = StudyTable(name="misses", head=head, rows=rows)
    return StudyResult(tables=[table, summary(table, shape)], claims=[claim(table, shape, is_full=scale == "full")])


def _outcomes(
    name: str,
    system: ScribeOverlay | PolderCastOverlay,
    workload: OverlayWorkload,
    churn: CycleChurn,
    before: int,
    seed: int,
    told: Callable[[str], None],
) -> list[ChurnedCycle]:
    plan = ChurningPlan(churn=churn, before=before)
    return list(run_churning(system, workload, plan, lambda cycle: told(f"{name}: cycle {cycle + 1:,} of {len(churn):,}")))


def _percents(cycle: ChurnedCycle) -> tuple[float, float]:
    return 100 * cycle.misses.by_node, 100 * cycle.misses.by_delivery


def _part(table: StudyTable, column: int, first: int, last: int) -> NDArray[np.float64]:
    """Returns a column from one cycle to another."""
    return np.array([float(row[column]) for row in table.rows if first <= float(row[0]) <= last])


class _Misses(NamedTuple):
    """The miss ratios of a system, in percent: by node in the mean, at the 95th percentile, and at most at crowd and drop."""

    mean: float
    high: float
    crowd: float
    drop: float


def _misses(table: StudyTable, shape: ChurnShape, column: int) -> _Misses:
    crowd, drop = int(shape.crowd_h * _CYCLES_H), int(shape.drop_h * _CYCLES_H)
    every = _part(table, column, 0, len(table.rows))
    return _Misses(
        mean=float(every.mean()),
        high=float(np.percentile(every, 95)),
        crowd=float(_part(table, column, crowd, crowd + int(shape.crowd_min) + _AFTER).max()),
        drop=float(_part(table, column, drop - 1, drop + _AFTER).max()),
    )


def summary(table: StudyTable, shape: ChurnShape) -> StudyTable:
    """Returns what the misses of each cycle come to."""
    head = ("system", "misses", "mean, %", "95th percentile, %", "at most at the crowd, %", "at most at the drop, %")
    columns = (("Scribe", 4), ("PolderCast", 6))
    rows: list[tuple[float | str, ...]] = [
        (name, kind, *_misses(table, shape, column + more))
        for name, column in columns
        for more, kind in enumerate(("by node", "by delivery"))
    ]
    return StudyTable(name="summary", head=head, rows=rows)


def claim(table: StudyTable, shape: ChurnShape, *, is_full: bool) -> StudyClaim:
    """Returns what is claimed; short churn of few nodes is told only."""
    theirs, ours = _misses(table, shape, 4), _misses(table, shape, 6)
    times = theirs.mean / ours.mean if ours.mean else float("inf")
    peaks = theirs.crowd > theirs.high and theirs.drop > theirs.high
    return StudyClaim(
        requirement="P2P-29",
        published="Scribe misses about 10 times as much as PolderCast, most at the crowd and at the drop",
        demanded="5 times or more; peaks at crowd and drop",
        measured=f"nodes that missed an event: Scribe {theirs.mean:.2f} %, PolderCast {ours.mean:.2f} %, {times:.1f} times; Scribe at most "
        f"{theirs.crowd:.1f} % at the crowd, {theirs.drop:.1f} % at the drop, and {theirs.high:.1f} % at the 95th percentile; PolderCast "
        f"{ours.crowd:.1f} % and {ours.drop:.1f} %",
        holds=times >= 5 and peaks if is_full else None,
        why="Scribe is not slowed down: a parent that is silent for two cycles is left, each hop is acknowledged, and every node looks "
        "after its leaves in every cycle",
    )


def plots(result: StudyResult) -> list[Plot]:
    """Returns the miss ratio over time, and who was there."""
    table = result.table("misses")
    hours = [float(row[0]) / _CYCLES_H for row in table.rows]
    series = [
        Series(name, [(hour, float(row[at])) for hour, row in zip(hours, table.rows, strict=True) if float(row[at]) > 0], style)
        for style, (name, at) in enumerate((("Scribe", 4), ("PolderCast", 6)))
    ]
    present = [Series("nodes", [(hour, float(row[1])) for hour, row in zip(hours, table.rows, strict=True)])]
    return [
        chart("scribe-churn", "Nodes that missed an event", Axis("hours"), Axis("%", is_log=True), series, ("Figure 11.",)),
        chart("scribe-churn-present", "Nodes that are there", Axis("hours"), Axis("nodes", least=0), present),
    ]


SCRIBE_CHURN: Final = OverlayStudy(
    "scribe-churn", "Scribe under churn, beside PolderCast", "PolderCast figure 11, thesis figure 3.11", run, plots
)
