"""A cycle of PolderCast: each live node, in random order, gossips once with each of its modules. An exchange is atomic.

An exchange has two halves. The initiator chooses the partner, forgets its entry, and asks. If the partner hears it, it answers from the
state that it had, and takes up what it was sent; then the initiator takes up the answer. A partner that gives no answer is forgotten by
all three modules. If only the module that asked forgot it, the others would hand it on, and copies of the dead would go round for ever:
with a fifth of 1,000 nodes dead, 146 entries were left after 200 cycles, and their number did not fall any more.
"""

from typing import Final

from ...protocol import cyclon
from ...protocol.chance import shuffle
from ...protocol.view import CELL, NODE, NONE, ROW, SINCE, drop, oldest
from .joining import introduce, list_live
from .messages import around, nearest_to, own, send
from .options import PolderSettings
from .pool import FRESH, view
from .state import CYCLON, MODULES, ORDER, RINGS, VICINITY, PolderState
from .uptake import give_up, take_near, take_swap, take_up

# In the log, an answer of a module has the number of the module and this.
ANSWER: Final = 10


def run(state: PolderState, settings: PolderSettings, cycles: int) -> None:
    """Runs so many cycles."""
    nodes = len(state.ids)
    for _ in range(cycles):
        live = list_live(state)
        shuffle(state.streams, nodes + ORDER, state.order, 0, live)
        for node in range(nodes):
            # Ages grow for those who are away, too.
            state.now[node] += 1
        _remember(state, settings)
        for at in range(live):
            act(state, settings, state.order[at])


def _remember(state: PolderState, settings: PolderSettings) -> None:
    """Notes the priorities of all nodes as they are in the beginning of a cycle."""
    if settings.remembered > 0:
        first = state.now[0] % settings.remembered * len(state.priorities)
        for at in range(len(state.priorities)):
            state.past[first + at] = state.priorities[at]


def act(state: PolderState, settings: PolderSettings, p: int) -> None:
    """Lets one node do its cycle."""
    introduce(state, settings, p)
    swap(state, settings, p)
    if settings.layered == 1:
        approach(state, settings, p)
    align(state, settings, p)


def swap(state: PolderState, settings: PolderSettings, p: int) -> None:
    """Gossips with the oldest entry of Cyclon's view."""
    first, size = view(state, settings, p, CYCLON)
    place = oldest(state.cells, first, size)
    if place == NONE:
        return
    q = state.cells[(first + place) * CELL + NODE]
    size = drop(state.cells, first, size, place)
    state.counts[p * MODULES + CYCLON] = size
    own(state, p, state.asked)
    asked = cyclon.choose(state.cells, first, size, state.now[p], settings.cyclon_gossip - 1, state.streams, p, state.picks, state.asked, 1)
    if not send(state, CYCLON, p, q, state.asked, asked):
        give_up(state, settings, p, q)
        return
    there, known = view(state, settings, q, CYCLON)
    answered = cyclon.choose(
        state.cells, there, known, state.now[q], settings.cyclon_gossip, state.streams, q, state.picks, state.answer, 0
    )
    send(state, CYCLON + ANSWER, q, p, state.answer, answered)
    take_swap(state, settings, q, p, state.asked, asked, state.answer, answered)
    take_swap(state, settings, p, q, state.answer, answered, state.asked, asked)


def approach(state: PolderState, settings: PolderSettings, p: int) -> None:
    """Gossips with the oldest entry of Vicinity's view, or of Cyclon's while that is empty."""
    first, size = view(state, settings, p, VICINITY)
    place = oldest(state.cells, first, size)
    if place != NONE:
        # An entry is as old as its copy of the profile: only the node itself makes copies, and entries younger.
        entry = (first + place) * CELL
        q, row, since = state.cells[entry + NODE], state.cells[entry + ROW], state.cells[entry + SINCE]
        state.counts[p * MODULES + VICINITY] = drop(state.cells, first, size, place)
    else:
        first, size = view(state, settings, p, CYCLON)
        if size == 0:
            return
        cyclon.choose(state.cells, first, size, state.now[p], 1, state.streams, p, state.picks, state.asked, 0)
        q, row, since = state.asked[NODE], state.asked[ROW], state.now[p] - state.asked[SINCE]
    asked = nearest_to(state, settings, p, q, row, since, state.asked)
    if not send(state, VICINITY, p, q, state.asked, asked):
        give_up(state, settings, p, q)
        return
    answered = nearest_to(state, settings, q, p, state.asked[ROW], FRESH, state.answer)
    send(state, VICINITY + ANSWER, q, p, state.answer, answered)
    take_near(state, settings, q, p, state.asked, asked)
    take_near(state, settings, p, q, state.answer, answered)


def align(state: PolderState, settings: PolderSettings, p: int) -> None:
    """Gossips with the oldest entry of the Rings view."""
    first, size = view(state, settings, p, RINGS)
    place = oldest(state.cells, first, size)
    if place == NONE:
        return
    q, row = state.cells[(first + place) * CELL + NODE], state.cells[(first + place) * CELL + ROW]
    asked = around(state, settings, p, q, row, state.asked)
    if not send(state, RINGS, p, q, state.asked, asked):
        give_up(state, settings, p, q)
        return
    answered = around(state, settings, q, p, state.asked[ROW], state.answer)
    send(state, RINGS + ANSWER, q, p, state.answer, answered)
    take_up(state, settings, q, p, state.asked, asked, RINGS)
    # To forget the partner and to hear of it again in the same step is to refresh it.
    take_up(state, settings, p, q, state.answer, answered, RINGS)
