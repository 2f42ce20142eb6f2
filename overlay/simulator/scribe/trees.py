"""The trees of a simulated Scribe: joining, heartbeats, repair. Compiled or interpreted."""

from typing import Final

from ...protocol.buffer import Buffer
from ...protocol.chance import shuffle
from ...protocol.pastry import NOBODY
from ...protocol.scribe import JOINS, LEAVES, add_child, joins_on, next_deed, remove_child
from .. import sizes
from ..counters import CONTROL, count
from .routing import come_by_somebody, hop, keep_leaves
from .state import JOIN_STEPS, TO_DEAD, ScribeRules, ScribeState, answers, find_seat, make_seat, subscribes

_CONTROL_BYTES: Final = sizes.HEADER + sizes.TOPIC


def act_all(state: ScribeState, rules: ScribeRules, order: Buffer, now: int) -> None:
    """Lets every live node act in the cycle `now`, in random order. `order` has all nodes."""
    shuffle(state.streams, len(order), order, 0, len(order))
    for place in range(len(order)):
        if state.alive[order[place]]:
            act(state, rules, order[place], now)


def act(state: ScribeState, rules: ScribeRules, node: int, now: int) -> None:
    """Lets `node` look after its leaves and its seats, and send a heartbeat to each child of each topic."""
    keep_leaves(state, rules, node)
    seat = state.seat_list[node]
    while seat != NOBODY:
        if state.in_tree[seat]:
            look_after(state, rules, node, seat, state.seat_keys[seat] // len(state.ids), now)
        seat = state.seat_next[seat]


def look_after(state: ScribeState, rules: ScribeRules, node: int, seat: int, topic: int, now: int) -> None:
    """Lets `node` send heartbeats for `topic`, and stay, leave, or join anew."""
    beat(state, node, seat, topic, now)
    is_root = state.parents[seat] == node
    if is_root and hop(state, rules, node, state.keys[topic]) != node:
        # Somebody has come who is nearer to the key: the rendezvous is handed over.
        climb(state, rules, node, seat, topic, now)
        return
    deed = next_deed(subscribes(state, node, topic), state.first_child[seat] != NOBODY, is_root, now - state.heard[seat], rules.patience)
    if deed == JOINS:
        climb(state, rules, node, seat, topic, now)
    elif deed == LEAVES:
        leave_tree(state, node, seat, topic)


def beat(state: ScribeState, node: int, seat: int, topic: int, now: int) -> None:
    """Sends a heartbeat to each child. A child that is gone, or has another parent by now, is one no more."""
    record = state.first_child[seat]
    while record != NOBODY:
        child, record = state.children[record], state.nexts[record]
        if not answers(state, node, child):
            state.tallies[TO_DEAD] += 1
            remove_child(state.first_child, seat, state.children, state.nexts, state.free, child)
            continue
        count_control(state, child, topic)
        theirs = find_seat(state, child, topic)
        if state.parents[theirs] == node and state.in_tree[theirs]:
            state.heard[theirs] = now
        else:
            count_control(state, node, topic)
            remove_child(state.first_child, seat, state.children, state.nexts, state.free, child)


def enter(state: ScribeState, rules: ScribeRules, node: int, topic: int, now: int) -> None:
    """Lets `node` join the tree of `topic`, if it is not in it as a relay."""
    seat = make_seat(state, node, topic)
    if not state.in_tree[seat]:
        state.in_tree[seat] = 1
        climb(state, rules, node, seat, topic, now)


def climb(state: ScribeState, rules: ScribeRules, node: int, seat: int, topic: int, now: int) -> None:
    """Sends a JOIN from `node`. It goes on until it comes to a node in the tree, or to the rendezvous."""
    here = node
    goes_on = True
    while goes_on:
        onward = hop(state, rules, here, state.keys[topic])
        state.heard[seat] = now
        if onward == here:
            state.parents[seat] = here
            return
        state.tallies[JOIN_STEPS] += 1
        count_control(state, onward, topic)
        above = make_seat(state, onward, topic)
        state.parents[seat] = onward
        add_child(state.first_child, above, state.children, state.nexts, state.free, here)
        goes_on = joins_on(state.in_tree[above] == 1)
        state.in_tree[above] = 1
        here, seat = onward, above


def leave_tree(state: ScribeState, node: int, seat: int, topic: int) -> None:
    """Lets `node`, which neither subscribes nor has children, tell its parent that it leaves."""
    parent = state.parents[seat]
    state.in_tree[seat] = 0
    state.parents[seat] = NOBODY
    if parent != NOBODY and parent != node and answers(state, node, parent):
        count_control(state, parent, topic)
        above = find_seat(state, parent, topic)
        remove_child(state.first_child, above, state.children, state.nexts, state.free, node)


def forget_seats(state: ScribeState, node: int) -> None:
    """Takes `node` out of all trees. It tells nobody: it is a node that comes back, and finds its own place anew."""
    seat = state.seat_list[node]
    while seat != NOBODY:
        record = state.first_child[seat]
        while record != NOBODY:
            child, record = state.children[record], state.nexts[record]
            remove_child(state.first_child, seat, state.children, state.nexts, state.free, child)
        state.in_tree[seat] = 0
        state.parents[seat] = NOBODY
        seat = state.seat_next[seat]


def enter_all(state: ScribeState, rules: ScribeRules, node: int, now: int) -> None:
    """Lets `node` join the trees of all topics that it subscribes to."""
    first = state.topic_firsts[node]
    for place in range(first, first + state.topic_counts[node]):
        enter(state, rules, node, state.topics[place], now)


def enter_everybody(state: ScribeState, rules: ScribeRules, order: Buffer, now: int) -> None:
    """Lets all nodes of `order` that are there join their trees."""
    for place in range(len(order)):
        if state.alive[order[place]]:
            enter_all(state, rules, order[place], now)


def come_all(state: ScribeState, rules: ScribeRules, arriving: Buffer, live: Buffer, now: int) -> None:
    """Brings nodes back: each joins Pastry over a random node that is there, and then its trees. `live` is room for all nodes."""
    count = 0
    for node in range(len(state.ids)):
        if state.alive[node]:
            live[count] = node
            count += 1
    for place in range(len(arriving)):
        node = arriving[place]
        if not state.alive[node]:
            forget_seats(state, node)
            state.alive[node] = 1
            come_by_somebody(state, rules, node, live, count)
            live[count] = node
            count += 1
            enter_all(state, rules, node, now)


def count_control(state: ScribeState, node: int, topic: int) -> None:
    """Counts a message about `topic` that is no event."""
    count(state.messages, state.sizes, node, CONTROL, _CONTROL_BYTES)
    if not subscribes(state, node, topic):
        state.relayed[node] += 1
