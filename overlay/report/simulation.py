"""One overlay from a cold start: what its events reach, and what it costs, cycle by cycle."""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from analytics.numbers import number
from analytics.planning.report.chart import Axis, Series, chart
from analytics.report.document import ContentsEntry, document, section
from analytics.report.markup import element
from analytics.report.plot import Plot, figures
from infra.kernel.html import Html

from ..simulator.churn.cycles import CycleChurn
from ..simulator.churning import begin, move
from ..simulator.counters import CONTROL, KINDS
from ..simulator.latency.latency import MessageLatency
from ..simulator.poldercast.overlay import PolderCastOverlay
from ..simulator.probing import EventProbe
from ..simulator.systems import WatchedSystem
from ..simulator.workload import OverlayWorkload
from .study import StudyTable
from .tables import as_sheet

# An overlay without rings has settled when nobody has missed anything for so many cycles.
_SETTLED: Final = 10
_Line = list[tuple[float, float]]


class SimulatedCycle(msgspec.Struct, frozen=True, kw_only=True):
    """The overlay after a `cycle`, and what the cycle has cost.

    - `hit_ratio`, `missed_events`: the shares of wanted deliveries that were made, and of events that did not reach everybody.
    - `hops`: of a delivery. `copies`: received by anybody for each delivery. `unwanted_share`: of the copies.
    - `control_messages`, `control_bytes`: received by a live node in this cycle, in the mean.
    - `incomplete_rings`: their share, of a system that has rings.
    - `median_ms`, `p99_ms`: of a delivery, where messages take time. `present`: how many nodes are there, under churn.
    """

    cycle: int
    hit_ratio: float
    missed_events: float
    hops: float
    copies: float
    unwanted_share: float
    control_messages: float
    control_bytes: float
    incomplete_rings: float | None = None
    median_ms: float | None = None
    p99_ms: float | None = None
    present: int | None = None


class SimulatedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A run of one `system` on the workload called `name`, with so many `events` after each cycle."""

    system: str
    name: str
    nodes: int
    topics: int
    pairs: int
    seed: int
    events: int
    cycles: list[SimulatedCycle]

    @property
    def complete_from(self) -> int | None:
        """The first of the cycles at the end of the run in which no event missed anybody."""
        missing = [each.cycle for each in self.cycles if each.missed_events]
        if not missing:
            return 0
        return missing[-1] + 1 if missing[-1] < self.cycles[-1].cycle else None

    @property
    def told(self) -> str:
        """What was simulated and what came of it, in a sentence."""
        about = f"{self.system} on {self.name}: {number(self.nodes)} nodes, {number(self.pairs)} subscriptions, seed {self.seed}"
        last = self.cycles[-1]
        if self.complete_from is None:
            return f"{about}. After {last.cycle} cycles {100 * last.hit_ratio:.2f} % of the deliveries are made"
        return f"{about}. From cycle {self.complete_from} on all events reach everybody"


def simulate(
    system_name: str,
    system: WatchedSystem,
    name: str,
    workload: OverlayWorkload,
    seed: int,
    *,
    cycles: int,
    events: int,
    told: Callable[[SimulatedCycle], None],
    churn: CycleChurn | None = None,
    latency: MessageLatency | None = None,
) -> SimulatedRun:
    """Runs `system` for `cycles`, or until it has settled, and tells each cycle as it ends.

    - `events`: so many are published after each cycle.
    - `churn`: who comes and leaves, in one cycle more than there are: who comes in its first one is there from the beginning on. With it, a
      run does not end before.
    - `latency`: how long messages of events take.
    """
    probe, found = EventProbe(workload.topics, seed), list[SimulatedCycle]()
    here = np.ones(workload.nodes, np.bool_)
    if churn is not None:
        begin(system, churn, here)
    for cycle in range(cycles + 1):
        before = _control(system)
        if cycle:
            if churn is not None:
                move(system, churn, cycle, here)
            system.cycle()
        present = int(here.sum())
        spent = (_control(system) - before) / max(1, present)
        after = _after(system, cycle, probe, events, spent.tolist(), latency)
        found.append(after if churn is None else msgspec.structs.replace(after, present=present))
        told(found[-1])
        if churn is None and _has_settled(found):
            break
    return SimulatedRun(
        system=system_name,
        name=name,
        nodes=workload.nodes,
        topics=workload.topics,
        pairs=workload.pairs,
        seed=seed,
        events=events,
        cycles=found,
    )


def _control(system: WatchedSystem) -> NDArray[np.float64]:
    """Returns how many control messages nodes have received, and their bytes."""
    return np.array([np.asarray(each).reshape(-1, KINDS)[:, CONTROL].sum() for each in (system.messages, system.sizes)], np.float64)


def _after(
    system: WatchedSystem, cycle: int, probe: EventProbe, events: int, spent: Sequence[float], latency: MessageLatency | None
) -> SimulatedCycle:
    counts = probe.publish(system, events, latency)
    ms = np.percentile(counts.arrivals_us / 1000, [50, 99]).tolist() if len(counts.arrivals_us) else [0.0, 0.0]
    return SimulatedCycle(
        cycle=cycle,
        hit_ratio=counts.hit_ratio,
        missed_events=counts.missed_events / max(1, counts.events),
        hops=counts.mean_hops,
        copies=counts.copies_per_delivery,
        unwanted_share=counts.unwanted_share,
        control_messages=spent[0],
        control_bytes=spent[1],
        incomplete_rings=system.rings().incomplete_share if isinstance(system, PolderCastOverlay) else None,
        median_ms=None if latency is None else ms[0],
        p99_ms=None if latency is None else ms[1],
    )


def _has_settled(found: list[SimulatedCycle]) -> bool:
    if found[-1].incomplete_rings is not None:
        return found[-1].incomplete_rings == 0
    return len(found) > _SETTLED and all(each.missed_events == 0 for each in found[-_SETTLED:])


def table(run: SimulatedRun) -> StudyTable:
    """Returns the numbers of a run, a row for each cycle."""
    head: tuple[str, ...] = ("cycle", "hit ratio, %", "events that missed somebody, %", "hops", "copies per delivery", "unwanted copies, %")
    head += ("control messages per node", "control bytes per node")
    head += tuple(name for name, number in _parts(run.cycles[0]).items() if number is not None)
    return StudyTable(name="cycles", head=head, rows=[_row(each) for each in run.cycles])


def _row(each: SimulatedCycle) -> tuple[float, ...]:
    more = [number for number in _parts(each).values() if number is not None]
    shares = (100 * each.hit_ratio, 100 * each.missed_events)
    return (each.cycle, *shares, each.hops, each.copies, 100 * each.unwanted_share, each.control_messages, each.control_bytes, *more)


def _parts(each: SimulatedCycle) -> dict[str, float | None]:
    """Returns the columns that only some runs have."""
    rings = None if each.incomplete_rings is None else 100 * each.incomplete_rings
    return {"incomplete rings, %": rings, "median ms": each.median_ms, "99 % ms": each.p99_ms, "nodes there": each.present}


def plots(run: SimulatedRun) -> list[Plot]:
    """Returns what events reach, how they come, and what it costs, over the cycles."""
    cycles, has_rings = run.cycles, run.cycles[0].incomplete_rings is not None
    missed = {
        "missed deliveries": [(each.cycle, 100 * (1 - each.hit_ratio)) for each in cycles],
        "events that missed somebody": [(each.cycle, 100 * each.missed_events) for each in cycles],
    }
    if has_rings:
        missed["incomplete rings"] = [(each.cycle, 100 * (each.incomplete_rings or 0)) for each in cycles]
    reached = [each for each in cycles if each.hops]
    came: dict[str, _Line] = {
        "hops": [(each.cycle, each.hops) for each in reached],
        "copies per delivery": [(each.cycle, each.copies) for each in reached],
    }
    cost: dict[str, _Line] = {"bytes": [(each.cycle, each.control_bytes) for each in cycles[1:]]}
    return [
        # A share of 0 has no place on a logarithmic axis: its line ends before it.
        _chart("missed", "What events miss", Axis("%", is_log=True), {line: [at for at in of if at[1] > 0] for line, of in missed.items()}),
        _chart("came", "How events come", Axis("of a delivery, in the mean", least=0), came),
        _chart("cost", "What it costs", Axis("control bytes per node and cycle", least=0), cost),
    ]


def _chart(name: str, title: str, y: Axis, lines: dict[str, _Line]) -> Plot:
    series = [Series(label, points, style) for style, (label, points) in enumerate(lines.items())]
    return chart(f"simulation-{name}", title, Axis("cycles", is_whole=True), y, series)


def page(run: SimulatedRun) -> Html:
    """Returns the page of a run."""
    title = f"{run.system} on {run.name}"
    head = element(
        "header",
        element("p", "Overlay from a cold start", class_="kicker"),
        element("h1", title),
        element("p", f"{run.told}.", class_="lead"),
    )
    note = f"After each cycle {run.events:,} events, each on another topic by a random subscriber."
    parts = {
        "figures": ("Figures", (figures(plots(run), titled=True), element("p", note, class_="source"))),
        "cycles": ("Cycles", (as_sheet(table(run)).html(),)),
    }
    contents = [ContentsEntry(key, name) for key, (name, _) in parts.items()]
    return document(title, contents, head, *(section(key, name, *content) for key, (name, content) in parts.items()))
