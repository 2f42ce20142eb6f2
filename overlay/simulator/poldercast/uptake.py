"""The uptake of a message: what each view of a node takes from it, and what becomes of a partner that gives no answer."""

from ...protocol import cyclon, rings
from ...protocol.buffer import Buffer
from ...protocol.profile import PROFILE, START, VERSION
from ...protocol.view import CELL, MODULE, NODE, NONE, ROW, SHARED, SINCE, drop, find, hear, put, refresh, renew
from .lies import bury
from .options import PolderSettings
from .pool import FRESH, nearest, union, view
from .state import BASE, CYCLON, MODULES, RINGS, VICINITY, PolderState


def take_swap(
    state: PolderState, settings: PolderSettings, node: int, sender: int, message: Buffer, received: int, sent: Buffer, told: int
) -> None:
    """Takes up a message of Cyclon: into its view, and into Rings."""
    take_up(state, settings, node, sender, message, received, CYCLON)
    first, size = view(state, settings, node, CYCLON)
    state.counts[node * MODULES + CYCLON] = cyclon.merge(state.cells, first, size, settings.cyclon, node, message, received, sent, told)


def take_near(state: PolderState, settings: PolderSettings, node: int, sender: int, message: Buffer, received: int) -> None:
    """Takes up a message of Vicinity: its view becomes the nearest of all that the node knows now; what is new goes into Rings."""
    take_up(state, settings, node, sender, message, received, VICINITY)
    size = union(state, settings, node, VICINITY)
    for at in range(received):
        heard = message[at * CELL + NODE]
        if heard != node and state.seen[heard] < state.tally[BASE]:
            state.seen[heard] = state.tally[BASE] + size
            put(state.pool, size, heard, message[at * CELL + ROW], message[at * CELL + SINCE])
            size += 1
    refresh(state.pool, 0, size, sender, state.now[node])
    found = nearest(state, settings, node, size, state.current[node], FRESH, settings.vicinity)
    first, _ = view(state, settings, node, VICINITY)
    for at in range(found):
        place = state.picks[at] * CELL
        put(state.cells, first + at, state.pool[place + NODE], state.pool[place + ROW], state.pool[place + SINCE])
    state.counts[node * MODULES + VICINITY] = found


def take_up(state: PolderState, settings: PolderSettings, node: int, sender: int, message: Buffer, received: int, module: int) -> None:
    """Takes up of a message what every module does: later profiles, ages, and new nodes for Rings."""
    hear(message, received, state.now[node])
    for each in range(MODULES):
        first, size = view(state, settings, node, each)
        younger = settings.ages == SHARED or (settings.ages == MODULE and each == module)
        if each != RINGS:
            renew(state.cells, first, size, message, received, state.profiles, younger)
        else:
            _renew_rings(state, settings, node, message, received, younger)
        if each == module or settings.ages == SHARED:
            refresh(state.cells, first, size, sender, state.now[node])
    first, size = view(state, settings, node, RINGS)
    state.counts[node * MODULES + RINGS] = rings.merge(
        state.cells,
        first,
        size,
        state.slots,
        state.bays[node],
        settings.ring,
        node,
        state.current[node],
        state.ids,
        state.profiles,
        state.topics,
        state.priorities,
        state.marks,
        message,
        received,
    )


def _renew_rings(state: PolderState, settings: PolderSettings, node: int, message: Buffer, received: int, younger: bool) -> None:
    """Takes later profiles into Rings: an entry whose topics are others now leaves its bays, and is offered again."""
    for at in range(received):
        later = message[at * CELL + ROW]
        if state.profiles[later * PROFILE + VERSION] > 0:
            first, size = view(state, settings, node, RINGS)
            place = find(state.cells, first, size, message[at * CELL + NODE])
            if place != NONE and _has_other_topics(state, state.cells[(first + place) * CELL + ROW], later):
                message[at * CELL + SINCE] = max(message[at * CELL + SINCE], state.cells[(first + place) * CELL + SINCE])
                forget(state, settings, node, place)
    first, size = view(state, settings, node, RINGS)
    renew(state.cells, first, size, message, received, state.profiles, younger)


def _has_other_topics(state: PolderState, row: int, later: int) -> bool:
    """Returns whether the profile `later` replaces `row`, and has its topics elsewhere."""
    is_later = state.profiles[later * PROFILE + VERSION] > state.profiles[row * PROFILE + VERSION]
    return is_later and state.profiles[later * PROFILE + START] != state.profiles[row * PROFILE + START]


def give_up(state: PolderState, settings: PolderSettings, node: int, gone: int) -> None:
    """Removes a partner that does not answer from all views: whom one of the modules knows to be dead, the others do not keep."""
    bury(state, node, gone)
    for module in (CYCLON, VICINITY):
        first, size = view(state, settings, node, module)
        place = find(state.cells, first, size, gone)
        if place != NONE:
            state.counts[node * MODULES + module] = drop(state.cells, first, size, place)
    first, size = view(state, settings, node, RINGS)
    place = find(state.cells, first, size, gone)
    if place != NONE:
        forget(state, settings, node, place)


def forget(state: PolderState, settings: PolderSettings, node: int, place: int) -> None:
    """Removes an entry of Rings, and fills its places from all that the node knows."""
    known = union(state, settings, node, RINGS)
    first, size = view(state, settings, node, RINGS)
    state.counts[node * MODULES + RINGS] = rings.remove(
        state.cells,
        first,
        size,
        state.slots,
        state.bays[node],
        settings.ring,
        node,
        state.current[node],
        state.ids,
        state.profiles,
        state.topics,
        state.priorities,
        state.marks,
        state.pool,
        known,
        place,
    )
