"""How nodes of a simulated GossipSub find peers.

The specification leaves that to the application. Here a node asks a discovery service for random subscribers of a topic, and dials `dials`
of them; connections serve all topics that both ends share. It asks again when it knows fewer than D_low. A lost connection is tried again,
one in a heartbeat, by the node that had dialled it (`heartbeat.py`).
"""

from typing import Final

from ...protocol.chance import below
from ..pair_table import ABSENT, find_pair
from .links import dial, lose
from .options import GossipSubRules
from .seats import is_active
from .state import NOBODY, GossipSubState

# So often is a random subscriber drawn for each that is wanted.
_TRIES: Final = 4


def dial_first(state: GossipSubState, rules: GossipSubRules, seat: int) -> None:
    """Lets a node dial `dials` random subscribers of a topic, or all; some may have dialled it already."""
    node, topic = state.seats.node[seat], state.seats.topic[seat]
    first = state.of.starts[topic]
    count_of = state.of.starts[topic + 1] - first
    for place in range(count_of):
        state.picks[place] = state.of.members[first + place]
    drawn, place = 0, 0
    while place < count_of and drawn < rules.dials:
        # Only so many of a random order are needed.
        other_place = place + below(state.nodes.streams, node, count_of - place)
        other = state.picks[other_place]
        state.picks[other_place] = state.picks[place]
        place += 1
        if other != node:
            drawn += 1
            dial(state, rules, node, other)


def discover(state: GossipSubState, rules: GossipSubRules, seat: int, wanted: int) -> None:
    """Lets a node dial `wanted` random subscribers of the topic, or as many as it finds with some tries for each."""
    node, topic = state.seats.node[seat], state.seats.topic[seat]
    first = state.of.starts[topic]
    count_of = state.of.starts[topic + 1] - first
    found, tries = 0, 0
    while found < wanted and tries < _TRIES * wanted and count_of > 1:
        other = state.of.members[first + below(state.nodes.streams, node, count_of)]
        tries += 1
        if other != node and not is_connected(state, node, other) and dial(state, rules, node, other):
            found += 1


def known(state: GossipSubState, seat: int) -> int:
    """Returns how many peers a node knows that subscribe to the topic of its seat."""
    found, bond = 0, state.seats.first_bond[seat]
    while bond != NOBODY:
        if is_active(state, bond):
            found += 1
        bond = state.bonds.following[bond]
    return found


def come_back(state: GossipSubState, rules: GossipSubRules, node: int) -> None:
    """Lets a node that was away dial those whom it had dialled, and more where it knows too few."""
    link = state.nodes.first_link[node]
    while link != NOBODY:
        if state.links.is_up[link] == 1:
            lose(state, rules, link)
        if state.links.is_up[state.links.twin[link]] == 1:
            lose(state, rules, state.links.twin[link])
        link = state.links.following[link]
    link = state.nodes.first_link[node]
    while link != NOBODY:
        if state.links.dialled[link] == 1:
            dial(state, rules, node, state.links.peer[link])
        link = state.links.following[link]
    seat = state.nodes.first_seat[node]
    while seat != NOBODY:
        if state.seats.is_on[seat] == 1:
            discover(state, rules, seat, rules.dials - known(state, seat))
        seat = state.seats.following[seat]


def is_connected(state: GossipSubState, node: int, other: int) -> bool:
    """Returns whether there is a connection, as the first node sees it."""
    link = find_pair(state.links.table, node * len(state.nodes.alive) + other)
    return link != ABSENT and state.links.is_up[link] == 1
