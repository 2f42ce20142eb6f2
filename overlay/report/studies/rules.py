"""What the rules of PolderCast are worth that its paper leaves open: ages, proximity, priorities (spec 2.5 and 2.7); and who is last."""

from collections.abc import Callable
from typing import Final, NamedTuple

import numpy as np

from analytics.planning.report.chart import Axis, Series, chart
from analytics.report.plot import Plot

from ...simulator.graphs.friends import friends
from ...simulator.graphs.reading import carried
from ...simulator.poldercast.options import PolderOptions
from ...simulator.poldercast.overlay import PolderCastOverlay
from ...simulator.workload import OverlayWorkload
from ..study import OverlayStudy, StudyClaim, StudyResult, StudyScale, StudyTable

# Nodes, cycles after which rings are looked at, and seeds.
_SIZES: Final[dict[StudyScale, tuple[int, int, int]]] = {"tiny": (200, 15, 1), "quick": (1000, 40, 1), "full": (2000, 60, 5)}
# Nodes whose last cycle is looked for, and the most cycles.
_LAST: Final[dict[StudyScale, tuple[int, int]]] = {"tiny": (200, 60), "quick": (1000, 120), "full": (10_000, 300)}
_RICH: Final = 400
VARIANTS: Final = {
    "default": PolderOptions(),
    "ages of modules": PolderOptions(ages="module"),
    "one age for all": PolderOptions(ages="shared"),
    "sum of priorities": PolderOptions(proximity="sum"),
    "priorities of their time": PolderOptions(priorities="then"),
}
_PILOT: Final = {"one age for all": 0.257, "ages of modules": 0.172, "default": 0.019}


class LastNodes(NamedTuple):
    """The cycle after which a node lacked no link any more: of the median node, and the latest of those with most topics."""

    name: str
    median: float
    rich: float


def run(scale: StudyScale, seed: int, told: Callable[[str], None]) -> StudyResult:
    """Lets overlays grow under each variant of the rules, and finds out when each node has all its links."""
    nodes, cycles, seeds = _SIZES[scale]
    rows: list[tuple[float | str, ...]] = []
    for name, options in VARIANTS.items():
        shares = []
        for number in range(seed, seed + seeds):
            told(f"{name}, seed {number}")
            system = PolderCastOverlay(friends(nodes, number).workload(), number, options)
            system.run(cycles)
            shares.append(100 * system.rings().incomplete_share)
        rows.append((name, float(np.mean(shares)), float(min(shares)), float(max(shares))))
    head = ("rule", f"incomplete rings after {cycles} cycles, %", "least of the seeds", "most")
    table = StudyTable(name="rules", head=head, rows=rows)
    size, most = _LAST[scale]
    last = [_last("friends", friends(size, seed).workload(), seed, most, told)]
    if scale == "full":
        last.append(_last("facebook", carried("facebook").workload(), seed, most, told))
    return StudyResult(tables=[table, _table(last)], claims=claims(table, last, is_full=scale == "full"))


def plots(result: StudyResult) -> list[Plot]:
    """Returns the incomplete rings of each rule."""
    rows = result.table("rules").rows
    names = tuple(str(row[0]) for row in rows)
    found = [Series("here", [(float(at), float(row[1])) for at, row in enumerate(rows)])]
    marks = [(float(names.index(name)), 100 * share) for name, share in _PILOT.items()]
    found.append(Series("pilot, 2,000 nodes after 60 cycles", marks, 1, "published"))
    return [chart("rules", "Rules that the paper leaves open", Axis("rule", names=names), Axis("incomplete rings, %", least=0), found)]


def _last(name: str, workload: OverlayWorkload, seed: int, most: int, told: Callable[[str], None]) -> LastNodes:
    system, last = PolderCastOverlay(workload, seed), np.zeros(workload.nodes, np.int64)
    for cycle in range(1, most + 1):
        told(f"the last nodes of {name}: cycle {cycle}")
        system.cycle()
        missing = system.rings().missing_of
        last[missing > 0] = cycle
        if not missing.any():
            break
    lengths = workload.topics_of.lengths
    rich = lengths > min(_RICH, int(np.sort(lengths)[-10]))
    return LastNodes(name, float(np.median(last)) + 1, float(last[rich].max()) + 1)


def _table(last: list[LastNodes]) -> StudyTable:
    head = ("workload", "cycles of the median node", "cycles of the slowest with most topics")
    return StudyTable(name="last-nodes", head=head, rows=[tuple(each) for each in last])


def claims(table: StudyTable, last: list[LastNodes], *, is_full: bool) -> list[StudyClaim]:
    """Returns what is claimed of ages and of nodes with many topics; what priorities of their time change is told."""
    share = {str(row[0]): float(row[1]) / 100 for row in table.rows}
    near = all(abs(share[name] / pilot - 1) <= 1 / 3 for name, pilot in _PILOT.items())
    order = share["one age for all"] > share["ages of modules"] > share["default"]
    return [
        StudyClaim(
            requirement="P2P-25",
            published="nothing; a pilot had 25.7, 17.2 and 1.9 % of the rings incomplete (2,000 nodes, cycle 60)",
            demanded="the same order, each within a third; the default is the best",
            measured=", ".join(f"{name} {each:.2%}" for name, each in share.items()),
            holds=near and order if is_full else None,
            why="the graph is another than the pilot's; priorities as they were when a copy was made change as little as a seed does",
        ),
        StudyClaim(
            requirement="P2P-21",
            published="even nodes of over 400 topics converge reasonably fast",
            demanded="the slowest of them within twice the median node's cycles, on friends and on Facebook",
            measured="; ".join(f"{each.name}: median {each.median:.0f}, slowest {each.rich:.0f}" for each in last),
            holds=all(each.rich <= 2 * each.median for each in last) if is_full else None,
            why="a node of few topics has few links to find; one of 400 lacks one of 1,600 for long",
        ),
    ]


RULES: Final = OverlayStudy("rules", "Rules that the paper leaves open", "PolderCast figure 6, thesis figure 3.6", run, plots)
