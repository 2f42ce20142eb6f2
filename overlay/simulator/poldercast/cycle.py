"""A cycle of PolderCast: each live node, in random order, gossips once with each of its modules. An exchange is atomic.

An exchange has two halves. The initiator chooses the partner, forgets its entry, and asks. If the partner hears it, it answers from the
state that it had, and takes up what it was sent; then the initiator takes up the answer. A partner that gives no answer is forgotten by
all three modules. If only the module that asked forgot it, the others would hand it on, and copies of the dead would go round for ever:
with a fifth of 1,000 nodes dead, 146 entries were left after 200 cycles, and their number did not fall any more.
"""

from typing import Final

from ...protocol import cyclon, rings, vicinity
from ...protocol.buffer import Buffer
from ...protocol.chance import shuffle
from ...protocol.profile import PROFILE, SIZE, START, VERSION, mark_priorities, unmark
from ...protocol.view import CELL, MODULE, NODE, NONE, ROW, SHARED, SINCE, drop, find, gather, hear, oldest, put, refresh, renew, tell
from ..counters import CONTROL, count
from ..sizes import ADDRESS, AGE, HEADER, ID, PRIORITY, TOPIC
from .joining import introduce, list_live
from .lies import FREERIDES, bury, lie
from .options import PolderSettings
from .state import BASE, CYCLON, LOG_END, MODULES, ORDER, RINGS, VICINITY, PolderState, hears

# In the log, an answer of a module has the number of the module and this.
ANSWER: Final = 10
# A copy of a profile that was made just now.
FRESH: Final = -1 << 40


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
    first, size = _view(state, settings, p, CYCLON)
    place = oldest(state.cells, first, size)
    if place == NONE:
        return
    q = state.cells[(first + place) * CELL + NODE]
    size = drop(state.cells, first, size, place)
    state.counts[p * MODULES + CYCLON] = size
    own(state, p, state.asked)
    asked = cyclon.choose(state.cells, first, size, state.now[p], settings.cyclon_gossip - 1, state.streams, p, state.picks, state.asked, 1)
    if not send(state, CYCLON, p, q, state.asked, asked):
        _give_up(state, settings, p, q)
        return
    there, known = _view(state, settings, q, CYCLON)
    answered = cyclon.choose(
        state.cells, there, known, state.now[q], settings.cyclon_gossip, state.streams, q, state.picks, state.answer, 0
    )
    send(state, CYCLON + ANSWER, q, p, state.answer, answered)
    _take_swap(state, settings, q, p, state.asked, asked, state.answer, answered)
    _take_swap(state, settings, p, q, state.answer, answered, state.asked, asked)


def approach(state: PolderState, settings: PolderSettings, p: int) -> None:
    """Gossips with the oldest entry of Vicinity's view, or of Cyclon's while that is empty."""
    first, size = _view(state, settings, p, VICINITY)
    place = oldest(state.cells, first, size)
    if place != NONE:
        # An entry is as old as its copy of the profile: only the node itself makes copies, and entries younger.
        entry = (first + place) * CELL
        q, row, since = state.cells[entry + NODE], state.cells[entry + ROW], state.cells[entry + SINCE]
        state.counts[p * MODULES + VICINITY] = drop(state.cells, first, size, place)
    else:
        first, size = _view(state, settings, p, CYCLON)
        if size == 0:
            return
        cyclon.choose(state.cells, first, size, state.now[p], 1, state.streams, p, state.picks, state.asked, 0)
        q, row, since = state.asked[NODE], state.asked[ROW], state.now[p] - state.asked[SINCE]
    asked = _nearest_to(state, settings, p, q, row, since, state.asked)
    if not send(state, VICINITY, p, q, state.asked, asked):
        _give_up(state, settings, p, q)
        return
    answered = _nearest_to(state, settings, q, p, state.asked[ROW], FRESH, state.answer)
    send(state, VICINITY + ANSWER, q, p, state.answer, answered)
    _take_near(state, settings, q, p, state.asked, asked)
    _take_near(state, settings, p, q, state.answer, answered)


def align(state: PolderState, settings: PolderSettings, p: int) -> None:
    """Gossips with the oldest entry of the Rings view."""
    first, size = _view(state, settings, p, RINGS)
    place = oldest(state.cells, first, size)
    if place == NONE:
        return
    q, row = state.cells[(first + place) * CELL + NODE], state.cells[(first + place) * CELL + ROW]
    asked = _around(state, settings, p, q, row, state.asked)
    if not send(state, RINGS, p, q, state.asked, asked):
        _give_up(state, settings, p, q)
        return
    answered = _around(state, settings, q, p, state.asked[ROW], state.answer)
    send(state, RINGS + ANSWER, q, p, state.answer, answered)
    take_up(state, settings, q, p, state.asked, asked, RINGS)
    # To forget the partner and to hear of it again in the same step is to refresh it.
    take_up(state, settings, p, q, state.answer, answered, RINGS)


def _view(state: PolderState, settings: PolderSettings, node: int, module: int) -> tuple[int, int]:
    """Returns where a view begins in `cells`, and how many entries it has."""
    first = state.homes[node]
    if module != CYCLON:
        first += settings.cyclon
    if module == RINGS:
        first += settings.vicinity
    return first, state.counts[node * MODULES + module]


def own(state: PolderState, node: int, message: Buffer) -> None:
    """Puts the node's own profile at the head of a message, as it is now."""
    put(message, 0, node, state.current[node], 0)


def _union(state: PolderState, settings: PolderSettings, node: int, module: int) -> int:
    """Gathers the three views of the node in the pool, that of `module` first: its ages count. Returns how many they have together."""
    state.tally[BASE] += len(state.pool)
    younger, size = settings.ages == SHARED, 0
    for step in range(MODULES):
        first, known = _view(state, settings, node, (module + step) % MODULES)
        size = gather(state.pool, size, state.cells, first, known, state.profiles, state.seen, state.tally[BASE], younger)
    return size


def _told(state: PolderState, node: int, found: int, message: Buffer) -> int:
    """Writes a message: the node's own profile, and those entries of the pool that are picked. Returns its number of entries."""
    own(state, node, message)
    for at in range(found):
        tell(state.pool, state.picks[at], state.now[node], message, 1 + at)
    return 1 + found


def _nearest_to(state: PolderState, settings: PolderSettings, node: int, target: int, row: int, since: int, message: Buffer) -> int:
    """Writes the message of Vicinity to a target, of whose profile the node has the copy `row`, made in cycle `since`.

    Returns its number of entries.
    """
    size = _without(state, _union(state, settings, node, VICINITY), target)
    found = _nearest(state, settings, node, size, row, since, settings.vicinity_gossip)
    return _told(state, node, found, message)


def _nearest(state: PolderState, settings: PolderSettings, node: int, size: int, row: int, since: int, wanted: int) -> int:
    """Picks the entries of the pool that are nearest to a profile, of which the node has a copy of cycle `since`.

    Returns how many those are.
    """
    if settings.remembered == 0 or since == FRESH:
        mark_priorities(state.profiles, state.topics, state.priorities, 0, row, state.marks)
    else:
        first = max(since, state.now[node] - settings.remembered + 1) % settings.remembered * len(state.priorities)
        mark_priorities(state.profiles, state.topics, state.past, first, row, state.marks)
    found = vicinity.nearest(
        state.pool,
        size,
        wanted,
        state.profiles,
        state.topics,
        state.marks,
        settings.summed == 1,
        state.streams,
        node,
        state.scores,
        state.picks,
    )
    unmark(state.profiles, state.topics, row, state.marks)
    return found


def _around(state: PolderState, settings: PolderSettings, node: int, target: int, row: int, message: Buffer) -> int:
    """Writes the message of Rings to a target, of whose profile the node has the copy `row`. Returns its number of entries."""
    found = rings.around(
        state.pool,
        _union(state, settings, node, RINGS),
        state.current[node],
        target,
        row,
        settings.ring,
        settings.ring_gossip,
        state.ids,
        state.profiles,
        state.topics,
        state.streams,
        node,
        state.near,
        state.far,
        state.picks,
    )
    return _told(state, node, found, message)


def _without(state: PolderState, size: int, node: int) -> int:
    """Takes a node out of the pool. Returns how many are left."""
    place = find(state.pool, 0, size, node)
    return drop(state.pool, 0, size, place) if place != NONE else size


def _take_swap(
    state: PolderState, settings: PolderSettings, node: int, sender: int, message: Buffer, received: int, sent: Buffer, told: int
) -> None:
    """Takes up a message of Cyclon: into its view, and into Rings."""
    take_up(state, settings, node, sender, message, received, CYCLON)
    first, size = _view(state, settings, node, CYCLON)
    state.counts[node * MODULES + CYCLON] = cyclon.merge(state.cells, first, size, settings.cyclon, node, message, received, sent, told)


def _take_near(state: PolderState, settings: PolderSettings, node: int, sender: int, message: Buffer, received: int) -> None:
    """Takes up a message of Vicinity: its view becomes the nearest of all that the node knows now; what is new goes into Rings."""
    take_up(state, settings, node, sender, message, received, VICINITY)
    size = _union(state, settings, node, VICINITY)
    for at in range(received):
        heard = message[at * CELL + NODE]
        if heard != node and state.seen[heard] < state.tally[BASE]:
            state.seen[heard] = state.tally[BASE] + size
            put(state.pool, size, heard, message[at * CELL + ROW], message[at * CELL + SINCE])
            size += 1
    refresh(state.pool, 0, size, sender, state.now[node])
    found = _nearest(state, settings, node, size, state.current[node], FRESH, settings.vicinity)
    first, _ = _view(state, settings, node, VICINITY)
    for at in range(found):
        place = state.picks[at] * CELL
        put(state.cells, first + at, state.pool[place + NODE], state.pool[place + ROW], state.pool[place + SINCE])
    state.counts[node * MODULES + VICINITY] = found


def take_up(state: PolderState, settings: PolderSettings, node: int, sender: int, message: Buffer, received: int, module: int) -> None:
    """Takes up of a message what every module does: later profiles, ages, and new nodes for Rings."""
    hear(message, received, state.now[node])
    for each in range(MODULES):
        first, size = _view(state, settings, node, each)
        younger = settings.ages == SHARED or (settings.ages == MODULE and each == module)
        if each != RINGS:
            renew(state.cells, first, size, message, received, state.profiles, younger)
        else:
            _renew_rings(state, settings, node, message, received, younger)
        if each == module or settings.ages == SHARED:
            refresh(state.cells, first, size, sender, state.now[node])
    first, size = _view(state, settings, node, RINGS)
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
            first, size = _view(state, settings, node, RINGS)
            place = find(state.cells, first, size, message[at * CELL + NODE])
            if place != NONE and _has_other_topics(state, state.cells[(first + place) * CELL + ROW], later):
                message[at * CELL + SINCE] = max(message[at * CELL + SINCE], state.cells[(first + place) * CELL + SINCE])
                _forget(state, settings, node, place)
    first, size = _view(state, settings, node, RINGS)
    renew(state.cells, first, size, message, received, state.profiles, younger)


def _has_other_topics(state: PolderState, row: int, later: int) -> bool:
    """Returns whether the profile `later` replaces `row`, and has its topics elsewhere."""
    is_later = state.profiles[later * PROFILE + VERSION] > state.profiles[row * PROFILE + VERSION]
    return is_later and state.profiles[later * PROFILE + START] != state.profiles[row * PROFILE + START]


def _give_up(state: PolderState, settings: PolderSettings, node: int, gone: int) -> None:
    """Removes a partner that does not answer from all views: whom one of the modules knows to be dead, the others do not keep."""
    bury(state, node, gone)
    for module in (CYCLON, VICINITY):
        first, size = _view(state, settings, node, module)
        place = find(state.cells, first, size, gone)
        if place != NONE:
            state.counts[node * MODULES + module] = drop(state.cells, first, size, place)
    first, size = _view(state, settings, node, RINGS)
    place = find(state.cells, first, size, gone)
    if place != NONE:
        _forget(state, settings, node, place)


def _forget(state: PolderState, settings: PolderSettings, node: int, place: int) -> None:
    """Removes an entry of Rings, and fills its places from all that the node knows."""
    known = _union(state, settings, node, RINGS)
    first, size = _view(state, settings, node, RINGS)
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


def send(state: PolderState, kind: int, sender: int, receiver: int, message: Buffer, entries: int) -> bool:
    """Counts a message, and logs it if there is a log. Returns whether it arrives. Liars send another one than they should."""
    if state.flags[sender] > FREERIDES:
        lie(state, sender, message, entries)
    arrives, size = hears(state, sender, receiver), HEADER
    for at in range(entries):
        size += ADDRESS + ID + AGE + state.profiles[message[at * CELL + ROW] * PROFILE + SIZE] * (TOPIC + PRIORITY)
    state.sent[sender] += 1
    if arrives:
        count(state.messages, state.sizes, receiver, CONTROL, size)
    if len(state.log) > 0:
        _log(state, kind, sender, receiver, message, entries)
    return arrives


def _log(state: PolderState, kind: int, sender: int, receiver: int, message: Buffer, entries: int) -> None:
    """Writes kind, sender, receiver, bytes and number of entries, and of each entry its node and age."""
    at = state.tally[LOG_END]
    state.log[at] = kind
    state.log[at + 1] = sender
    state.log[at + 2] = receiver
    state.log[at + 3] = entries
    for entry in range(entries):
        state.log[at + 4 + 2 * entry] = message[entry * CELL + NODE]
        state.log[at + 5 + 2 * entry] = message[entry * CELL + SINCE]
    state.tally[LOG_END] = at + 4 + 2 * entries
