"""Seats and meshes of a simulated GossipSub, and who can reach whom."""

from ...protocol.gossip_scores import COUNTERS, NOT_IN_MESH, count_failure
from ..pair_table import ABSENT, find_pair, put_pair
from .options import MESH_ROOM, GossipSubRules
from .state import NOBODY, NOW, SEATS, GossipSubState


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
