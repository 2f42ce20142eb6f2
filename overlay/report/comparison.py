"""All overlays on the same workload, churn, latencies and seeds: what each costs, and what arrives when things go wrong (OV-4)."""

import copy
from collections.abc import Callable
from typing import Final, Literal

import msgspec
import numpy as np

from analytics.numbers import number
from analytics.planning.report.chart import Axis, Series, chart
from analytics.report.document import ContentsEntry, document, section
from analytics.report.markup import element
from analytics.report.plot import Plot, figures
from infra.kernel.html import Html

from ..simulator.churn.cycles import CycleChurn, by_cycle
from ..simulator.churn.maker import ChurnShape, make_churn
from ..simulator.churning import ChurningPlan, run_churning
from ..simulator.counters import CONTROL, KINDS
from ..simulator.degrees import degrees
from ..simulator.harm import LIES, Misdeed, deaths, misdeeds
from ..simulator.latency.latency import MessageLatency, planetlab, seattle
from ..simulator.probing import EventProbe
from ..simulator.systems import WatchedSystem, new_system
from ..simulator.workload import OverlayWorkload
from .study import StudyTable
from .surroundings import NONE, OverlaySurroundings
from .tables import as_sheet

Network = Literal["planetlab", "seattle"]
NETWORKS: Final[dict[Network, Callable[[int, int], MessageLatency]]] = {"planetlab": planetlab, "seattle": seattle}
# A cycle of gossip, heartbeats or updates stands for a second of a real network, and under churn for a minute of its trace (PC 6.6).
CYCLE_S: Final = 1.0
_CHURN_MS: Final = 60_000
# Control messages are counted over so many cycles of peace.
_COUNTED: Final = 10
# One node in so many publishes in each of them.
_QUIET: Final = 100
HARMED: Final = 0.2
DYING: Final = 0.3


class Conditions(msgspec.Struct, frozen=True, kw_only=True):
    """The conditions, which are the same for all systems.

    - `settle`: so many cycles of peace come first. `events`: how many are published for hops, copies and milliseconds.
    - `churn_cycles`: of churn, with an event on each topic after each; those who are away at its beginning leave as long before as systems
      settle. `harm_cycles`: the same of each harm.
    - `networks`: whose round trips messages take.
    """

    seed: int
    settle: int = 100
    events: int = 1000
    churn_cycles: int = 60
    harm_cycles: int = 20
    networks: tuple[Network, ...] = ("planetlab", "seattle")


class ComparedSystem(msgspec.Struct, frozen=True, kw_only=True):
    """The showing of one system.

    - `copies`, `hops`: for each delivery. `unwanted_share`: of the copies, those at nodes that want none.
    - `median_ms`, `p99_ms`: of a delivery, by network. `arrivals_ms`: the hundredths of all times, by network.
    - `mean_degree`, `most_degree`: how many others a node keeps up with. `control_bytes_s`: received by a node in a second, in the mean.
    - `peace`, `churn`, `freeriders`, `liars`, `deaths`: the hit ratios; deaths are looked at in the cycle in which they happen.
    """

    system: str
    copies: float
    hops: float
    unwanted_share: float
    arrivals_ms: dict[str, list[float]]
    mean_degree: float
    most_degree: int
    control_bytes_s: float
    peace: float
    churn: float
    freeriders: float
    liars: float
    deaths: float

    def at_ms(self, network: str, percent: int) -> float:
        """Returns the milliseconds within which so many percent of the deliveries were made. Raises KeyError."""
        return self.arrivals_ms[network][percent]


def compare(
    name: str, workload: OverlayWorkload, conditions: Conditions, told: Callable[[str], None], around: OverlaySurroundings = NONE
) -> ComparedSystem:
    """Returns what the system `name` does on a workload, under the same conditions as any other.

    - `told`: is called with what it does now.
    - `around`: what files say of churn and latencies, instead of the churn that is made, and of the networks of the conditions.

    Raises OverlayError where the networks are not there, or the churn has nodes that the workload has not.
    """
    told(f"{name}: {conditions.settle} cycles of peace")
    settled = new_system(name, workload, conditions.seed)
    for _ in range(conditions.settle):
        settled.cycle()
    spent = _control_bytes(settled, workload, conditions.seed)
    degree = degrees(settled, workload.nodes)
    arrivals: dict[str, list[float]] = {}
    counts = EventProbe(workload.topics, conditions.seed).publish(settled, conditions.events)
    for network, latency in _latencies(workload.nodes, conditions, around).items():
        told(f"{name}: milliseconds on {network}")
        timed = EventProbe(workload.topics, conditions.seed).publish(settled, conditions.events, latency)
        arrivals[network] = np.percentile(timed.arrivals_us / 1000, range(101)).tolist()

    def hits(what: str, churn: CycleChurn, misdeed: Misdeed = Misdeed.NONE, *, before: int = 0, cycle: int | None = None) -> float:
        """Returns the hit ratio of a copy of the settled system: of one cycle, or of all."""
        told(f"{name}: {what}")
        flags = misdeeds(workload.nodes, HARMED, misdeed, conditions.seed) if misdeed else None
        plan = ChurningPlan(churn=churn, before=before, flags=flags)
        found = [each.misses for each in run_churning(copy.deepcopy(settled), workload, plan)]
        kept = found if cycle is None else [found[cycle]]
        return 1 - sum(each.missed for each in kept) / max(1, sum(each.deliveries for each in kept))

    still = quiet(workload.nodes, conditions.harm_cycles)
    return ComparedSystem(
        system=name,
        copies=counts.copies_per_delivery,
        hops=counts.mean_hops,
        unwanted_share=counts.unwanted_share,
        arrivals_ms=arrivals,
        mean_degree=float(degree.mean()),
        most_degree=int(degree.max()),
        control_bytes_s=spent / CYCLE_S,
        peace=counts.hit_ratio,
        churn=hits("churn", churned(workload.nodes, conditions, around), before=conditions.settle),
        freeriders=hits("freeriders", still, Misdeed.FREERIDES),
        liars=hits("liars", still, LIES, cycle=-1),
        deaths=hits("deaths", dying(still, workload.nodes, conditions.seed), cycle=1),
    )


def quiet(nodes: int, cycles: int) -> CycleChurn:
    """Returns cycles in which everybody is there all the time."""
    nobody = np.empty(0, np.int64)
    rest = [nobody] * (cycles - 1)
    return CycleChurn([nobody] * cycles, [np.arange(nodes), *rest], [np.zeros(nodes, np.int64), *rest])


def dying(still: CycleChurn, nodes: int, seed: int) -> CycleChurn:
    """Returns the same cycles, but in the second one DYING of the nodes die at once."""
    return still.with_deaths(1, deaths(np.arange(nodes), DYING, seed))


def _latencies(nodes: int, conditions: Conditions, around: OverlaySurroundings) -> dict[str, MessageLatency]:
    """Returns how long messages take, by network."""
    read = around.latency(nodes, conditions.seed)
    return {each: NETWORKS[each](nodes, conditions.seed) for each in conditions.networks} if read is None else {around.network: read}


def churned(nodes: int, conditions: Conditions, around: OverlaySurroundings = NONE) -> CycleChurn:
    """Returns cycles of the churn that was read, or else of Skype-like churn without a crowd and without a drop, of a minute each."""
    cycles = conditions.churn_cycles
    if (read := around.churn_by_cycle(cycles, nodes)) is not None:
        return read
    shape = ChurnShape(nodes=nodes, days=cycles * _CHURN_MS / 86_400_000, crowd=0, drop=0.0)
    return by_cycle(make_churn(shape, conditions.seed), _CHURN_MS, cycles, nodes)


def _control_bytes(system: WatchedSystem, workload: OverlayWorkload, seed: int) -> float:
    """Returns the bytes of control messages that a node receives in a cycle, while one node in `_QUIET` publishes in each.

    Events count, because gossip about them is control.
    """
    before, probe = _control(system), EventProbe(workload.topics, seed)
    for _ in range(_COUNTED):
        system.cycle()
        probe.publish(system, max(1, workload.nodes // _QUIET))
    return float(_control(system) - before) / _COUNTED / workload.nodes


def _control(system: WatchedSystem) -> int:
    return int(np.asarray(system.sizes, np.int64).reshape(-1, KINDS)[:, CONTROL].sum())


def costs(found: list[ComparedSystem]) -> StudyTable:
    """Returns what a delivery and a second cost, a row for each system."""
    networks = list(found[0].arrivals_ms)
    times = [f"{network}, {what} ms" for network in networks for what in ("median", "99 %")]
    head = (
        "system",
        "hops",
        "copies per delivery",
        "unwanted, %",
        *times,
        "degree, mean",
        "degree, most",
        "control bytes per node and second",
    )
    rows: list[tuple[float | str, ...]] = [
        (
            each.system,
            each.hops,
            each.copies,
            100 * each.unwanted_share,
            *(each.at_ms(network, percent) for network in networks for percent in (50, 99)),
            each.mean_degree,
            each.most_degree,
            each.control_bytes_s,
        )
        for each in found
    ]
    return StudyTable(name="costs", head=head, rows=rows)


def hit_ratios(found: list[ComparedSystem]) -> StudyTable:
    """Returns the share of deliveries that are made, in percent, a row for each system."""
    head = ("system", "in peace", "under churn", f"{HARMED:.0%} freeride", f"{HARMED:.0%} lie", f"{DYING:.0%} die at once")
    rows: list[tuple[float | str, ...]] = [
        (each.system, *(100 * share for share in (each.peace, each.churn, each.freeriders, each.liars, each.deaths))) for each in found
    ]
    return StudyTable(name="hit-ratios", head=head, rows=rows)


def arrivals(found: list[ComparedSystem]) -> StudyTable:
    """Returns within how many milliseconds so many percent of the deliveries are made, by network and system."""
    rows: list[tuple[float | str, ...]] = [
        (network, each.system, percent, each.at_ms(network, percent))
        for network in found[0].arrivals_ms
        for each in found
        for percent in range(101)
    ]
    return StudyTable(name="arrivals", head=("network", "system", "percent", "ms"), rows=rows)


def tables(found: list[ComparedSystem]) -> list[StudyTable]:
    """Returns all tables of a comparison."""
    return [costs(found), hit_ratios(found), *([arrivals(found)] if found[0].arrivals_ms else [])]


def told(name: str, workload: OverlayWorkload, conditions: Conditions) -> str:
    """Returns what was compared on, in a sentence."""
    about = f"{name}: {number(workload.nodes)} nodes, {number(workload.topics)} topics, {number(workload.pairs)} subscriptions"
    return f"{about}, seed {conditions.seed}. {conditions.settle} cycles of peace, then each harm by itself."


def page(name: str, workload: OverlayWorkload, conditions: Conditions, made: list[StudyTable]) -> Html:
    """Returns the page of a comparison."""
    title = f"Overlays on {name}"
    head = element(
        "header",
        element("p", "Overlays beside each other", class_="kicker"),
        element("h1", title),
        element("p", told(name, workload, conditions), class_="lead"),
    )
    parts = [section("figures", "Figures", figures(plots({each.name: each for each in made}), titled=True))]
    parts += [section(each.name, as_sheet(each).title, as_sheet(each).html()) for each in made]
    contents = [ContentsEntry("figures", "Figures"), *(ContentsEntry(each.name, as_sheet(each).title) for each in made)]
    return document(title, contents, head, *parts)


def plots(made: dict[str, StudyTable]) -> list[Plot]:
    """Returns the drawings of these tables, by their names: times by network, and hit ratios."""
    harms = made["hit-ratios"].head[1:]
    missed = [
        Series(str(row[0]), [(at, 100 - float(share)) for at, share in enumerate(row[1:])], style)
        for style, row in enumerate(made["hit-ratios"].rows)
    ]
    drawn = [chart("compare-missed", "Missed deliveries", Axis("", names=harms), Axis("missed deliveries, %", least=0), missed)]
    rows = made["arrivals"].rows if "arrivals" in made else []
    for network in dict.fromkeys(str(row[0]) for row in rows):
        systems = dict.fromkeys(str(row[1]) for row in rows)
        series = [
            Series(system, [(float(row[3]), float(row[2])) for row in rows if row[:2] == (network, system)], style)
            for style, system in enumerate(systems)
        ]
        title = f"Milliseconds on {network.capitalize()}"
        drawn.append(chart(f"compare-{network}", title, Axis("ms", least=0), Axis("% of the deliveries"), series))
    return drawn
