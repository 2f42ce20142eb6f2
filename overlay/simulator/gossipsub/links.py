"""Connections of a simulated GossipSub, and their bonds: one for each topic that both ends share.

A handshake is atomic: each end tells its topics, and learns those of the other.
"""

from ...protocol.gossip_scores import COUNTERS
from .. import sizes
from ..counters import CONTROL, count
from ..pair_table import ABSENT, find_pair, put_pair
from .options import MESH_ROOM, GossipSubRules
from .seats import can_reach, find_seat, leave_mesh
from .state import BONDS, HELLO, LINKS, LOST, NO_ROOM, NOBODY, NOW, GossipSubState


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
