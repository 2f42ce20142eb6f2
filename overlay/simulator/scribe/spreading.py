"""The way of an event in a simulated Scribe: up to the rendezvous, and down its tree. Compiled or interpreted.

What is routed up is opaque to the nodes on the way, and counted as unwanted traffic of theirs. A node that passes no events on takes them
off the way, in both directions; its own it publishes. Messages are taken by their times. Of a tree that is whole everybody has one copy;
while it mends itself, a node may be the child of two.
"""

from typing import Final, NamedTuple

import numpy as np

from ...protocol.buffer import Buffer
from ...protocol.pastry import MOST_STEPS, NOBODY
from .. import sizes
from ..agenda import AT_US, DETAIL, KIND, RECEIVER, EventAgenda, add, clear, has_lost, new_agenda, take
from ..compiled import Execution
from ..counters import DUPLICATE, EVENT, UNWANTED, count
from ..event_counts import EventCounts, TopicMembers, draw_publisher, find_live, note_missed, note_reached
from ..latency.latency import LatencyTimes, takes_us
from ..system import NOT_REACHED
from .routing import hop
from .state import DOWN, TO_DEAD, UP, ScribeRules, ScribeState, answers, find_seat, passes_on, subscribes


class ScribeEvent(NamedTuple):
    """An event on its way. DETAIL of an entry of the agenda is its hops; KIND is UP or DOWN.

    - `agenda`: the messages that are under way. `times`: how long they take.
    - `hops`, `copies`, `arrival_us`: see `Dissemination`. Copies are those of the tree, and the one of a rendezvous that subscribes.
    - `touched`: the nodes of which these are known, `total[0]` of them, in the order of their first messages.
    """

    agenda: EventAgenda
    times: LatencyTimes
    hops: Buffer
    copies: Buffer
    arrival_us: Buffer
    touched: Buffer
    total: Buffer


# A node may be a child of several while trees are mended: so many messages for each node may be under way.
_MESSAGES: Final = 4


def new_event(nodes: int, times: LatencyTimes, execution: Execution) -> ScribeEvent:
    """Returns room for one event after the other."""
    return ScribeEvent(
        agenda=new_agenda(_MESSAGES * nodes, execution),
        times=times,
        hops=execution.filled(nodes, NOT_REACHED, np.int32),
        copies=execution.filled(nodes, 0, np.int32),
        arrival_us=execution.filled(nodes, NOT_REACHED),
        touched=execution.filled(nodes, 0, np.int32),
        total=execution.filled(1),
    )


def spread(state: ScribeState, rules: ScribeRules, event: ScribeEvent, topic: int, publisher: int) -> None:
    """Disseminates an event."""
    clear(event.agenda)
    touch(event, publisher)
    event.hops[publisher] = event.arrival_us[publisher] = 0
    onward = hop(state, rules, publisher, state.keys[topic])
    if onward == publisher:
        descend(state, event, topic, publisher, 0, 0)
    else:
        send(event, UP, publisher, onward, 0, 0)
    while take(event.agenda):
        node, passed, at_us = event.agenda.entry[RECEIVER], event.agenda.entry[DETAIL], event.agenda.entry[AT_US]
        state.tallies[event.agenda.entry[KIND]] += 1
        if event.agenda.entry[KIND] == UP:
            rise(state, rules, event, topic, node, passed, at_us)
        else:
            fall(state, event, topic, node, passed, at_us)


def rise(state: ScribeState, rules: ScribeRules, event: ScribeEvent, topic: int, node: int, passed: int, at_us: int) -> None:
    """Lets `node` receive the event on its way up. It sends it on, or down if it is the rendezvous; what goes in a circle is lost."""
    onward = hop(state, rules, node, state.keys[topic])
    if onward == node and subscribes(state, node, topic):
        receive(state, event, node, passed, at_us)
    else:
        count(state.messages, state.sizes, node, UNWANTED, sizes.EVENT)
    if not passes_on(state, node):
        return
    if onward == node:
        descend(state, event, topic, node, passed, at_us)
    elif passed < MOST_STEPS:
        send(event, UP, node, onward, passed, at_us)


def fall(state: ScribeState, event: ScribeEvent, topic: int, node: int, passed: int, at_us: int) -> None:
    """Lets `node` receive the event from a node above it. Only the first copy goes on to its children."""
    is_first = event.copies[node] == 0
    if subscribes(state, node, topic):
        receive(state, event, node, passed, at_us)
    else:
        touch(event, node)
        event.copies[node] += 1
        count(state.messages, state.sizes, node, UNWANTED, sizes.EVENT)
    if is_first and passes_on(state, node):
        descend(state, event, topic, node, passed, at_us)


def receive(state: ScribeState, event: ScribeEvent, node: int, passed: int, at_us: int) -> None:
    """Counts a copy that `node` wants, or has already. The publisher counts the one that comes back to it as its first."""
    touch(event, node)
    event.copies[node] += 1
    count(state.messages, state.sizes, node, EVENT if event.copies[node] == 1 else DUPLICATE, sizes.EVENT)
    if event.hops[node] == NOT_REACHED:
        event.hops[node], event.arrival_us[node] = passed, at_us


def descend(state: ScribeState, event: ScribeEvent, topic: int, node: int, passed: int, at_us: int) -> None:
    """Sends the event to all children of `node`."""
    seat = find_seat(state, node, topic)
    record = state.first_child[seat] if seat != NOBODY and state.in_tree[seat] else NOBODY
    while record != NOBODY:
        child, record = state.children[record], state.nexts[record]
        if answers(state, node, child):
            send(event, DOWN, node, child, passed, at_us)
        else:
            state.tallies[TO_DEAD] += 1


def send(event: ScribeEvent, way: int, node: int, other: int, passed: int, at_us: int) -> None:
    """Sends the event from `node`, which has it after `passed` hops, to `other`."""
    add(event.agenda, at_us + takes_us(event.times, node, other), way, other, node, 0, passed + 1)


def touch(event: ScribeEvent, node: int) -> None:
    """Notes that something about `node` is known from now on."""
    if event.hops[node] == NOT_REACHED and event.copies[node] == 0:
        event.touched[event.total[0]] = node
        event.total[0] += 1


def forget_event(event: ScribeEvent) -> None:
    """Makes room for the next event."""
    for at in range(event.total[0]):
        node = event.touched[at]
        event.hops[node] = event.arrival_us[node] = NOT_REACHED
        event.copies[node] = 0
    event.total[0] = 0


def publish_each(
    state: ScribeState,
    rules: ScribeRules,
    event: ScribeEvent,
    of: TopicMembers,
    streams: Buffer,
    seed: int,
    first: int,
    counts: EventCounts,
) -> None:
    """Publishes one event on each topic, by a random live subscriber, and adds what comes of them to `counts`.

    The event on topic t has the number `first + t`, from which its publisher follows, drawn from `streams[0]`. After an event whose
    messages found no room there is no other.
    """
    for topic in range(len(counts.wanted)):
        size = find_live(state.alive, of, topic)
        if size > 0:
            publisher = draw_publisher(streams, 0, seed, first + topic, of, size)
            spread(state, rules, event, topic, publisher)
            note(state, event, of, topic, size, publisher, counts)
            forget_event(event)
            if has_lost(event.agenda):
                return


def note(state: ScribeState, event: ScribeEvent, of: TopicMembers, topic: int, size: int, publisher: int, counts: EventCounts) -> None:
    """Adds one event to the counts. Relays are none of its subscribers."""
    before = counts.reached[topic]
    counts.wanted[topic] += size
    for at in range(event.total[0]):
        node = event.touched[at]
        if subscribes(state, node, topic):
            note_reached(counts, topic, node, publisher, event.hops[node], event.copies[node])
    if counts.reached[topic] - before < size:
        note_missed(counts, of, size, event.hops)
