"""An event in a PolderCast overlay that stands still: hop by hop, from its publisher to all whom it reaches."""

from typing import Final, NamedTuple

import numpy as np

from ...protocol import rings
from ...protocol.buffer import Buffer
from ...protocol.profile import NONE, place_of
from ...protocol.spread import UNION, draw_mixed, draw_union, others, others_wanted, ring_targets
from ..compiled import Execution
from ..counters import DUPLICATE, EVENT, UNWANTED, count
from ..sizes import EVENT as EVENT_SIZE
from ..system import NOT_REACHED
from .lies import FREERIDES
from .options import PolderSettings, SpreadSettings
from .state import CYCLON, EVENTS, MODULES, VICINITY, PolderState, hears

# The queue has so many numbers for each node that an event reached: the node, and who sent the first copy.
STEP: Final = 2


class SpreadState(NamedTuple):
    """The state of an event.

    - `hops` (NOT_REACHED where it has not been), `copies` received and `sent`: by node.
    - `queue`: the nodes that it has reached, in order. `chosen`, `found`: room for targets.
    """

    hops: Buffer
    copies: Buffer
    sent: Buffer
    queue: Buffer
    chosen: Buffer
    found: Buffer


def new_spread(nodes: int, settings: PolderSettings, execution: Execution) -> SpreadState:
    """Returns room for one event after the other."""
    most = settings.cyclon + settings.vicinity
    return SpreadState(
        hops=execution.filled(nodes, NOT_REACHED, np.int32),
        copies=execution.filled(nodes, 0, np.int32),
        sent=execution.filled(nodes, 0, np.int32),
        queue=execution.filled(STEP * nodes, 0, np.int32),
        chosen=execution.filled(most + 2, 0, np.int32),
        found=execution.filled(most + settings.ring, 0, np.int32),
    )


def publish(state: PolderState, settings: PolderSettings, how: SpreadSettings, event: SpreadState, publisher: int, topic: int) -> int:
    """Lets an event spread hop by hop until nobody passes it on. Returns how many nodes have it: they stand in the queue.

    Random links are drawn from the stream EVENTS, so that an overlay does the same afterwards, whether it was measured or not.
    """
    reached, served = begin_at(event, publisher), 0
    while served < reached:
        node = event.queue[STEP * served]
        for at in range(pass_on(state, settings, how, event, node, event.queue[STEP * served + 1], topic)):
            if hears(state, node, event.chosen[at]):
                reached = receive(state, event, node, event.chosen[at], topic, reached)
        served += 1
    return reached


def begin_at(event: SpreadState, publisher: int) -> int:
    """Gives the event to its publisher, and returns 1: so many have it."""
    event.hops[publisher] = 0
    event.queue[0] = publisher
    event.queue[1] = NONE
    return 1


def clear(event: SpreadState, reached: int) -> None:
    """Makes room for the next event."""
    for at in range(reached):
        node = event.queue[STEP * at]
        event.hops[node] = NOT_REACHED
        event.copies[node] = 0
        event.sent[node] = 0


def pass_on(
    state: PolderState, settings: PolderSettings, how: SpreadSettings, event: SpreadState, node: int, sender: int, topic: int
) -> int:
    """Chooses to whom a node sends an event, and counts that. A freerider sends only what it publishes. Returns how many `chosen` has."""
    if sender != NONE and state.flags[node] & FREERIDES:
        return 0
    total = targets(state, settings, how, event, node, sender, topic)
    event.sent[node] = total
    return total


def targets(
    state: PolderState, settings: PolderSettings, how: SpreadSettings, event: SpreadState, node: int, sender: int, topic: int
) -> int:
    """Chooses to whom a node sends an event that comes for the first time. Returns how many those are: they stand in `chosen`."""
    place = place_of(state.profiles, state.topics, state.current[node], topic)
    after = rings.successor(state.slots, state.bays[node], settings.ring, place)
    before = rings.predecessor(state.slots, state.bays[node], settings.ring, place)
    if how.notices == 1:
        bay, half = state.bays[node] + place * settings.ring, settings.ring // 2
        after = _first_there(state, node, bay, half)
        before = _first_there(state, node, bay + half, half)
    total = ring_targets(after, before, sender, event.chosen)
    wanted = others_wanted(after, before, sender, how.fanout)
    if wanted == 0:
        return total
    second = find_others(state, event, node, sender, topic, total, state.homes[node], CYCLON, 0, 0) if how.from_cyclon == 1 else 0
    begin = 0 if how.mode == UNION else second
    first = state.homes[node] + settings.cyclon
    end = find_others(state, event, node, sender, topic, total, first, VICINITY, begin, second) if how.from_vicinity == 1 else second
    stream = len(state.ids) + EVENTS
    if how.mode == UNION or how.from_cyclon + how.from_vicinity == 1:
        return draw_union(state.streams, stream, event.found, end, wanted, event.chosen, total)
    return draw_mixed(state.streams, stream, event.found, end, second, wanted, event.chosen, total)


def _first_there(state: PolderState, node: int, first: int, half: int) -> int:
    """Returns the nearest neighbour of one side of a bay that hears the node, or the nearest of all if none does."""
    for at in range(first, first + half):
        if state.slots[at] != rings.EMPTY and hears(state, node, state.slots[at]):
            return state.slots[at]
    return state.slots[first]


def find_others(
    state: PolderState,
    event: SpreadState,
    node: int,
    sender: int,
    topic: int,
    total: int,
    first: int,
    module: int,
    begin: int,
    end: int,
) -> int:
    """Finds the other subscribers in one view of the node (`spread.others`)."""
    return others(
        state.cells,
        first,
        state.counts[node * MODULES + module],
        state.profiles,
        state.topics,
        topic,
        sender,
        event.chosen,
        total,
        event.found,
        begin,
        end,
    )


def receive(state: PolderState, event: SpreadState, sender: int, node: int, topic: int, reached: int) -> int:
    """Notes one copy at a node. Returns how many nodes have the event."""
    if place_of(state.profiles, state.topics, state.current[node], topic) == NONE:
        count(state.messages, state.sizes, node, UNWANTED, EVENT_SIZE)
        return reached
    event.copies[node] += 1
    if event.hops[node] != NOT_REACHED:
        count(state.messages, state.sizes, node, DUPLICATE, EVENT_SIZE)
        return reached
    count(state.messages, state.sizes, node, EVENT, EVENT_SIZE)
    event.hops[node] = event.hops[sender] + 1
    event.queue[STEP * reached] = node
    event.queue[STEP * reached + 1] = sender
    return reached + 1
