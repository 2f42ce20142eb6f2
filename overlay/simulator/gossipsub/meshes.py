"""Upkeep of the meshes of a GossipSub node (libp2p, gossipsub v1.0 "Mesh Maintenance", v1.1 "Heartbeat Maintenance")."""

from ...protocol.chance import sample, wide
from ...protocol.gossip_scores import OPPORTUNISTIC_BELOW
from ...protocol.gossipsub import choose_kept, lacking, lacking_outbound, median
from .discovery import discover, known
from .options import MESH_ROOM, GossipSubRules
from .seats import enter_mesh, is_active, leave_mesh
from .sending import send_over
from .state import GRAFT, NOBODY, NOW, PRUNE, GossipSubState


def tend_mesh(state: GossipSubState, rules: GossipSubRules, node: int, seat: int) -> None:
    """Keeps the mesh of a topic within its bounds, with enough outbound peers, and without peers of negative score."""
    for place in range(state.seats.size[seat] - 1, -1, -1):
        bond = state.seats.mesh[seat * MESH_ROOM + place]
        if state.links.score[state.bonds.link[bond]] < 0:
            prune(state, rules, node, bond, False)
    need = lacking(state.seats.size[seat], rules.low, rules.wanted)
    if need > 0:
        graft_some(state, rules, node, seat, need, False, 0)
        if known(state, seat) < rules.low:
            discover(state, rules, seat, rules.dials - known(state, seat))
    elif state.seats.size[seat] > rules.high:
        cut(state, rules, node, seat)
    need = lacking_outbound(state.seats.size[seat], rules.low, outbound_in(state, seat), rules.outbound)
    if need > 0:
        graft_some(state, rules, node, seat, need, True, 0)
    if rules.opportunistic_peers > 0 and state.nodes.beats[node] % rules.opportunistic_every == 0:
        improve(state, rules, node, seat)


def graft_some(state: GossipSubState, rules: GossipSubRules, node: int, seat: int, need: int, only_outbound: bool, least: int) -> None:
    """Grafts `need` random peers that may be grafted, outbound ones only if so, of a score of `least` or more."""
    count = candidates(state, rules, seat, only_outbound, least)
    for place in range(sample(state.nodes.streams, node, state.picks, 0, count, need)):
        if enter_mesh(state, state.picks[place]):
            send_over(state, GRAFT, state.picks[place], 0)


def candidates(state: GossipSubState, rules: GossipSubRules, seat: int, only_outbound: bool, least: int) -> int:
    """Writes the bonds that may be grafted into `picks`: not in the mesh, no backoff, not below `least`. Returns how many there are."""
    found, bond = 0, state.seats.first_bond[seat]
    while bond != NOBODY:
        link = state.bonds.link[bond]
        if (
            state.bonds.in_mesh[bond] == 0
            and is_active(state, bond)
            and state.links.score[link] >= least
            and (not only_outbound or state.links.dialled[link] == 1)
            and not backs_off(state, bond, rules.slack_us)
        ):
            state.picks[found] = bond
            found += 1
        bond = state.bonds.following[bond]
    return found


def backs_off(state: GossipSubState, bond: int, slack_us: int) -> bool:
    """Returns whether a backoff is not over, and so long ago."""
    until = state.bonds.backoff_us[bond]
    return until > 0 and state.clock[NOW] < until + slack_us


def outbound_in(state: GossipSubState, seat: int) -> int:
    """Returns how many peers in the mesh the node has dialled itself."""
    found = 0
    for place in range(state.seats.size[seat]):
        found += state.links.dialled[state.bonds.link[state.seats.mesh[seat * MESH_ROOM + place]]]
    return found


def cut(state: GossipSubState, rules: GossipSubRules, node: int, seat: int) -> None:
    """Prunes a mesh that is too large."""
    size = state.seats.size[seat]
    read_mesh(state, seat)
    choose_kept(state.nodes.streams, node, state.picks, state.weights, state.outward, size, rules.wanted, rules.best, rules.outbound)
    for place in range(rules.wanted, size):
        prune(state, rules, node, state.picks[place], True)


def improve(state: GossipSubState, rules: GossipSubRules, node: int, seat: int) -> None:
    """Grafts some peers that are better than the median of the mesh, if that is low (v1.1, "Opportunistic Grafting")."""
    size = state.seats.size[seat]
    read_mesh(state, seat)
    if size > 1:
        middle = median(state.weights, size)
        if middle < state.scores[OPPORTUNISTIC_BELOW]:
            graft_some(state, rules, node, seat, rules.opportunistic_peers, False, max(0, middle + 1))


def read_mesh(state: GossipSubState, seat: int) -> None:
    """Writes the bonds of a mesh into `picks`, their scores into `weights`, and into `outward` whether the node has dialled them."""
    for place in range(state.seats.size[seat]):
        bond = state.seats.mesh[seat * MESH_ROOM + place]
        state.picks[place] = bond
        state.weights[place] = state.links.score[state.bonds.link[bond]]
        state.outward[place] = state.links.dialled[state.bonds.link[bond]]


def prune(state: GossipSubState, rules: GossipSubRules, node: int, bond: int, exchanges: bool) -> None:
    """Takes a peer out of the mesh, tells it so, and both back off. A PRUNE that `exchanges` offers it other peers.

    These are drawn from a stream of their own, whose seed is all that the message needs to have here.
    """
    leave_mesh(state, rules, bond)
    if rules.backoff_us > 0:
        state.bonds.backoff_us[bond] = state.clock[NOW] + rules.backoff_us
    drawn = exchanges and rules.exchanged > 0 and state.links.score[state.bonds.link[bond]] >= 0
    send_over(state, PRUNE, bond, (1 + (wide(state.nodes.streams, node) >> 1)) << 1 if drawn else 0)
