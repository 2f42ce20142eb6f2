"""Seats, connections and bonds of a simulated GossipSub: who dials whom, and what becomes of a lost connection.

The specification leaves it to the application how peers are found. Here a node asks a discovery service for random subscribers of a topic,
and dials `dials` of them; connections serve all topics that both ends share. It asks again when it knows fewer than D_low. A lost connection
is tried again, one in a heartbeat, by the node that had dialled it. A handshake is atomic: each end tells its topics, and learns those of
the other.
"""

from typing import Final

from ...protocol.chance import below
from ...protocol.gossip_scores import COUNTERS, NOT_IN_MESH, count_failure
from .. import sizes
from ..counters import CONTROL, count
from ..pair_table import ABSENT, find_pair, put_pair
from .options import MESH_ROOM, GossipSubRules
from .state import BONDS, HELLO, LINKS, LOST, NO_ROOM, NOBODY, NOW, SEATS, GossipSubState

# So often is a random subscriber drawn for each that is wanted.
_TRIES: Final = 4


def find_seat(state: GossipSubState, node: int, topic: int) -> int:
    """Returns the node's seat for the topic, ABSENT if it never had one."""
    return find_pair(state.seats.table, topic * len(state.nodes.alive) + node)


def take_seat(state: GossipSubState, node: int, topic: int) -> int:
    """Returns the node's seat for the topic, to which it subscribes from now on."""
    seat = find_seat(state, node, topic)
    if seat == ABSENT:
        seat = state.tallies[SEATS]
        state.tallies[SEATS] += 1
        put_pair(state.seats.table, topic * len(state.nodes.alive) + node, seat)
        state.seats.node[seat] = node
        state.seats.topic[seat] = topic
        state.seats.size[seat] = 0
        state.seats.first_bond[seat] = NOBODY
        state.seats.following[seat] = state.nodes.first_seat[node]
        state.nodes.first_seat[node] = seat
    state.seats.is_on[seat] = 1
    return seat


def peer_of(state: GossipSubState, bond: int) -> int:
    """Returns the node at the other end."""
    return state.links.peer[state.bonds.link[bond]]


def is_active(state: GossipSubState, bond: int) -> bool:
    """Returns whether the connection is up and the other end subscribes to the topic."""
    return state.links.is_up[state.bonds.link[bond]] == 1 and state.seats.is_on[state.bonds.seat[state.bonds.twin[bond]]] == 1


def can_reach(state: GossipSubState, node: int, other: int) -> bool:
    """Returns whether a message from one node would come to the other one."""
    return state.nodes.alive[node] == 1 and state.nodes.alive[other] == 1 and state.nodes.side[node] == state.nodes.side[other]


def enter_mesh(state: GossipSubState, bond: int) -> bool:
    """Takes a peer into the mesh. Returns whether there was room."""
    seat = state.bonds.seat[bond]
    if state.seats.size[seat] == MESH_ROOM:
        return False
    state.seats.mesh[seat * MESH_ROOM + state.seats.size[seat]] = bond
    state.seats.size[seat] += 1
    state.bonds.in_mesh[bond] = 1
    state.bonds.since_us[bond] = state.clock[NOW]
    return True


def leave_mesh(state: GossipSubState, rules: GossipSubRules, bond: int) -> None:
    """Takes a peer out of the mesh, if it is in it, and notes what was lacking of its deliveries."""
    if state.bonds.in_mesh[bond] == 0:
        return
    seat = state.bonds.seat[bond]
    last = seat * MESH_ROOM + state.seats.size[seat] - 1
    place = seat * MESH_ROOM
    while state.seats.mesh[place] != bond:
        place += 1
    state.seats.mesh[place] = state.seats.mesh[last]
    state.seats.size[seat] -= 1
    if rules.guarded == 1:
        count_failure(state.scores, state.bonds.counters, bond * COUNTERS, mesh_time(state, bond))
    state.bonds.in_mesh[bond] = 0


def mesh_time(state: GossipSubState, bond: int) -> int:
    """Returns for how many microseconds a peer has been in the mesh."""
    return state.clock[NOW] - state.bonds.since_us[bond] if state.bonds.in_mesh[bond] == 1 else NOT_IN_MESH


def dial(state: GossipSubState, rules: GossipSubRules, node: int, other: int) -> bool:
    """Lets a node dial another one, unless they are connected. Returns whether they are now."""
    link = find_pair(state.links.table, node * len(state.nodes.alive) + other)
    if link != ABSENT and state.links.is_up[link] == 1:
        return True
    greet(state, node, other)
    if not can_reach(state, node, other):
        return False
    if link == ABSENT:
        link = _new_connection(state, node, other)
        if link == ABSENT:
            return False
    greet(state, other, node)
    _bring_up(state, rules, link, 1)
    _bring_up(state, rules, state.links.twin[link], 0)
    share_topics(state, link)
    return True


def greet(state: GossipSubState, node: int, other: int) -> None:
    """Counts what `node` tells `other` of its topics."""
    state.tallies[HELLO] += 1
    if can_reach(state, node, other):
        topics, seat = 0, state.nodes.first_seat[node]
        while seat != NOBODY:
            topics += state.seats.is_on[seat]
            seat = state.seats.following[seat]
        count(state.messages, state.sizes, other, CONTROL, sizes.HEADER + topics * sizes.TOPIC)
    else:
        state.tallies[LOST] += 1


def share_topics(state: GossipSubState, link: int) -> None:
    """Makes the bonds of a connection, one for each topic of both ends that has none."""
    seat = state.nodes.first_seat[state.links.owner[link]]
    while seat != NOBODY:
        there = find_seat(state, state.links.peer[link], state.seats.topic[seat])
        if there != ABSENT:
            make_bond(state, seat, there, link)
        seat = state.seats.following[seat]


def make_bond(state: GossipSubState, seat: int, there: int, link: int) -> None:
    """Makes the bond of two seats over the link of the first one's node, unless there is one."""
    if find_bond(state, seat, link) != NOBODY:
        return
    bond = state.tallies[BONDS]
    if bond + 2 > len(state.bonds.seat):
        state.tallies[NO_ROOM] += 1
        return
    state.tallies[BONDS] += 2
    _write_bond(state, bond, seat, link, bond + 1)
    _write_bond(state, bond + 1, there, state.links.twin[link], bond)


def find_bond(state: GossipSubState, seat: int, link: int) -> int:
    """Returns the bond of a seat over a link, NOBODY if there is none."""
    bond = state.seats.first_bond[seat]
    while bond != NOBODY and state.bonds.link[bond] != link:
        bond = state.bonds.following[bond]
    return bond


def lose(state: GossipSubState, rules: GossipSubRules, link: int) -> None:
    """Gives up a connection, as one end sees it."""
    state.links.is_up[link] = 0
    state.links.lost_us[link] = state.clock[NOW]
    seat = state.nodes.first_seat[state.links.owner[link]]
    while seat != NOBODY:
        for place in range(state.seats.size[seat] - 1, -1, -1):
            bond = state.seats.mesh[seat * MESH_ROOM + place]
            if state.bonds.link[bond] == link:
                leave_mesh(state, rules, bond)
        seat = state.seats.following[seat]


def known(state: GossipSubState, seat: int) -> int:
    """Returns how many peers a node knows that subscribe to the topic of its seat."""
    found, bond = 0, state.seats.first_bond[seat]
    while bond != NOBODY:
        if is_active(state, bond):
            found += 1
        bond = state.bonds.following[bond]
    return found


def discover(state: GossipSubState, rules: GossipSubRules, seat: int, wanted: int) -> None:
    """Lets a node dial `wanted` random subscribers of the topic, or as many as it finds with some tries for each."""
    node, topic = state.seats.node[seat], state.seats.topic[seat]
    first = state.member_offsets[topic]
    count_of = state.member_offsets[topic + 1] - first
    found, tries = 0, 0
    while found < wanted and tries < _TRIES * wanted and count_of > 1:
        other = state.members[first + below(state.nodes.streams, node, count_of)]
        tries += 1
        if other != node and not _is_connected(state, node, other) and dial(state, rules, node, other):
            found += 1


def dial_first(state: GossipSubState, rules: GossipSubRules, seat: int) -> None:
    """Lets a node dial `dials` random subscribers of a topic, or all; some may have dialled it already."""
    node, topic = state.seats.node[seat], state.seats.topic[seat]
    first = state.member_offsets[topic]
    count_of = state.member_offsets[topic + 1] - first
    for place in range(count_of):
        state.picks[place] = state.members[first + place]
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


def _is_connected(state: GossipSubState, node: int, other: int) -> bool:
    link = find_pair(state.links.table, node * len(state.nodes.alive) + other)
    return link != ABSENT and state.links.is_up[link] == 1


def _new_connection(state: GossipSubState, node: int, other: int) -> int:
    """Makes the two links of a connection that is not up yet. Returns that of `node`, ABSENT if there is no room."""
    link, nodes = state.tallies[LINKS], len(state.nodes.alive)
    if link + 2 > len(state.links.owner):
        state.tallies[NO_ROOM] += 1
        return ABSENT
    state.tallies[LINKS] += 2
    put_pair(state.links.table, node * nodes + other, link)
    put_pair(state.links.table, other * nodes + node, link + 1)
    _write_link(state, link, node, other, link + 1)
    _write_link(state, link + 1, other, node, link)
    return link


def _write_link(state: GossipSubState, link: int, owner: int, peer: int, twin: int) -> None:
    links = state.links
    links.owner[link] = owner
    links.peer[link] = peer
    links.twin[link] = twin
    links.following[link] = state.nodes.first_link[owner]
    state.nodes.first_link[owner] = link
    links.is_up[link] = 0
    links.lost_us[link] = state.clock[NOW]
    links.score[link] = 0
    links.misbehaved[link] = 0
    links.topics_score[link] = 0
    links.promised[link] = NOBODY
    links.asked[link] = 0
    links.served[link] = 0


def _write_bond(state: GossipSubState, bond: int, seat: int, link: int, twin: int) -> None:
    bonds = state.bonds
    bonds.seat[bond] = seat
    bonds.link[bond] = link
    bonds.twin[bond] = twin
    bonds.following[bond] = state.seats.first_bond[seat]
    state.seats.first_bond[seat] = bond
    bonds.in_mesh[bond] = 0
    bonds.backoff_us[bond] = 0
    bonds.ihaves[bond] = 0
    for part in range(COUNTERS):
        bonds.counters[bond * COUNTERS + part] = 0


def _bring_up(state: GossipSubState, rules: GossipSubRules, link: int, dialled: int) -> None:
    """Marks a connection as up at one end. What is known of a peer that was away for long is forgotten."""
    state.links.is_up[link] = 1
    state.links.silent[link] = 0
    state.links.dialled[link] = dialled
    if state.clock[NOW] - state.links.lost_us[link] > rules.retain_us:
        state.links.misbehaved[link] = 0
        state.links.score[link] = 0
        _forget_counters(state, link)


def _forget_counters(state: GossipSubState, link: int) -> None:
    seat = state.nodes.first_seat[state.links.owner[link]]
    while seat != NOBODY:
        bond = find_bond(state, seat, link)
        if bond != NOBODY:
            for part in range(COUNTERS):
                state.bonds.counters[bond * COUNTERS + part] = 0
        seat = state.seats.following[seat]
