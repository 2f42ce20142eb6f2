"""PolderCast after half of all nodes died at once, and after a tenth changed all their topics (PC 5.3, 5.4)."""

from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analytics.planning.report.chart import Axis, Series, chart
from analytics.report.plot import Plot

from ...protocol.view import CELL, NODE
from ...simulator.graphs.friends import friends
from ...simulator.harm import deaths, new_interests
from ...simulator.poldercast.options import PolderOptions
from ...simulator.poldercast.overlay import PolderCastOverlay
from ...simulator.poldercast.state import CYCLON, MODULES, RINGS
from ...simulator.workload import OverlayWorkload
from ..growth import FEW, cycles_until, in_words
from ..study import OverlayStudy, StudyClaim, StudyResult, StudyScale, StudyTable

_NODES: Final[dict[StudyScale, int]] = {"tiny": 200, "quick": 1000, "full": 10_000}
_MOST_CYCLES: Final = 300
_DYING: Final = 0.5
_CHANGING: Final = 0.1
# At these shares of dead nodes it is told whether Cyclon's views still hold the others together.
_SHARES: Final = (0.5, 0.7, 0.8, 0.9, 0.95)


class DeathToll(NamedTuple):
    """The time after half of all nodes died: entries of the dead by cycle, the size of the largest view, and when rings were complete."""

    entries: list[int]
    largest: int
    complete: int | None


class ChangedRings(NamedTuple):
    """The cycles until 99 % of the rings were complete: from a cold start, with new topics, and with new topics that are announced."""

    cold: int | None
    changed: int | None
    announced: int | None


def run(scale: StudyScale, seed: int, told: Callable[[str], None]) -> StudyResult:
    """Lets overlays on friends grow, kills half of the nodes, and gives a tenth new topics."""
    workload = friends(_NODES[scale], seed).workload()
    system = PolderCastOverlay(workload, seed)
    cold = cycles_until(system, FEW, _MOST_CYCLES, lambda step: told(f"growing: {step}"))
    apart = _shares(system, workload.nodes, seed)
    toll = _after_deaths(system, workload.nodes, seed, lambda step: told(f"half are dead: {step}"))
    changed = ChangedRings(cold, *(_after_change(workload, seed, announces, told) for announces in (False, True)))
    entries = StudyTable(
        name="dead-entries", head=("cycle", "entries of the dead"), rows=[(at, count) for at, count in enumerate(toll.entries)]
    )
    return StudyResult(tables=[entries, apart], claims=claims(toll, apart, changed, is_full=scale == "full"))


def plots(result: StudyResult) -> list[Plot]:
    """Returns how entries of the dead vanish."""
    points = [(float(row[0]), float(row[1])) for row in result.table("dead-entries").rows if float(row[1]) > 0]
    title = "Entries of the dead, half of all nodes"
    return [chart("recovery-dead", title, Axis("cycles", is_whole=True), Axis("entries", is_log=True), [Series("all views", points)])]


def _shares(system: PolderCastOverlay, nodes: int, seed: int) -> StudyTable:
    rows: list[tuple[float | str, ...]] = []
    for share in _SHARES:
        alive = np.ones(nodes, np.bool_)
        alive[deaths(np.arange(nodes), share, seed)] = False
        sizes, incoming = _component(system, alive)
        low, high = (int(each) for each in (incoming.min(), incoming.max()))
        rows.append((100 * share, 100 * sizes, float(incoming.mean()), float(incoming.std()), low, high))
    head = ("dead, %", "live nodes in the largest component, %", "in-degree, mean", "standard deviation", "least", "most")
    return StudyTable(name="components", head=head, rows=rows)


def _component(system: PolderCastOverlay, alive: NDArray[np.bool_]) -> tuple[float, NDArray[Any]]:
    """Returns the share of live nodes in the largest component of Cyclon's links between them, and the in-degree of each of them."""
    state = system.state
    counts, homes = np.asarray(state.counts)[CYCLON::MODULES], np.asarray(state.homes)
    start = np.repeat(np.arange(len(alive)), counts)
    place = np.arange(len(start)) - np.repeat(np.cumsum(counts) - counts, counts)
    end: NDArray[Any] = np.asarray(state.cells)[(homes[start] + place) * CELL + NODE]
    kept = alive[start] & alive[end]
    start, end = start[kept], end[kept]
    label = np.arange(len(alive))
    while True:
        before = label.copy()
        np.minimum.at(label, end, label[start])
        np.minimum.at(label, start, label[end])
        label = label[label]
        if (label == before).all():
            break
    return float(np.bincount(label[alive]).max() / alive.sum()), np.bincount(end, minlength=len(alive))[alive]


def _after_deaths(system: PolderCastOverlay, nodes: int, seed: int, told: Callable[[str], None]) -> DeathToll:
    largest = max(int(np.asarray(system.state.counts)[RINGS::MODULES].max()), system.settings.cyclon, system.settings.vicinity)
    dead = np.zeros(nodes, np.bool_)
    dead[deaths(np.arange(nodes), _DYING, seed)] = True
    system.leave(np.flatnonzero(dead).tolist())
    entries, complete = [int(system.held(dead)[:, 1].sum())], None
    for cycle in range(1, 3 * largest + 1):
        system.cycle()
        entries.append(int(system.held(dead)[:, 1].sum()))
        told(f"cycle {cycle}, {entries[-1]:,} entries of them are left")
        if complete is None and not system.rings().missing.any():
            complete = cycle
        if not entries[-1] and complete is not None:
            break
    return DeathToll(entries, largest, complete)


def _after_change(workload: OverlayWorkload, seed: int, announces: bool, told: Callable[[str], None]) -> int | None:
    name = "new topics, announced" if announces else "new topics"
    system = PolderCastOverlay(workload, seed, PolderOptions(announces=announces))
    cycles_until(system, FEW, _MOST_CYCLES, lambda step: told(f"{name}, growing: {step}"))
    new = new_interests(workload, _CHANGING, seed)
    topics, offsets = new.workload.topics_of.values, new.workload.topics_of.offsets
    system.change_many({node: topics[offsets[node] : offsets[node + 1]].tolist() for node in new.nodes.tolist()})
    return cycles_until(system, FEW, _MOST_CYCLES, lambda step: told(f"{name}: {step}"))


def claims(toll: DeathToll, apart: StudyTable, changed: ChangedRings, *, is_full: bool) -> list[StudyClaim]:
    """Returns what is claimed of the dead, of one component, of recovery and of new topics."""
    first = toll.entries[0]
    gone, half, most = (next((at for at, left in enumerate(toll.entries) if left <= share * first), None) for share in (0.0, 0.5, 0.01))
    whole = {float(row[0]): float(row[1]) for row in apart.rows}
    broken = [f"{share:g} %" for share, size in whole.items() if size < 100]
    at_half = next(row for row in apart.rows if row[0] == 100 * _DYING)
    return [
        StudyClaim(
            requirement="P2P-7",
            published="dead nodes vanish from all views",
            demanded="no entry is left after 3 times the size of the largest view; median and 99 % told",
            measured=f"half gone after {in_words(half)}, 99 % after {in_words(most)}, all after {in_words(gone)}; "
            f"the largest view has {toll.largest}",
            holds=gone is not None and gone <= 3 * toll.largest,
            why="Rings asks one partner in a cycle, the oldest: a node of many topics asks each of its neighbours as seldom as its view is "
            "large, and hands them on meanwhile",
        ),
        StudyClaim(
            requirement="P2P-8",
            published="Cyclon keeps all nodes together under mass failure",
            demanded="one component after half of them died at once; the spread of in-degrees and the share at which it breaks told",
            measured=f"{whole[100 * _DYING]:.2f} % together; in-degrees {at_half[4]} to {at_half[5]}, {float(at_half[2]):.1f} in the mean, "
            f"standard deviation {float(at_half[3]):.1f}; broken at {', '.join(broken) or 'none of the shares tried'}",
            holds=whole[100 * _DYING] == 100,
        ),
        StudyClaim(
            requirement="P2P-31",
            published="the overlay recovers",
            demanded="all rings complete again after half of the nodes died, cycles told",
            measured=in_words(toll.complete),
            holds=toll.complete is not None if is_full else None,
            why="a ring lacks a link as long as a dead neighbour stands in its place",
        ),
        StudyClaim(
            requirement="P2P-32",
            published="a changed subscription raises the priority of the new topics, and is absorbed",
            demanded="a tenth of the nodes with new topics: 99 % of rings in fewer cycles than a cold start",
            measured=f"{in_words(changed.changed)}, cold start {in_words(changed.cold)}; announced to former neighbours "
            f"{in_words(changed.announced)}",
            holds=changed.changed is not None and changed.cold is not None and changed.changed < changed.cold if is_full else None,
            why="others keep copies of the old profiles, and hand them on with their ages: nothing in the paper takes a copy back",
        ),
    ]


RECOVERY: Final = OverlayStudy("recovery", "After deaths and new topics", "", run, plots)
