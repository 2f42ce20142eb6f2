"""Scribe beside PolderCast while nothing changes: hops, trees, control messages, and what nodes carry without wanting it (PC 6.4, 6.5)."""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analytics.planning.report.chart import Axis, Series, chart
from analytics.report.plot import Plot

from ...simulator.counters import DUPLICATE, KINDS
from ...simulator.event_counts import EventCounts
from ...simulator.graphs.friends import friends
from ...simulator.poldercast.options import SpreadOptions
from ...simulator.poldercast.overlay import PolderCastOverlay
from ...simulator.scribe.forest import Forest, forest, outage
from ...simulator.scribe.overlay import ScribeOverlay
from ...simulator.workload import OverlayWorkload
from ..study import OverlayStudy, StudyClaim, StudyResult, StudyScale, StudyTable
from ..traffic import Floats, NodeTraffic, counted

# Nodes, cycles until PolderCast's rings are complete, and rendezvous that are killed.
_EXTENTS: Final[dict[StudyScale, tuple[int, int, int]]] = {"tiny": (200, 40, 2), "quick": (1000, 60, 20), "full": (10_000, 100, 20)}
# PolderCast's nodes handle so many control messages in a cycle: each of three modules asks and is asked, and each of that is answered. Half
# of them are received, and that is what is counted of both systems.
_HANDLED: Final = 12.0
_MOST_HANDLED: Final = 24.0
_LINKS: Final = {
    "cyclon": SpreadOptions(sources="cyclon"),
    "vicinity": SpreadOptions(sources="vicinity"),
    "mixed": SpreadOptions(),
    "union": SpreadOptions(mode="union"),
}
_BINS: Final = 12
_DECILES: Final = tuple(range(0, 101, 5))


def run(scale: StudyScale, seed: int, told: Callable[[str], None]) -> StudyResult:
    """Builds both systems for the same friends, and publishes the same number of events on each topic."""
    nodes, cycles, killed = _EXTENTS[scale]
    workload = friends(nodes, seed).workload()
    told("Scribe builds its trees")
    scribe = ScribeOverlay(workload, seed)
    grown = forest(scribe.state)
    events = scribe.publish_each()
    received = np.asarray(scribe.messages).reshape(-1, KINDS)
    duplicates = int(received[:, DUPLICATE].sum())
    told("PolderCast's rings grow")
    polder = PolderCastOverlay(workload, seed)
    polder.run(cycles)
    spreads = {name: polder.publish_each(how=how) for name, how in _LINKS.items()}
    told("messages are counted")
    theirs, ours = counted(scribe), counted(polder)
    told(f"{killed} rendezvous die, one after the other")
    outages = [outage(scribe, topic) for topic in range(0, workload.topics, max(1, workload.topics // killed))][:killed]
    tables = [
        _hops(events, spreads, duplicates),
        _by_hops(events, spreads["mixed"]),
        _trees(grown, workload),
        _control(theirs, ours, workload),
        _unwanted(theirs, ours),
        StudyTable(name="outages", head=("rendezvous", "cycles until everybody is reached again"), rows=list(enumerate(outages))),
        _known(scale, seed),
    ]
    facts = _Facts(events, duplicates, grown, theirs, ours, workload, outages)
    return StudyResult(tables=tables, claims=claims(tables, facts, is_full=scale == "full"))


class _Facts(NamedTuple):
    """The measurements of which claims are made, besides the tables."""

    events: EventCounts
    duplicates: int
    grown: Forest
    theirs: NodeTraffic
    ours: NodeTraffic
    workload: OverlayWorkload
    outages: list[int]


def _mean_hops(counts: EventCounts) -> float:
    by_hops = np.asarray(counts.by_hops, np.float64)
    return float((by_hops * np.arange(len(by_hops))).sum() / by_hops.sum())


def _copies(counts: EventCounts) -> float:
    return float(np.asarray(counts.received).sum() / np.asarray(counts.got).sum())


def _hops(events: EventCounts, spreads: dict[str, EventCounts], duplicates: int) -> StudyTable:
    theirs = _mean_hops(events)
    rows: list[tuple[float | str, ...]] = [
        (name, _mean_hops(counts), _copies(counts), theirs / _mean_hops(counts)) for name, counts in spreads.items()
    ]
    # The copy that comes back to a publisher over the tree is its first, so copies beyond the first are the duplicates alone.
    copies = 1 + duplicates / int(np.asarray(events.got).sum())
    return StudyTable(
        name="hops",
        head=("random links from", "mean hops, f 2", "copies for each delivery", "Scribe's hops, times these"),
        rows=[*rows, ("scribe", theirs, copies, 1.0)],
    )


def _by_hops(events: EventCounts, mixed: EventCounts) -> StudyTable:
    both = [np.asarray(counts.by_hops, np.float64) for counts in (events, mixed)]
    last = max(int(np.flatnonzero(each).max()) for each in both)
    rows: list[tuple[float | str, ...]] = [(at, *(100 * float(each[at] / each.sum()) for each in both)) for at in range(1, last + 1)]
    return StudyTable(name="by-hops", head=("hops", "Scribe, % of deliveries", "PolderCast mixed, f 2, %"), rows=rows)


def _trees(grown: Forest, workload: OverlayWorkload) -> StudyTable:
    """Returns the relays of topics, by how many subscribers they have."""
    subscribers = workload.subscribers_of.lengths
    rows: list[tuple[float | str, ...]] = []
    for chosen in _groups(subscribers.astype(np.float64)):
        rows.append(
            (
                float(subscribers[chosen].mean()),
                float(grown.relays[chosen].mean()),
                float(grown.relays[chosen].max()),
                float(grown.depths[chosen].mean()),
            )
        )
    return StudyTable(name="trees", head=("subscribers", "relays", "most relays", "depth of the tree"), rows=rows)


def _control(theirs: NodeTraffic, ours: NodeTraffic, workload: OverlayWorkload) -> StudyTable:
    topics = workload.topics_of.lengths.astype(np.float64)
    rows: list[tuple[float | str, ...]] = [
        (float(topics[chosen].mean()), float(ours.control[chosen].mean()), float(theirs.control[chosen].mean()))
        for chosen in _groups(topics)
    ]
    return StudyTable(name="control", head=("topics of a node", "PolderCast, messages of a node and cycle", "Scribe"), rows=rows)


def _groups(values: Floats) -> list[NDArray[np.int64]]:
    """Returns places of alike values together, in parts of equal width on a logarithmic scale."""
    edges = np.unique(np.geomspace(max(1.0, values.min()), values.max() + 1, _BINS + 1).round())
    part = np.digitize(values, edges)
    return [chosen for each in range(len(edges) + 1) if len(chosen := np.flatnonzero(part == each))]


def _unwanted(theirs: NodeTraffic, ours: NodeTraffic) -> StudyTable:
    rows: list[tuple[float | str, ...]] = [
        (share, *(100 * float((each > share / 100).mean()) for each in (ours.unwanted, theirs.unwanted, theirs.with_pastry)))
        for share in _DECILES
    ]
    head = ("unwanted, more than %", "PolderCast, % of nodes", "Scribe, % of nodes", "Scribe with Pastry's own, % of nodes")
    return StudyTable(name="unwanted", head=head, rows=rows)


def _known(scale: StudyScale, seed: int) -> StudyTable:
    """Returns how many others a node knows in systems of several sizes."""
    sizes = (200, 400) if scale == "tiny" else (250, 1000, 4000, 16_000)
    rows: list[tuple[float | str, ...]] = []
    for nodes in sizes:
        state = ScribeOverlay(friends(nodes, seed).workload(), seed).state
        rows.append((nodes, float((np.asarray(state.table).reshape(nodes, -1) >= 0).sum(1).mean())))
    return StudyTable(name="known", head=("nodes", "entries of a table"), rows=rows)


def claims(tables: list[StudyTable], facts: _Facts, *, is_full: bool) -> list[StudyClaim]:
    """Returns what is claimed. Small systems are told only."""
    by_name = {each.name: each for each in tables}
    return [
        _about_hops(by_name["hops"], facts.duplicates, is_full=is_full),
        _about_control(facts, is_full=is_full),
        _about_unwanted(facts, is_full=is_full),
        *_about_trees(by_name["known"], facts),
    ]


def _about_hops(hops: StudyTable, duplicates: int, *, is_full: bool) -> StudyClaim:
    ratios = {str(row[0]): float(row[3]) for row in hops.rows}
    told = ", ".join(f"{ratios[name]:.2f} times {name}" for name in _LINKS)
    return StudyClaim(
        requirement="P2P-17",
        published="Scribe has 1.7 times the hops of the slowest PolderCast, and no duplicates",
        demanded="at least 1.3 times those of mixed at f 2, told against each source; exactly 0 duplicates",
        measured=f"Scribe {float(hops.rows[-1][1]):.2f} hops: {told}; {duplicates} duplicates",
        holds=ratios["mixed"] >= 1.3 and duplicates == 0 if is_full else None,
        why="base 16 and 10,000 nodes give about 3.3 hops to the rendezvous and as many down; nothing slows Scribe down here",
    )


def _about_control(facts: _Facts, *, is_full: bool) -> StudyClaim:
    ours, theirs = facts.ours.control, facts.theirs.control
    topics = facts.workload.topics_of.lengths
    many = topics > 100
    fit = _fit(facts.grown.seats.astype(np.float64), theirs)
    told = f"over 100 topics {ours[many].mean():.1f}; " if many.any() else ""
    few = float((ours < _MOST_HANDLED / 2).mean())
    holds = abs(2 * ours.mean() - _HANDLED) <= 1 and few > 0.5 and float(theirs.mean()) > float(ours.mean()) and fit >= 0.9
    return StudyClaim(
        requirement="P2P-23",
        published="nodes with more than 100 topics send more; Scribe sends more, in proportion to own and relayed topics",
        demanded="PolderCast's nodes handle 12 messages in a cycle, so 6 are received, and most receive less than 12; "
        "Scribe's receive more, linear in their trees (R² 0.9 or more)",
        measured=f"received by PolderCast's {ours.mean():.1f}, {told}{few:.1%} of the nodes below 12; "
        f"by Scribe's {theirs.mean():.1f}, R² {fit:.3f} over own and relayed topics",
        holds=bool(holds) if is_full else None,
    )


def _fit(x: Floats, y: Floats) -> float:
    """Returns R² of a line."""
    left = y - np.polyval(np.polyfit(x, y, 1), x)
    return float(1 - (left**2).sum() / ((y - y.mean()) ** 2).sum())


def _about_unwanted(facts: _Facts, *, is_full: bool) -> StudyClaim:
    plain, whole = (float((each > 0.7).mean()) for each in (facts.theirs.unwanted, facts.theirs.with_pastry))
    strict = [float((each > 0.8).mean()) for each in (facts.theirs.unwanted, facts.theirs.with_pastry)]
    ours = float(facts.ours.unwanted.max())
    return StudyClaim(
        requirement="P2P-24",
        published="of over 90 % of the nodes more than 80 % of the traffic is unwanted; none in PolderCast",
        demanded="more than 70 % at 80 % of the nodes, told with and without Pastry's own traffic; none in PolderCast",
        measured=f"over 70 % unwanted: {plain:.0%} of the nodes without Pastry's own traffic, {whole:.0%} with it; "
        f"over 80 %: {strict[0]:.0%} and {strict[1]:.0%}; PolderCast at most {ours:.0%}",
        holds=min(plain, whole) >= 0.8 and ours == 0 if is_full else None,
        why="here there are about 1.6 relays for each subscription, so a node of many topics relays less than it wants; the share depends "
        "on how often Pastry itself sends messages, which the paper does not tell, and on how many topics nodes have",
    )


def _about_trees(known: StudyTable, facts: _Facts) -> list[StudyClaim]:
    """Returns what is told of trees. Whether they are trees can be judged at any size."""
    wanted, reached = (int(np.asarray(each).sum()) for each in (facts.events.wanted, facts.events.reached))
    sizes, entries = np.array([[float(cell) for cell in row] for row in known.rows]).T
    slope = float(np.polyfit(np.log2(sizes) / 4, entries, 1)[0])
    grown, relays = facts.grown, facts.grown.relays
    return [
        StudyClaim(
            requirement="P2P-33",
            published="100 % of the events arrive without churn, over trees; a node knows O(log nodes) others",
            demanded="all deliveries; one parent each, no cycle; entries of tables grow as the logarithm",
            measured=f"{reached:,} of {wanted:,}; {grown.roots} roots for {len(relays):,} topics, {grown.stray} nodes outside a tree; "
            f"{slope:.1f} entries more for 16 times the nodes",
            holds=reached == wanted and grown.roots == int((grown.depths >= 0).sum()) and grown.stray == 0 and 8 < slope < 24,
        ),
        StudyClaim(
            requirement="P2P-34",
            published="there are relays",
            demanded="relays told by topic",
            measured=f"{relays.sum() / facts.workload.pairs:.2f} for each subscription; {relays.mean():.1f} for a topic, "
            f"at most {relays.max()}",
            holds=bool(relays.sum() > 0),
        ),
        StudyClaim(
            requirement="P2P-35",
            published="a topic is interrupted when its rendezvous dies",
            demanded="the outage told",
            measured=f"{np.mean(facts.outages):.1f} cycles in the mean, at most {max(facts.outages)}, of {len(facts.outages)} rendezvous",
            holds=None,
        ),
    ]


def plots(result: StudyResult) -> list[Plot]:
    """Returns the figures: hops, control messages by topics, unwanted traffic, and relays by subscribers."""
    hops, control, unwanted, trees = (result.table(name).rows for name in ("by-hops", "control", "unwanted", "trees"))
    return [
        chart(
            "scribe-hops", "Hops of deliveries", Axis("hops", is_whole=True), Axis("% of deliveries"),
            [Series("Scribe", _line(hops, 1), 0), Series("PolderCast, mixed, f 2", _line(hops, 2), 1)], ("Figure 8c.",),
        ),
        chart(
            "scribe-control", "Control messages by topics", Axis("topics of a node", is_log=True),
            Axis("messages of a node and cycle", is_log=True),
            [Series("Scribe", _line(control, 2), 0), Series("PolderCast", _line(control, 1), 1)], ("Figure 9.",),
        ),
        chart(
            "scribe-unwanted", "Unwanted traffic", Axis("unwanted traffic, more than %"), Axis("% of nodes"),
            [
                Series("Scribe", _line(unwanted, 2), 0),
                Series("Scribe, Pastry's own counted as unwanted", _line(unwanted, 3), 2),
                Series("PolderCast", _line(unwanted, 1), 1),
                Series("published: Scribe", [(80.0, 90.0)], 0, "published"),
            ],
            ("Figure 10.",),
        ),
        chart(
            "scribe-relays", "Relays by subscribers", Axis("subscribers of a topic", is_log=True), Axis("relays"),
            [Series("relays of a tree", _line(trees, 1))],
        ),
    ]  # fmt: skip


def _line(rows: list[tuple[float | str, ...]], column: int) -> list[tuple[float, float]]:
    return [(float(row[0]), float(row[column])) for row in rows]


SCRIBE: Final = OverlayStudy(
    "scribe", "Scribe beside PolderCast", "PolderCast figures 8a, 8c, 9 and 10, thesis figures 3.8 to 3.10", run, plots
)
