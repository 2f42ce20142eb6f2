"""What PolderCast costs those who have many topics: the size of their Rings views, and control messages (PC 6.3, 6.5)."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analytics.planning.report.chart import Axis, Series, chart
from analytics.report.plot import Plot

from ...simulator.counters import CONTROL, KINDS
from ...simulator.graphs.followers import LEAST_USERS, followers
from ...simulator.graphs.friends import friends
from ...simulator.poldercast.overlay import PolderCastOverlay
from ...simulator.poldercast.state import MODULES, RINGS
from ...simulator.workload import OverlayWorkload
from ..growth import FEW, cycles_until
from ..study import OverlayStudy, StudyClaim, StudyResult, StudyScale, StudyTable

_NODES: Final[dict[StudyScale, int]] = {"tiny": 200, "quick": 1000, "full": 10_000}
_MOST_CYCLES: Final = 300
# Control messages are counted over so many cycles.
_COUNTED: Final = 20
_RICH: Final = 100
_MEAN: Final = 12.0


class NodeCosts(NamedTuple):
    """Of each node of a grown overlay: its topics, the size of its Rings view, and its control messages in a cycle."""

    topics: NDArray[Any]
    ring_view: NDArray[Any]
    control: NDArray[Any]


def run(scale: StudyScale, seed: int, told: Callable[[str], None]) -> StudyResult:
    """Lets overlays on friends and on followers grow, and counts what each node keeps and handles."""
    nodes = _NODES[scale]
    found = {
        "friends": _costs(friends(nodes, seed).workload(), seed, lambda step: told(f"friends: {step}")),
        "followers": _costs(followers(max(LEAST_USERS, nodes), seed).workload(), seed, lambda step: told(f"followers: {step}")),
    }
    return StudyResult(tables=[_table(name, costs) for name, costs in found.items()], claims=claims(found, is_full=scale == "full"))


def plots(result: StudyResult) -> list[Plot]:
    """Returns the size of Rings views and the control messages over the number of topics."""
    drawn = []
    for column, name, label in ((2, "degree", "entries of the Rings view, mean"), (3, "control", "control messages in a cycle, mean")):
        series = [
            Series(table.name, [(float(row[0]), float(row[column])) for row in table.rows], style)
            for style, table in enumerate(result.tables)
        ]
        title = "Size of the Rings view" if name == "degree" else "Control messages"
        drawn.append(chart(f"upkeep-{name}", title, Axis("topics of a node", True), Axis(label, is_log=True), series))
    return drawn


def _costs(workload: OverlayWorkload, seed: int, told: Callable[[str], None]) -> NodeCosts:
    system = PolderCastOverlay(workload, seed)
    cycles_until(system, FEW, _MOST_CYCLES, told)
    before = _handled(system)
    system.run(_COUNTED)
    view: NDArray[Any] = np.asarray(system.state.counts)[RINGS::MODULES]
    return NodeCosts(workload.topics_of.lengths, view, (_handled(system) - before) / _COUNTED)


def _handled(system: PolderCastOverlay) -> NDArray[np.int64]:
    """Returns the control messages that each node has sent and received."""
    handled: NDArray[np.int64] = np.asarray(system.state.sent) + np.asarray(system.messages)[CONTROL::KINDS]
    return handled


def _table(name: str, costs: NodeCosts) -> StudyTable:
    """Returns the means of nodes with about as many topics: between two powers of the root of two."""
    edges = np.unique(np.round(2 ** np.arange(0, np.log2(costs.topics.max() + 1) + 0.5, 0.5)).astype(int))
    rows: list[tuple[float | str, ...]] = []
    for low, high in zip(edges, [*edges[1:], np.iinfo(np.int64).max], strict=True):
        kept = (costs.topics >= low) & (costs.topics < high)
        if kept.any():
            rows.append((*(float(each[kept].mean()) for each in (costs.topics,)), int(kept.sum()), *_means(costs, kept)))
    return StudyTable(name=name, head=("topics, mean", "nodes", "Rings view, mean", "control messages, mean"), rows=rows)


def _means(costs: NodeCosts, kept: NDArray[np.bool_]) -> tuple[float, float]:
    return float(costs.ring_view[kept].mean()), float(costs.control[kept].mean())


def exponent(x: NDArray[Any], y: NDArray[Any]) -> float:
    """Returns the slope of a line through both logarithms."""
    kept = (x > 0) & (y > 0)
    return float(np.polyfit(np.log(x[kept]), np.log(y[kept]), 1)[0])


def claims(found: dict[str, NodeCosts], *, is_full: bool) -> list[StudyClaim]:
    """Returns what is claimed of degrees and of control messages."""
    slopes = {name: exponent(costs.topics, costs.ring_view) for name, costs in found.items()}
    costs = found["friends"]
    rich = costs.topics > min(_RICH, int(np.quantile(costs.topics, 0.95)))
    many, few = float(costs.control[rich].mean()), float(costs.control[~rich].mean())
    mean, below = float(costs.control.mean()), float((costs.control < 2 * _MEAN).mean())
    return [
        StudyClaim(
            requirement="P2P-22",
            published="Rings views grow less than topics on Twitter, and almost linearly on Facebook",
            demanded="exponent of followers below 1 and below that of friends; friends 0.85 to 1",
            measured=f"friends {slopes['friends']:.3f}, followers {slopes['followers']:.3f}",
            holds=0.85 <= slopes["friends"] <= 1 and slopes["followers"] < min(1, slopes["friends"]) if is_full else None,
        ),
        StudyClaim(
            requirement="P2P-23",
            published="nodes of over 100 topics handle more control messages",
            demanded="12 a node and cycle in the mean, most nodes below 24, more for those with over 100 topics",
            measured=(f"{mean:.2f} in the mean, {below:.0%} below 24; {many:.1f} for those with many topics, {few:.1f} for others"),
            holds=abs(mean / _MEAN - 1) <= 0.05 and below > 0.5 and many > few if is_full else None,
        ),
    ]


UPKEEP: Final = OverlayStudy("upkeep", "What nodes keep and handle", "PolderCast figures 7 and 9, thesis figures 3.7 and 3.9", run, plots)
