"""What tests see of a PolderCast overlay: its views and messages as plain lists."""

from typing import NamedTuple

from overlay.protocol.view import CELL, NODE
from overlay.simulator.compiled import numbers
from overlay.simulator.poldercast.overlay import PolderCastOverlay
from overlay.simulator.poldercast.state import LOG_END, MODULES


class LoggedMessage(NamedTuple):
    """A control message: its kind, the two nodes, and the (node, age) of its entries."""

    kind: int
    sender: int
    receiver: int
    entries: list[tuple[int, int]]


def view(system: PolderCastOverlay, node: int, module: int) -> list[int]:
    """Returns the nodes in one view of a node."""
    state, settings = system.state, system.settings
    first = state.homes[node] + (0, settings.cyclon, settings.cyclon + settings.vicinity)[module]
    return [int(state.cells[(first + at) * CELL + NODE]) for at in range(state.counts[node * MODULES + module])]


def views(system: PolderCastOverlay, node: int) -> list[list[int]]:
    """Returns the nodes in each view of a node."""
    return [view(system, node, module) for module in range(MODULES)]


def logged(system: PolderCastOverlay) -> list[LoggedMessage]:
    """Returns all messages of an overlay that has a log."""
    log, found, at = numbers(system.state.log)[: system.state.tally[LOG_END]], [], 0
    while at < len(log):
        kind, sender, receiver, entries = log[at : at + 4]
        told = log[at + 4 : at + 4 + 2 * entries]
        found.append(LoggedMessage(kind, sender, receiver, list(zip(told[::2], told[1::2], strict=True))))
        at += 4 + 2 * entries
    return found
