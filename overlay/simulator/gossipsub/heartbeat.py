"""The heartbeat of a GossipSub node: connections, scores, the mesh of each topic, and gossip (libp2p, gossipsub v1.0, "Heartbeat")."""

from ...protocol import gossip_cache
from ...protocol.chance import sample
from ...protocol.gossip_scores import BEHAVIOUR_KEEPS, COUNTERS, LEAST, fade, faded, peer_score, topic_score
from .gossip import gossip
from .links import dial, lose
from .meshes import tend_mesh
from .options import GossipSubRules
from .seats import can_reach, mesh_time
from .state import NOBODY, NOW, GossipSubState


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
