"""The heartbeat of a GossipSub node: scores, the mesh of each topic, and gossip (libp2p, gossipsub v1.0 and v1.1, "Heartbeat")."""

from ...protocol import gossip_cache
from ...protocol.chance import sample, wide
from ...protocol.gossip_scores import (
    BEHAVIOUR_KEEPS,
    COUNTERS,
    GOSSIP_FROM,
    LEAST,
    OPPORTUNISTIC_BELOW,
    fade,
    faded,
    peer_score,
    topic_score,
)
from ...protocol.gossipsub import choose_kept, gossip_targets, lacking, lacking_outbound, median
from ..harm import Misdeed
from .links import can_reach, dial, discover, enter_mesh, is_active, known, leave_mesh, lose, mesh_time
from .options import MESH_ROOM, GossipSubRules
from .sending import BOGUS, MASK_BITS, send_over
from .state import GRAFT, IHAVE, NOBODY, NOW, PRUNE, GossipSubState

_LIES = int(Misdeed.LIES_ABOUT_AGES)
# Thresholds that let everybody through.
_ANY = -(1 << 62)


def beat(state: GossipSubState, rules: GossipSubRules, node: int) -> None:
    """Lets a node do its heartbeat."""
    state.nodes.beats[node] += 1
    tend_links(state, rules, node)
    if rules.guarded == 1:
        judge(state, node)
    seat = state.nodes.first_seat[node]
    while seat != NOBODY:
        if state.seats.is_on[seat] == 1:
            tend_mesh(state, rules, node, seat)
            gossip(state, rules, node, seat)
        seat = state.seats.following[seat]
    gossip_cache.shift(state.nodes.marks, node, rules.windows)


def tend_links(state: GossipSubState, rules: GossipSubRules, node: int) -> None:
    """Gives up connections that are silent for too long, and tries one of the lost ones again."""
    now, lost = state.clock[NOW], 0
    link = state.nodes.first_link[node]
    while link != NOBODY:
        state.links.asked[link] = 0
        state.links.served[link] = 0
        if state.links.is_up[link] == 1:
            state.links.silent[link] = 0 if can_reach(state, node, state.links.peer[link]) else state.links.silent[link] + 1
            if state.links.silent[link] >= rules.patience:
                lose(state, rules, link)
        elif state.links.dialled[link] == 1 and now - state.links.lost_us[link] <= rules.retain_us:
            state.picks[lost] = state.links.peer[link]
            lost += 1
        link = state.links.following[link]
    if sample(state.nodes.streams, node, state.picks, 0, lost, 1) == 1:
        dial(state, rules, node, state.picks[0])


def judge(state: GossipSubState, node: int) -> None:
    """Lets what a node knows of its peers fade, and computes their scores anew."""
    count_hosts(state, node)
    seat = state.nodes.first_seat[node]
    while seat != NOBODY:
        bond = state.seats.first_bond[seat]
        while bond != NOBODY:
            at = bond * COUNTERS
            fade(state.scores, state.bonds.counters, at)
            state.bonds.ihaves[bond] = 0
            state.links.topics_score[state.bonds.link[bond]] += topic_score(state.scores, state.bonds.counters, at, mesh_time(state, bond))
            bond = state.bonds.following[bond]
        seat = state.seats.following[seat]
    link = state.nodes.first_link[node]
    while link != NOBODY:
        misbehaved = faded(state.links.misbehaved[link], state.scores[BEHAVIOUR_KEEPS], state.scores[LEAST])
        state.links.misbehaved[link] = misbehaved
        peer = state.links.peer[link]
        on_host = state.picks[state.nodes.host[peer]]
        state.links.score[link] = peer_score(state.scores, state.links.topics_score[link], state.nodes.opinion[peer], on_host, misbehaved)
        link = state.links.following[link]


def count_hosts(state: GossipSubState, node: int) -> None:
    """Counts the node's peers on each host into `picks`, and sets what topics add to their scores to 0."""
    link = state.nodes.first_link[node]
    while link != NOBODY:
        state.picks[state.nodes.host[state.links.peer[link]]] = 0
        state.links.topics_score[link] = 0
        link = state.links.following[link]
    link = state.nodes.first_link[node]
    while link != NOBODY:
        state.picks[state.nodes.host[state.links.peer[link]]] += state.links.is_up[link]
        link = state.links.following[link]


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
