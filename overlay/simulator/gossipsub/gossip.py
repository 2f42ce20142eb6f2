"""What GossipSub nodes tell each other of events that they have (libp2p, gossipsub v1.0, "Gossip Emission")."""

from ...protocol import gossip_cache
from ...protocol.chance import sample
from ...protocol.gossip_scores import GOSSIP_FROM
from ...protocol.gossipsub import gossip_targets
from ..harm import Misdeed
from .options import GossipSubRules
from .seats import is_active
from .sending import BOGUS, MASK_BITS, send_over
from .state import IHAVE, NOBODY, GossipSubState

_LIES = int(Misdeed.LIES_ABOUT_AGES)
# A threshold that lets everybody through.
_ANY = -(1 << 62)


def gossip(state: GossipSubState, rules: GossipSubRules, node: int, seat: int) -> None:
    """Tells some peers outside the mesh which events of the last windows the node has. A liar tells of one that does not exist, too."""
    row = node
    first = gossip_cache.begins(state.nodes.marks, row, rules.log, rules.windows, rules.gossip_windows)
    end = gossip_cache.ends(state.nodes.marks, row, rules.windows)
    lies = state.nodes.flags[node] & _LIES != 0
    if first == end and not lies:
        return
    targets = choose_targets(state, rules, node, seat)
    for base in range(first, end, MASK_BITS):
        mask = positions(state, rules, node, state.seats.topic[seat], base, min(end, base + MASK_BITS))
        if mask > 0:
            tell(state, targets, (base << MASK_BITS) | mask)
    if lies:
        tell(state, targets, (BOGUS << MASK_BITS) | 1)


def choose_targets(state: GossipSubState, rules: GossipSubRules, node: int, seat: int) -> int:
    """Writes the bonds that get gossip into `picks`. Returns how many there are."""
    found, bond = 0, state.seats.first_bond[seat]
    least = state.scores[GOSSIP_FROM] if rules.guarded == 1 else _ANY
    while bond != NOBODY:
        if state.bonds.in_mesh[bond] == 0 and is_active(state, bond) and state.links.score[state.bonds.link[bond]] >= least:
            state.picks[found] = bond
            found += 1
        bond = state.bonds.following[bond]
    return sample(state.nodes.streams, node, state.picks, 0, found, gossip_targets(found, rules.lazy, rules.factor_permille))


def positions(state: GossipSubState, rules: GossipSubRules, node: int, topic: int, base: int, end: int) -> int:
    """Returns which positions of the node's cache from `base` on have events of the topic, as bits."""
    mask = 0
    for position in range(base, end):
        if state.events.topic[gossip_cache.event_at(state.nodes.log, node, rules.log, position)] == topic:
            mask |= 1 << (position - base)
    return mask


def tell(state: GossipSubState, targets: int, detail: int) -> None:
    """Sends an IHAVE to the bonds in `picks`."""
    for place in range(targets):
        send_over(state, IHAVE, state.picks[place], detail)
