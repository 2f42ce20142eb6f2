"""The messages of PolderCast's modules: what stands in them, what they weigh, and whether they arrive."""

from ...protocol import rings
from ...protocol.buffer import Buffer
from ...protocol.profile import PROFILE, SIZE
from ...protocol.view import CELL, NODE, ROW, SINCE, put, tell
from ..counters import CONTROL, count
from ..sizes import ADDRESS, AGE, HEADER, ID, PRIORITY, TOPIC
from .lies import FREERIDES, lie
from .options import PolderSettings
from .pool import nearest, union, without
from .state import LOG_END, RINGS, VICINITY, PolderState, hears


def own(state: PolderState, node: int, message: Buffer) -> None:
    """Puts the node's own profile at the head of a message, as it is now."""
    put(message, 0, node, state.current[node], 0)


def _told(state: PolderState, node: int, found: int, message: Buffer) -> int:
    """Writes a message: the node's own profile, and those entries of the pool that are picked. Returns its number of entries."""
    own(state, node, message)
    for at in range(found):
        tell(state.pool, state.picks[at], state.now[node], message, 1 + at)
    return 1 + found


def nearest_to(state: PolderState, settings: PolderSettings, node: int, target: int, row: int, since: int, message: Buffer) -> int:
    """Writes the message of Vicinity to a target, of whose profile the node has the copy `row`, made in cycle `since`.

    Returns its number of entries.
    """
    size = without(state, union(state, settings, node, VICINITY), target)
    found = nearest(state, settings, node, size, row, since, settings.vicinity_gossip)
    return _told(state, node, found, message)


def around(state: PolderState, settings: PolderSettings, node: int, target: int, row: int, message: Buffer) -> int:
    """Writes the message of Rings to a target, of whose profile the node has the copy `row`. Returns its number of entries."""
    found = rings.around(
        state.pool,
        union(state, settings, node, RINGS),
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
