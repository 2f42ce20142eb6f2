"""The degrees of nodes: how many others each knows and keeps up with, in any of its views, tables, trees or links."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from ..protocol.view import CELL, NODE
from .gossipsub.overlay import GossipSubOverlay
from .poldercast.overlay import PolderCastOverlay
from .poldercast.state import CYCLON, MODULES, VICINITY
from .quasar.overlay import QuasarOverlay
from .scribe.overlay import ScribeOverlay
from .system import OverlaySystem

Pairs = NDArray[np.int64]


def degrees(system: OverlaySystem, nodes: int) -> NDArray[np.int64]:
    """Returns the degree of each of `nodes`. Raises TypeError for a system whose links are not known here."""
    for kind, links in _LINKS.items():
        if isinstance(system, kind):
            pairs = np.unique(links(system), axis=0)
            return np.bincount(pairs[pairs[:, 0] != pairs[:, 1], 0], minlength=nodes)
    raise TypeError(f"the links of {type(system).__name__} are not known")


def _poldercast(system: PolderCastOverlay) -> Pairs:
    """Returns (node, other) for each entry of each view; pairs may come again."""
    state, settings = system.state, system.settings
    cells, homes = np.asarray(state.cells).reshape(-1, CELL)[:, NODE], np.asarray(state.homes, np.int64)
    counts = np.asarray(state.counts, np.int64).reshape(-1, MODULES)
    begins = {CYCLON: 0, VICINITY: settings.cyclon}
    found = []
    for module in range(MODULES):
        size = counts[:, module]
        node = np.repeat(np.arange(len(homes)), size)
        place = np.arange(len(node)) - np.repeat(np.cumsum(size) - size, size)
        found.append(np.stack([node, cells[homes[node] + begins.get(module, settings.cyclon + settings.vicinity) + place]], axis=1))
    return np.concatenate(found).astype(np.int64)


def _scribe(system: ScribeOverlay) -> Pairs:
    """Returns the same of leaf sets and tables, and both ways of the links of trees."""
    state = system.state
    nodes = len(state.ids)
    known = np.concatenate([np.asarray(each, np.int64).reshape(nodes, -1) for each in (state.leaves, state.table)], axis=1)
    node, place = np.nonzero(known >= 0)
    above = [
        (each, int(state.parents[seat]))
        for each in range(nodes)
        for seat in _seats(state, each)
        if state.in_tree[seat] and state.parents[seat] >= 0
    ]
    trees = np.array(above, np.int64).reshape(-1, 2)
    return np.concatenate([np.stack([node, known[node, place]], axis=1), trees, trees[:, ::-1]])


def _seats(state: Any, node: int) -> list[int]:
    found, seat = [], int(state.seat_list[node])
    while seat >= 0:
        found.append(seat)
        seat = int(state.seat_next[seat])
    return found


def _quasar(system: QuasarOverlay) -> Pairs:
    """Returns the same of links."""
    offsets, ends = (np.asarray(each, np.int64) for each in (system.graph.offsets, system.graph.ends))
    return np.stack([np.repeat(np.arange(len(offsets) - 1), np.diff(offsets)), ends], axis=1)


def _gossipsub(system: GossipSubOverlay) -> Pairs:
    """Returns the same of connections that are up."""
    links = system.state.links
    up = np.asarray(links.is_up) == 1
    return np.stack([np.asarray(links.owner, np.int64)[up], np.asarray(links.peer, np.int64)[up]], axis=1)


_LINKS: Final[dict[type, Callable[[Any], Pairs]]] = {
    PolderCastOverlay: _poldercast,
    ScribeOverlay: _scribe,
    QuasarOverlay: _quasar,
    GossipSubOverlay: _gossipsub,
}
