"""The drivers of a simulated GossipSub: by heartbeats, one event in an overlay that stands still, and by events."""

from ...protocol.buffer import Buffer
from ...protocol.chance import shuffle
from ..agenda import AT_US, DETAIL, ITEM, KIND, RECEIVER, add, next_us, take
from .discovery import dial_first
from .gossip import gossip
from .heartbeat import beat
from .options import HEARTBEAT_US, GossipSubRules
from .receiving import check_promise, publish_event, receive
from .seats import find_seat, take_seat
from .sending import next_beat_us
from .state import (
    GOSSIP,
    HEARTBEAT,
    LINKS,
    NO_ROOM,
    NOBODY,
    NOW,
    PROMISE,
    PUBLISH,
    SORTS,
    WORLD,
    GossipSubState,
)


def take_seats(state: GossipSubState, offsets: Buffer, topics: Buffer) -> None:
    """Lets each node subscribe to its topics."""
    for node in range(len(state.nodes.alive)):
        for place in range(offsets[node], offsets[node + 1]):
            take_seat(state, node, topics[place])


def dial_all(state: GossipSubState, rules: GossipSubRules, first: int, end: int) -> int:
    """Lets the seats from `first` to `end` dial. Returns at which one the pools were full, or `end`."""
    for seat in range(first, end):
        if state.seats.is_on[seat] == 1:
            dial_first(state, rules, seat)
        if state.tallies[NO_ROOM] > 0:
            return seat
    return end


def run_cycles(state: GossipSubState, rules: GossipSubRules, cycles: int) -> None:
    """Runs so many cycles: each live node does its heartbeat, in random order, and messages take no time."""
    nodes = len(state.nodes.alive)
    for _ in range(cycles):
        state.clock[NOW] += HEARTBEAT_US
        shuffle(state.nodes.streams, nodes + WORLD, state.nodes.order, 0, nodes)
        for place in range(nodes):
            node = state.nodes.order[place]
            if state.nodes.alive[node] == 1:
                beat(state, rules, node)
                drain(state, rules, state.clock[NOW])


def drain(state: GossipSubState, rules: GossipSubRules, until_us: int) -> None:
    """Lets happen what is on the agenda until then."""
    while 0 <= next_us(state.agenda) <= until_us:
        take(state.agenda)
        state.clock[NOW] = max(state.clock[NOW], state.agenda.entry[AT_US])
        happen(state, rules)


def happen(state: GossipSubState, rules: GossipSubRules) -> None:
    """Lets the entry happen that was taken from the agenda."""
    entry = state.agenda.entry
    kind, node = entry[KIND], entry[RECEIVER]
    if kind < SORTS:
        receive(state, rules)
    elif kind == HEARTBEAT:
        if state.nodes.alive[node] == 1:
            beat(state, rules, node)
        add(state.agenda, state.clock[NOW] + HEARTBEAT_US, HEARTBEAT, node, 0, 0, 0)
    elif kind == PUBLISH:
        publish_event(state, rules, find_seat(state, node, entry[DETAIL]), entry[ITEM])
    elif kind == PROMISE:
        check_promise(state, node, entry[ITEM], entry[DETAIL])


def begin_play(state: GossipSubState) -> None:
    """Puts the next heartbeat of each node on the agenda. Of events that were before, nobody knows any more: numbers begin anew."""
    end_play(state)
    for node in range(len(state.nodes.alive)):
        add(state.agenda, next_beat_us(state, node), HEARTBEAT, node, 0, 0, 0)


def end_play(state: GossipSubState) -> None:
    """Lets everybody forget events, and what was promised of them."""
    forget_events(state)
    for link in range(state.tallies[LINKS]):
        state.links.promised[link] = NOBODY


def spread(state: GossipSubState, rules: GossipSubRules, node: int, topic: int) -> None:
    """Spreads one event in an overlay that stands still: over meshes at once, and then by the gossip about it.

    The heartbeats of this time do nothing else. Afterwards it is again when it was, and caches are empty. Scores have learned.
    """
    before = state.clock[NOW]
    publish_event(state, rules, find_seat(state, node, topic), 0)
    add(state.agenda, next_beat_us(state, node), GOSSIP, node, 0, 0, rules.gossip_windows)
    while take(state.agenda):
        entry = state.agenda.entry
        state.clock[NOW] = max(state.clock[NOW], entry[AT_US])
        if entry[KIND] == GOSSIP:
            gossip_again(state, rules, entry[RECEIVER], topic, entry[DETAIL])
            continue
        receiver = entry[RECEIVER]
        had = state.events.arrival_us[receiver] != NOBODY
        happen(state, rules)
        if not had and state.events.arrival_us[receiver] != NOBODY:
            add(state.agenda, next_beat_us(state, receiver), GOSSIP, receiver, 0, 0, rules.gossip_windows)
    forget_events(state)
    state.clock[NOW] = before


def gossip_again(state: GossipSubState, rules: GossipSubRules, node: int, topic: int, rounds: int) -> None:
    """Lets a node gossip about the event, in this heartbeat and in those of the other windows."""
    gossip(state, rules, node, find_seat(state, node, topic))
    if rounds > 1:
        add(state.agenda, state.clock[NOW] + HEARTBEAT_US, GOSSIP, node, 0, 0, rounds - 1)


def forget_events(state: GossipSubState) -> None:
    """Empties all caches."""
    for place in range(len(state.nodes.marks)):
        state.nodes.marks[place] = 0
