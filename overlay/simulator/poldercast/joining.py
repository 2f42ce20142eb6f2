"""How nodes get to know the first others: at the beginning of an overlay, and when they come alone."""

from ...protocol.chance import below
from ...protocol.view import CELL, NODE, NONE, find, put
from .options import PolderSettings
from .state import CYCLON, LIVE, MODULES, PolderState


def fill_cyclon(state: PolderState, settings: PolderSettings) -> None:
    """Fills Cyclon's view of every live node with random live nodes: so an overlay begins (PC 6.2)."""
    live = list_live(state)
    for at in range(live):
        node = state.order[at]
        while state.counts[node * MODULES + CYCLON] < min(settings.cyclon, live - 1):
            _meet(state, node, state.order[below(state.streams, node, live)])


def introduce(state: PolderState, settings: PolderSettings, node: int) -> None:
    """Lets a node whose Cyclon view is empty meet a random live node, and those whom that one knows there.

    If the network between them is parted, it tries again in its next cycle. The live nodes stand in `order`, as
    `list_live` leaves them, or in another order.
    """
    live = state.tally[LIVE]
    if state.counts[node * MODULES + CYCLON] > 0 or live < 2:
        return
    other = node
    while other == node:
        other = state.order[below(state.streams, node, live)]
    if state.sides[node] != state.sides[other]:
        return
    _meet(state, node, other)
    for at in range(state.counts[other * MODULES + CYCLON]):
        if state.counts[node * MODULES + CYCLON] < settings.cyclon:
            _meet(state, node, state.cells[(state.homes[other] + at) * CELL + NODE])


def list_live(state: PolderState) -> int:
    """Writes the live nodes into `order`. Returns how many there are."""
    live = 0
    for node in range(len(state.ids)):
        if state.alive[node] == 1:
            state.order[live] = node
            live += 1
    state.tally[LIVE] = live
    return live


def _meet(state: PolderState, node: int, other: int) -> None:
    """Puts another node into Cyclon's view, as if it had just been heard of."""
    first, size = state.homes[node], state.counts[node * MODULES + CYCLON]
    if other != node and find(state.cells, first, size, other) == NONE:
        put(state.cells, first + size, other, state.current[other], state.now[node])
        state.counts[node * MODULES + CYCLON] = size + 1
