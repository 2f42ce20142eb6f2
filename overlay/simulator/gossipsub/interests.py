"""Topics that a GossipSub node subscribes to, or no more (libp2p, gossipsub v1.0, "Topic Membership")."""

from ...protocol.buffer import Buffer
from .. import sizes
from ..counters import CONTROL, count
from ..pair_table import ABSENT
from .discovery import discover, known
from .links import make_bond
from .meshes import graft_some
from .options import MESH_ROOM, GossipSubRules
from .seats import can_reach, find_seat, leave_mesh, take_seat
from .sending import send_over
from .state import LOST, NOBODY, NOW, PRUNE, TOPICS, GossipSubState


def change_seats(state: GossipSubState, rules: GossipSubRules, node: int, topics: Buffer) -> None:
    """Lets a node subscribe to `topics` and to nothing else, and tell its peers so."""
    changed, seat = 0, state.nodes.first_seat[node]
    while seat != NOBODY:
        if state.seats.is_on[seat] == 1 and not _has(topics, state.seats.topic[seat]):
            leave_topic(state, rules, node, seat)
            changed += 1
        seat = state.seats.following[seat]
    for place in range(len(topics)):
        seat = find_seat(state, node, topics[place])
        if seat == ABSENT or state.seats.is_on[seat] == 0:
            join_topic(state, rules, node, topics[place])
            changed += 1
    if changed > 0:
        announce(state, node, changed)


def leave_topic(state: GossipSubState, rules: GossipSubRules, node: int, seat: int) -> None:
    """Ends a subscription: the mesh is told, and both sides back off for a short while."""
    for place in range(state.seats.size[seat] - 1, -1, -1):
        bond = state.seats.mesh[seat * MESH_ROOM + place]
        leave_mesh(state, rules, bond)
        if rules.leave_backoff_us > 0:
            state.bonds.backoff_us[bond] = state.clock[NOW] + rules.leave_backoff_us
        send_over(state, PRUNE, bond, 1)
    state.seats.is_on[seat] = 0


def join_topic(state: GossipSubState, rules: GossipSubRules, node: int, topic: int) -> None:
    """Begins a subscription: the node finds out which of its peers subscribe, finds more, and grafts some of them at once."""
    seat = take_seat(state, node, topic)
    link = state.nodes.first_link[node]
    while link != NOBODY:
        there = find_seat(state, state.links.peer[link], topic)
        if there != ABSENT:
            make_bond(state, seat, there, link)
        link = state.links.following[link]
    if state.nodes.alive[node] == 1:
        discover(state, rules, seat, rules.dials - known(state, seat))
        graft_some(state, rules, node, seat, rules.wanted, False, 0)


def announce(state: GossipSubState, node: int, changed: int) -> None:
    """Counts what a node tells all its peers about topics that have changed."""
    link = state.nodes.first_link[node]
    while link != NOBODY:
        if state.links.is_up[link] == 1:
            state.tallies[TOPICS] += 1
            if can_reach(state, node, state.links.peer[link]):
                count(state.messages, state.sizes, state.links.peer[link], CONTROL, sizes.HEADER + changed * sizes.TOPIC)
            else:
                state.tallies[LOST] += 1
        link = state.links.following[link]


def _has(topics: Buffer, topic: int) -> bool:
    for place in range(len(topics)):  # noqa: SIM110 - a generator would not compile
        if topics[place] == topic:
            return True
    return False
