"""Rounds of repair after an event: subscribers tell others whom they know how far they are, and pull what they lack (OV-5)."""

from typing import Final

from ...protocol.profile import NONE, place_of
from ...protocol.repair import ring_neighbours, whom_to_tell
from ...protocol.rings import EMPTY
from ..counters import CONTROL, count
from ..event_counts import TopicMembers
from ..sizes import EVENT_ID, HEADER, TOPIC
from ..system import NOT_REACHED
from .lies import FREERIDES
from .options import PolderSettings
from .publishing import SpreadState, find_others, receive
from .state import CYCLON, EVENTS, VICINITY, PolderState, hears

_STATE: Final = HEADER + TOPIC + EVENT_ID


def repair(
    state: PolderState, settings: PolderSettings, rounds: int, event: SpreadState, of: TopicMembers, size: int, topic: int, reached: int
) -> int:
    """Lets each live subscriber tell one neighbour how far it is, so many `rounds`. Returns how many nodes have the event then.

    - `event`: as it has spread so far; `reached` nodes have it.
    - `of`, `size`: the live subscribers, as `find_live` leaves them.
    """
    for _ in range(rounds):
        for at in range(size):
            node = of.members[of.live[at]]
            known = _neighbours(state, settings, event, node, topic)
            other = whom_to_tell(event.found, known, state.streams, len(state.ids) + EVENTS)
            if other != EMPTY and hears(state, node, other):
                reached = _compare(state, event, node, other, topic, reached)
    return reached


def _neighbours(state: PolderState, settings: PolderSettings, event: SpreadState, node: int, topic: int) -> int:
    """Writes the subscribers whom the node knows from its rings and random links into `found`. Returns how many those are."""
    place = place_of(state.profiles, state.topics, state.current[node], topic)
    known = ring_neighbours(state.slots, state.bays[node], settings.ring, place, event.found)
    first = state.homes[node]
    known = find_others(state, event, node, NONE, topic, 0, first, CYCLON, 0, known)
    return find_others(state, event, node, NONE, topic, 0, first + settings.cyclon, VICINITY, 0, known)


def _compare(state: PolderState, event: SpreadState, node: int, other: int, topic: int, reached: int) -> int:
    """Lets both say how far they are, and the one that lacks the event pull it. Returns how many nodes have it."""
    count(state.messages, state.sizes, other, CONTROL, _STATE)
    if place_of(state.profiles, state.topics, state.current[other], topic) == NONE:
        return reached
    count(state.messages, state.sizes, node, CONTROL, _STATE)
    if event.hops[node] == NOT_REACHED:
        return _pull(state, event, node, other, topic, reached)
    return _pull(state, event, other, node, topic, reached)


def _pull(state: PolderState, event: SpreadState, node: int, source: int, topic: int, reached: int) -> int:
    """Lets a node ask another one for the event, if only that one has it. A freerider does not answer. Returns how many nodes have it."""
    if event.hops[node] != NOT_REACHED or event.hops[source] == NOT_REACHED:
        return reached
    count(state.messages, state.sizes, source, CONTROL, _STATE)
    if state.flags[source] & FREERIDES:
        return reached
    return receive(state, event, source, node, topic, reached)
