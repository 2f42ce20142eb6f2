"""What becomes of an event on each topic of a PolderCast overlay that stands still: hops and copies by fanout and source (PC 6.4)."""

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analytics.planning.report.chart import Axis, Series, chart
from analytics.report.plot import Plot

from ...simulator.event_counts import MANY, EventCounts, crowded_share, mean_copies, mean_hops
from ...simulator.graphs.friends import friends
from ...simulator.poldercast.measuring import unwanted
from ...simulator.poldercast.options import SpreadOptions
from ...simulator.poldercast.overlay import PolderCastOverlay
from ...simulator.workload import OverlayWorkload
from ..growth import cycles_until
from ..study import OverlayStudy, StudyClaim, StudyResult, StudyScale, StudyTable

_NODES: Final[dict[StudyScale, int]] = {"tiny": 200, "quick": 1000, "full": 10_000}
_MOST_CYCLES: Final = 400
# So many events on each topic: of one, the hops of two fanouts that lie beside each other differ by less than by chance.
_ROUNDS: Final = 10
FANOUTS: Final = tuple(range(2, 11))
# A fifth of the nodes gets four copies or more at some fanout, which may be higher than any that is drawn.
_HIGHEST: Final = 16
_RICH: Final = 100
_PILOT: Final = {("cyclon", 2): (6.24, 1.23), ("cyclon", 10): (5.86, 1.26), ("vicinity", 2): (4.12, 1.95), ("vicinity", 10): (2.60, 4.10)}


def how(way: str, fanout: int) -> SpreadOptions:
    """Returns the options of one of WAYS."""
    if way == "union":
        return SpreadOptions(fanout=fanout, mode="union")
    return SpreadOptions(fanout=fanout, sources="both") if way == "mixed" else SpreadOptions(fanout=fanout, sources=_ONLY[way])


_ONLY: Final[dict[str, Any]] = {"cyclon": "cyclon", "vicinity": "vicinity", "none": "none"}
WAYS: Final = ("cyclon", "vicinity", "mixed", "union", "none")


class SpreadPoint(NamedTuple):
    """The means of all topics for one way and fanout.

    - `hops`: of a delivery. `copies`: received of an event by one who gets it from others, among them those that come back to publishers.
    - `missed`: deliveries that were not made. `received`: copies for each subscriber, publishers included.
    """

    hops: float
    copies: float
    missed: int
    received: float


Points = dict[tuple[str, int], SpreadPoint]


def run(scale: StudyScale, seed: int, told: Callable[[str], None]) -> StudyResult:
    """Lets rings of friends become complete, and publishes an event on each topic for each source of links, mode and fanout."""
    workload = friends(_NODES[scale], seed).workload()
    system = PolderCastOverlay(workload, seed)
    cycles_until(system, 0.0, _MOST_CYCLES, told)
    points: Points = {}
    for way in WAYS:
        for fanout in FANOUTS:
            told(f"{way}, fanout {fanout}")
            counts = system.publish_each(_ROUNDS, how(way, fanout))
            received = float(np.asarray(counts.copies).sum()) / float(np.asarray(counts.reached).sum())
            points[way, fanout] = SpreadPoint(mean_hops(counts), mean_copies(counts), int(np.asarray(counts.missed).sum()), received)
    told("delay by subscribers, and copies by node")
    delays = system.publish_each(rounds=10)
    crowded = _crowded(system, workload)
    tables = [_by_fanout("hops", points), _by_fanout("copies", points), _delays(delays), _hops(system), crowded]
    return StudyResult(tables=tables, claims=claims(points, int(unwanted(system.state)), delays, crowded, is_full=scale == "full"))


def plots(result: StudyResult) -> list[Plot]:
    """Returns hops and copies over the fanout, hops over the number of subscribers, and how hops and copies are distributed."""
    found = [
        _over_fanout(result.table("hops"), "Delay", "hops of a delivery, mean"),
        _over_fanout(result.table("copies"), "Copies", "copies received of an event, mean"),
    ]
    delay = Series("fanout 2, both sources, mixed", [(float(row[0]), float(row[2])) for row in result.table("delay").rows])
    found.append(chart("dissemination-delay", "Delay by subscribers", Axis("subscribers of the topic", True), Axis("hops, mean"), [delay]))
    rows = result.table("hops-of-deliveries").rows
    series = [Series(way, [(float(row[0]), float(row[at])) for row in rows], at - 1) for at, way in enumerate(WAYS[:3], 1)]
    title = "Hops of deliveries, fanout 5"
    found.append(chart("dissemination-hops", title, Axis("hops", is_whole=True), Axis("% of deliveries with more", least=0), series))
    rows = result.table("many-copies").rows
    series = [Series(way, [(float(row[0]), float(row[at])) for row in rows], at - 1) for at, way in ((1, "vicinity"), (2, "mixed"))]
    series.append(Series("published, Vicinity only", [(float(rows[-1][0]), 20.0)], 0, "published"))
    title = "Events that come four times or more"
    return [*found, chart("dissemination-many", title, Axis("fanout", is_whole=True), Axis("% of deliveries", least=0), series)]


def _by_fanout(name: str, points: Points) -> StudyTable:
    rows: list[tuple[float | str, ...]] = [(fanout, *(getattr(points[way, fanout], name) for way in WAYS)) for fanout in FANOUTS]
    return StudyTable(name=name, head=("fanout", *WAYS), rows=rows)


def _over_fanout(table: StudyTable, title: str, label: str) -> Plot:
    series = [Series(way, [(float(row[0]), float(row[at])) for row in table.rows], at - 1) for at, way in enumerate(WAYS[:4], 1)]
    marks = [(float(f), pilot[table.name == "copies"]) for (_, f), pilot in _PILOT.items()]
    series.append(Series("pilot, one source", marks, 0, "published"))
    return chart(f"dissemination-{table.name}", title, Axis("fanout", is_whole=True), Axis(label, least=0), series)


def _delays(counts: EventCounts) -> StudyTable:
    """Returns the mean delay of topics, by the number of their subscribers: powers of two together."""
    size, delay = delay_by_size(counts)
    bounds = 2 ** np.arange(1, int(np.log2(size.max())) + 2)
    rows: list[tuple[float | str, ...]] = []
    for low, high in pairwise(bounds.tolist()):
        kept = (size >= low) & (size < high)
        if kept.any():
            rows.append((float(size[kept].mean()), int(kept.sum()), float(delay[kept].mean())))
    return StudyTable(name="delay", head=("subscribers, mean", "topics", "hops, mean"), rows=rows)


def delay_by_size(counts: EventCounts) -> tuple[NDArray[Any], NDArray[Any]]:
    """Returns of each topic with deliveries how many subscribers it has, and the mean hops of a delivery."""
    rounds = 10
    size, reached, hops = (np.asarray(each, np.float64) for each in (counts.wanted, counts.reached, counts.hops))
    kept = (size > rounds) & (reached > rounds)
    return size[kept] / rounds, hops[kept] / (reached[kept] - rounds)


def _hops(system: PolderCastOverlay) -> StudyTable:
    """Returns, for each number of hops, the percentage of deliveries that took more."""
    lines = []
    for way in WAYS[:3]:
        counts: NDArray[Any] = np.asarray(system.publish_each(how=how(way, 5)).by_hops)
        lines.append(100 * (1 - np.cumsum(counts) / max(1, counts.sum())))
    last = max(int(np.flatnonzero(line > 0).max(initial=0)) for line in lines) + 1
    rows: list[tuple[float | str, ...]] = [(at, *(float(line[at]) for line in lines)) for at in range(last + 1)]
    return StudyTable(name="hops-of-deliveries", head=("hops", *WAYS[:3]), rows=rows)


def _crowded(system: PolderCastOverlay, workload: OverlayWorkload) -> StudyTable:
    """Returns, by fanout, which share of deliveries comes four times or more, and how many copies those with many topics get.

    The paper does not tell whether it counts deliveries, or nodes by the mean of their events; the latter are told as well.
    """
    lengths = workload.topics_of.lengths
    rich = lengths > min(_RICH, int(np.quantile(lengths, 0.95)))
    rows: list[tuple[float | str, ...]] = []
    for fanout in range(2, _HIGHEST + 1):
        both = [system.publish_each(2, how(way, fanout)) for way in ("vicinity", "mixed")]
        each = [np.asarray(counts.received) / np.maximum(1, np.asarray(counts.got)) for counts in both]
        shares = [100 * float((copies >= MANY).mean()) for copies in each]
        rows.append((fanout, *(100 * crowded_share(counts) for counts in both), *shares, *(float(copies[rich].mean()) for copies in each)))
    ways = ("vicinity", "mixed")
    head = ("fanout", *(f"{way}, {what}" for what in ("% of deliveries", "% of nodes", "copies of the rich") for way in ways))
    return StudyTable(name="many-copies", head=head, rows=rows)


def claims(points: Points, unwanted_events: int, delays: EventCounts, crowded: StudyTable, *, is_full: bool) -> list[StudyClaim]:
    """Returns what is claimed. What needs the published size is only told elsewhere."""
    missed = sum(each.missed for each in points.values())
    most = max(each.received - fanout for (_, fanout), each in points.items())
    return [
        StudyClaim(
            requirement="P2P-10",
            published="everybody gets every event: a hit ratio of 100 %",
            demanded="no delivery missed on any topic, for fanouts 2 to 10, with random links and without",
            measured=f"{missed} deliveries missed",
            holds=missed == 0,
        ),
        StudyClaim(
            requirement="P2P-11",
            published="only subscribers handle an event",
            demanded="no event received by a node that does not subscribe",
            measured=f"{unwanted_events} such events",
            holds=unwanted_events == 0,
        ),
        StudyClaim(
            requirement="P2P-12",
            published="duplicates are at most the fanout",
            demanded="copies received in the mean are at most the fanout",
            measured=f"{-most:.2f} below the fanout where they are nearest to it",
            holds=most <= 0,
        ),
        _rising(points),
        _between(points, is_full=is_full),
        _pilot(points, is_full=is_full),
        _logarithmic(delays, is_full=is_full),
        _fifth(crowded, is_full=is_full),
    ]


def _rising(points: Points) -> StudyClaim:
    lines = {way: [points[way, fanout] for fanout in FANOUTS] for way in ("mixed", "union")}
    holds = all(one.hops > other.hops and one.copies < other.copies for line in lines.values() for one, other in pairwise(line))
    told = ", ".join(
        f"{way} {line[0].hops:.2f} to {line[-1].hops:.2f} hops, {line[0].copies:.2f} to {line[-1].copies:.2f} copies"
        for way, line in lines.items()
    )
    return StudyClaim(
        requirement="P2P-13",
        published="with the fanout, hops fall and duplicates rise",
        demanded="monotone over fanouts 2 to 10 with both sources",
        measured=told,
        holds=holds,
    )


def _between(points: Points, *, is_full: bool) -> StudyClaim:
    higher = FANOUTS[1:]
    lies = all(
        points["vicinity", f].hops < points["mixed", f].hops < points["cyclon", f].hops
        and points["cyclon", f].copies < points["mixed", f].copies < points["vicinity", f].copies
        for f in higher
    )
    flat = max(abs(points["cyclon", f][at] / points["cyclon", 3][at] - 1) for f in higher for at in (0, 1))
    near = max(abs(points["union", f][at] / points["vicinity", f][at] - 1) for f in higher for at in (0, 1))
    return StudyClaim(
        requirement="P2P-14",
        published="Cyclon only is flat, Vicinity only is fastest with most duplicates, both together lie between",
        demanded="over fanouts 3 to 10 Cyclon within 10 %, mixed strictly between, union within 10 % of Vicinity",
        measured=f"Cyclon within {flat:.0%}, mixed {'always' if lies else 'not always'} between, union within {near:.0%}",
        holds=lies and flat <= 0.1 and near <= 0.1 if is_full else None,
        why="a union can only add candidates, so it lies a little beyond Vicinity; the published middle needs a coin for each link",
    )


def _pilot(points: Points, *, is_full: bool) -> StudyClaim:
    off = {key: max(abs(points[key].hops / pilot[0] - 1), abs(points[key].copies / pilot[1] - 1)) for key, pilot in _PILOT.items()}
    return StudyClaim(
        requirement="P2P-14",
        published="not told in numbers; a pilot on 10,000 friends had Cyclon 6.24 and 5.86 hops, Vicinity 4.12 and 2.60 (fanouts 2, 10)",
        demanded="hops and copies of the pilot, within 10 %",
        measured=", ".join(f"{way} at {fanout}: {share:.0%} off" for (way, fanout), share in off.items()),
        holds=max(off.values()) <= 0.1 if is_full else None,
    )


def _logarithmic(delays: EventCounts, *, is_full: bool) -> StudyClaim:
    size, delay = delay_by_size(delays)
    fits = [float(np.corrcoef(x, delay)[0, 1] ** 2) for x in (np.log(size), size)]
    return StudyClaim(
        requirement="P2P-15",
        published="delay grows with the logarithm of the subscribers",
        demanded="a line over the logarithm fits better than one over the number",
        measured=f"R² {fits[0]:.3f} over the logarithm, {fits[1]:.3f} over the number",
        holds=fits[0] > fits[1] if is_full else None,
    )


def _fifth(crowded: StudyTable, *, is_full: bool) -> StudyClaim:
    rows = [tuple(float(value) for value in row) for row in crowded.rows]
    there = [int(row[0]) for row in rows if 15 <= row[1] <= 25]
    fewer = all(row[2] <= row[1] for row in rows)
    rich = all(row[6] < row[5] for row in rows if row[0] >= 3)
    return StudyClaim(
        requirement="P2P-16",
        published="with Vicinity only about 20 % of the nodes get messages four times or more; with both sources fewer",
        demanded="the fanout is named; fewer with both, for nodes of over 100 topics too",
        measured=(
            f"by node and event, 15 to 25 % at fanouts {', '.join(map(str, there)) or 'that were not tried'}; "
            f"at fanout {rows[-1][0]:.0f} {rows[-1][1]:.0f} % and {rows[-1][2]:.0f} % with both; "
            f"{rows[-1][3]:.1f} and {rows[-1][4]:.1f} % of nodes have as many in the mean of their events"
        ),
        holds=bool(there) and fewer and rich if is_full else None,
        why="the paper does not tell what it counts; judged by node and event, because few nodes have so many in the mean of their events",
    )


DISSEMINATION: Final = OverlayStudy("dissemination", "An event on each topic", "PolderCast figure 8, thesis figure 3.8", run, plots)
