"""What a GossipSub node does with a message (libp2p, gossipsub v1.0, "Message Processing", and what v1.1 adds)."""

from typing import Final

from ...protocol import gossip_cache
from ...protocol.chance import begin, below, sample
from ...protocol.gossip_scores import (
    COUNTERS,
    DELIVERY_WINDOW_US,
    EXCHANGE_FROM,
    GOSSIP_FROM,
    GRAYLIST_BELOW,
    MOST,
    ONE,
    PUBLISH_FROM,
    count_delivery,
    count_first,
    count_invalid,
)
from ...protocol.gossipsub import ACCEPTED, IGNORED, PREMATURE, REFUSED, graft_verdict
from .. import sizes
from ..agenda import DETAIL, ITEM, KIND, RECEIVER, SENDER, add
from ..counters import CONTROL, DUPLICATE, EVENT, UNWANTED, count
from ..harm import Misdeed
from .links import dial
from .meshes import backs_off, prune
from .options import MESH_ROOM, GossipSubRules
from .seats import can_reach, enter_mesh, is_active, leave_mesh, peer_of
from .sending import BOGUS, HOP_BITS, HOP_MASK, MASK, MASK_BITS, bits, control_bytes, send_copy, send_over
from .state import COPY, EXCHANGE, GRAFT, IHAVE, IWANT, LOST, NOBODY, NOW, PROMISE, PRUNE, GossipSubState

_FREERIDES: Final = int(Misdeed.FREERIDES)
_OFFERS_ITSELF: Final = int(Misdeed.OFFERS_ITSELF)
_OFFERS_THE_DEAD: Final = int(Misdeed.OFFERS_THE_DEAD)


def receive(state: GossipSubState, rules: GossipSubRules) -> None:
    """Lets a node receive the message that was taken from the agenda."""
    entry = state.agenda.entry
    kind, node, detail = entry[KIND], entry[RECEIVER], entry[DETAIL]
    bond = detail >> HOP_BITS if kind == COPY else entry[ITEM]
    link = state.bonds.link[bond]
    if not can_reach(state, entry[SENDER], node) or state.links.is_up[link] == 0:
        state.tallies[LOST] += 1
        return
    ignored = rules.guarded == 1 and state.links.score[link] < state.scores[GRAYLIST_BELOW]
    if kind == COPY:
        receive_copy(state, rules, node, bond, entry[ITEM], detail & HOP_MASK, ignored)
        return
    count(state.messages, state.sizes, node, CONTROL, control_bytes(rules, kind, detail))
    if ignored:
        return
    if kind == GRAFT:
        receive_graft(state, rules, node, bond)
    elif kind == PRUNE:
        receive_prune(state, rules, node, bond, detail)
    elif kind == IHAVE:
        receive_ihave(state, rules, node, bond, detail >> MASK_BITS, detail & MASK)
    elif kind == IWANT:
        receive_iwant(state, rules, node, bond, detail >> MASK_BITS, detail & MASK)


def receive_copy(state: GossipSubState, rules: GossipSubRules, node: int, bond: int, event: int, hops: int, ignored: bool) -> None:
    """Takes up a copy of an event. The first one is delivered and goes on to the mesh."""
    at = event * len(state.nodes.alive) + node
    state.events.copies[at] += 1
    if state.seats.is_on[state.bonds.seat[bond]] == 0:
        count(state.messages, state.sizes, node, UNWANTED, sizes.EVENT)
        return
    if ignored or state.events.arrival_us[at] != NOBODY:
        count(state.messages, state.sizes, node, DUPLICATE, sizes.EVENT)
        if not ignored and rules.guarded == 1:
            judge_later_copy(state, bond, event, at)
        return
    count(state.messages, state.sizes, node, EVENT, sizes.EVENT)
    state.events.arrival_us[at] = state.clock[NOW]
    state.events.hops[at] = hops
    if state.events.is_valid[event] == 0:
        if rules.guarded == 1:
            count_invalid(state.bonds.counters, bond * COUNTERS)
        return
    if rules.guarded == 1:
        count_first(state.scores, state.bonds.counters, bond * COUNTERS)
        if state.bonds.in_mesh[bond] == 1:
            count_delivery(state.scores, state.bonds.counters, bond * COUNTERS)
    gossip_cache.remember(state.nodes.log, state.nodes.marks, node, rules.log, rules.windows, event)
    if state.nodes.flags[node] & _FREERIDES == 0:
        forward(state, node, bond, event)


def judge_later_copy(state: GossipSubState, bond: int, event: int, at: int) -> None:
    """Counts a later copy for the score of the peer that brought it."""
    if state.events.is_valid[event] == 0:
        count_invalid(state.bonds.counters, bond * COUNTERS)
    elif state.bonds.in_mesh[bond] == 1 and state.clock[NOW] - state.events.arrival_us[at] <= state.scores[DELIVERY_WINDOW_US]:
        count_delivery(state.scores, state.bonds.counters, bond * COUNTERS)


def forward(state: GossipSubState, node: int, came_by: int, event: int) -> None:
    """Sends an event to the mesh, but neither back nor to its publisher."""
    seat = state.bonds.seat[came_by]
    for place in range(state.seats.size[seat]):
        bond = state.seats.mesh[seat * MESH_ROOM + place]
        if bond != came_by and peer_of(state, bond) != state.events.publisher[event]:
            send_copy(state, bond, event)


def publish_event(state: GossipSubState, rules: GossipSubRules, seat: int, event: int) -> None:
    """Lets the node of a seat publish an event: to all peers that subscribe, with flood publishing, or to its mesh."""
    node, now = state.seats.node[seat], state.clock[NOW]
    at = event * len(state.nodes.alive) + node
    state.events.topic[event] = state.seats.topic[seat]
    state.events.publisher[event] = node
    state.events.published_us[event] = now
    state.events.arrival_us[at] = now
    state.events.hops[at] = 0
    gossip_cache.remember(state.nodes.log, state.nodes.marks, node, rules.log, rules.windows, event)
    if rules.floods == 1:
        bond = state.seats.first_bond[seat]
        while bond != NOBODY:
            if is_active(state, bond) and state.links.score[state.bonds.link[bond]] >= state.scores[PUBLISH_FROM]:
                send_copy(state, bond, event)
            bond = state.bonds.following[bond]
    else:
        for place in range(state.seats.size[seat]):
            send_copy(state, state.seats.mesh[seat * MESH_ROOM + place], event)


def receive_graft(state: GossipSubState, rules: GossipSubRules, node: int, bond: int) -> None:
    """Takes the sender into the mesh, or answers with a PRUNE."""
    seat, link = state.bonds.seat[bond], state.bonds.link[bond]
    if state.seats.is_on[seat] == 0:
        # v1.1 ignores it, because answers to unknown topics can be provoked (v1.1, "Spam Protection Measures").
        if rules.guarded == 0:
            prune(state, rules, node, bond, False)
        return
    in_mesh = state.bonds.in_mesh[bond] == 1
    verdict = IGNORED if in_mesh else ACCEPTED
    if rules.guarded == 1:
        is_outbound = state.links.dialled[link] == 1
        verdict = graft_verdict(
            in_mesh, backs_off(state, bond, 0), state.links.score[link], state.seats.size[seat], rules.high, is_outbound
        )
    if verdict == ACCEPTED and not enter_mesh(state, bond):
        verdict = REFUSED
    if verdict == PREMATURE:
        misbehave(state, link)
    if verdict in (PREMATURE, REFUSED):
        prune(state, rules, node, bond, verdict == REFUSED)


def misbehave(state: GossipSubState, link: int) -> None:
    """Counts a misdeed of a peer (P7)."""
    state.links.misbehaved[link] = min(state.links.misbehaved[link] + ONE, MOST)


def receive_prune(state: GossipSubState, rules: GossipSubRules, node: int, bond: int, detail: int) -> None:
    """Takes the sender out of the mesh, backs off, and connects to the peers that it offers."""
    leave_mesh(state, rules, bond)
    if rules.backoff_us > 0:
        backoff_us = rules.leave_backoff_us if detail & 1 else rules.backoff_us
        state.bonds.backoff_us[bond] = state.clock[NOW] + backoff_us
    if detail >> 1 > 0 and state.links.score[state.bonds.link[bond]] >= state.scores[EXCHANGE_FROM]:
        take_offer(state, rules, node, bond, detail >> 1)


def take_offer(state: GossipSubState, rules: GossipSubRules, node: int, bond: int, seed: int) -> None:
    """Connects a node to the peers that came with a PRUNE (v1.1, "PRUNE Backoff and Peer Exchange")."""
    there = state.bonds.twin[bond]
    sender = state.seats.node[state.bonds.seat[there]]
    flags, found = state.nodes.flags[sender], 0
    offered = state.seats.first_bond[state.bonds.seat[there]]
    while offered != NOBODY and flags & _OFFERS_ITSELF == 0:
        link = state.bonds.link[offered]
        is_gone = state.links.is_up[link] == 0
        wanted = is_gone if flags & _OFFERS_THE_DEAD else is_active(state, offered) and state.links.score[link] >= 0
        if wanted and offered != there:
            state.picks[found] = state.links.peer[link]
            found += 1
        offered = state.bonds.following[offered]
    stream = len(state.nodes.alive) + EXCHANGE
    begin(state.nodes.streams, stream, seed, EXCHANGE)
    for place in range(sample(state.nodes.streams, stream, state.picks, 0, found, rules.exchanged)):
        dial(state, rules, node, state.picks[place])


def receive_ihave(state: GossipSubState, rules: GossipSubRules, node: int, bond: int, base: int, mask: int) -> None:
    """Asks for the events that the node has not seen, within the limits, and remembers that one of them was promised."""
    link = state.bonds.link[bond]
    if state.seats.is_on[state.bonds.seat[bond]] == 0:
        return
    if rules.guarded == 1:
        state.bonds.ihaves[bond] += 1
        if state.links.score[link] < state.scores[GOSSIP_FROM] or state.bonds.ihaves[bond] > rules.most_ihaves:
            return
    wanted = mask if base == BOGUS else unseen(state, rules, node, state.links.peer[link], base, mask)
    asked = bits(wanted)
    if asked == 0 or (rules.guarded == 1 and state.links.asked[link] + asked > rules.most_asked):
        return
    state.links.asked[link] += asked
    send_over(state, IWANT, bond, (base << MASK_BITS) | wanted)
    if rules.guarded == 1 and state.links.promised[link] == NOBODY:
        note_promise(state, rules, node, link, base, wanted, asked)


def unseen(state: GossipSubState, rules: GossipSubRules, node: int, sender: int, base: int, mask: int) -> int:
    """Returns those of the sender's events that the node has not seen, as bits."""
    wanted = 0
    oldest = gossip_cache.begins(state.nodes.marks, sender, rules.log, rules.windows, rules.windows)
    for bit in range(MASK_BITS):
        if (mask >> bit) & 1 and base + bit >= oldest:
            event = gossip_cache.event_at(state.nodes.log, sender, rules.log, base + bit)
            if state.events.arrival_us[event * len(state.nodes.alive) + node] == NOBODY:
                wanted |= 1 << bit
    return wanted


def note_promise(state: GossipSubState, rules: GossipSubRules, node: int, link: int, base: int, wanted: int, asked: int) -> None:
    """Remembers a random one of the events that were asked for; if it does not come in time, the peer has misbehaved.

    One that does not exist has the number of events, which nobody ever sees.
    """
    event = len(state.events.topic)
    if base != BOGUS:
        bit, chosen = 0, below(state.nodes.streams, node, asked)
        while chosen > 0 or (wanted >> bit) & 1 == 0:
            chosen -= (wanted >> bit) & 1
            bit += 1
        event = gossip_cache.event_at(state.nodes.log, state.links.peer[link], rules.log, base + bit)
    state.links.promised[link] = event
    add(state.agenda, state.clock[NOW] + rules.promise_us, PROMISE, node, state.links.peer[link], link, event)


def check_promise(state: GossipSubState, node: int, link: int, event: int) -> None:
    """Counts a promise that was broken (P7)."""
    state.links.promised[link] = NOBODY
    if event == len(state.events.topic) or state.events.arrival_us[event * len(state.nodes.alive) + node] == NOBODY:
        misbehave(state, link)


def receive_iwant(state: GossipSubState, rules: GossipSubRules, node: int, bond: int, base: int, mask: int) -> None:
    """Sends the events that were asked for and are still in the cache, within the limits. A freerider sends none."""
    link = state.bonds.link[bond]
    if state.nodes.flags[node] & _FREERIDES or base == BOGUS:
        return
    if rules.guarded == 1 and state.links.score[link] < state.scores[GOSSIP_FROM]:
        return
    oldest = gossip_cache.begins(state.nodes.marks, node, rules.log, rules.windows, rules.windows)
    for bit in range(MASK_BITS):
        if (mask >> bit) & 1 and base + bit >= oldest and state.links.served[link] < rules.most_served:
            state.links.served[link] += rules.guarded
            send_copy(state, bond, gossip_cache.event_at(state.nodes.log, node, rules.log, base + bit))
