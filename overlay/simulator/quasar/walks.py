"""Walks: the way of a message through the nodes (quasar algorithm 2), and of polls (quasar 4). Compiled or interpreted.

Messages are taken by the times at which they come. A node that passes no events on delivers them, and publishes its own.
"""

from typing import Final

from ...protocol.buffer import Buffer
from ...protocol.chance import shuffle
from ...protocol.quasar import BY_TRAIL, IS_BROKEN, LEVEL, NOBODY, choose_branches, next_step
from .. import sizes
from ..agenda import take
from ..counters import CONTROL, DUPLICATE, EVENT, UNWANTED, count
from . import walkers as w
from .state import QuasarRules, QuasarState, hears, passes_on
from .updates import is_fresh
from .walkers import Walkers

_POLL_BYTES: Final = sizes.HEADER + sizes.TOPIC + sizes.EVENT_ID


def spread(
    state: QuasarState,
    rules: QuasarRules,
    walkers: Walkers,
    members: Buffer,
    topic: int,
    publisher: int,
    now: int,
    hops: Buffer,
    copies: Buffer,
    arrival_us: Buffer,
    truth: Buffer,
) -> None:
    """Disseminates an event.

    - `members`: 1 for each node that subscribes to `topic`.
    - `hops`, `copies`, `arrival_us`: filled in, see `Dissemination`.
    - `truth`: 1 at `level * nodes + node` if some member is `level` steps from `node`. If it is empty nobody looks for false trails.
    """
    w.forget_all(walkers)
    hops[publisher] = arrival_us[publisher] = 0
    publish(state, rules, walkers, publisher, NOBODY, 0, now, 0)
    while take(walkers.agenda):
        node = w.node_of(walkers)
        if hears(state, state.ends[w.link_of(walkers)], node):
            arrive(state, rules, walkers, members, topic, node, now, hops, copies, arrival_us, truth)


def publish(state: QuasarState, rules: QuasarRules, walkers: Walkers, node: int, chain: int, hops: int, now: int, at_us: int) -> None:
    """Sends copies from a member that has the event after `hops`, at `at_us`, with its own id to avoid. The first publisher sends to all
    neighbours, for if all copies died out, nobody would get it."""
    chain = w.avoid(walkers, node * rules.hashes, chain)
    found = gather(state, rules, walkers, node, now)
    chosen = choose_branches(state.streams, node, walkers.links, found, rules.branch if hops else 0)
    for number in range(chosen):
        link = walkers.links[number]
        w.note(walkers, node, state.ends[link], w.AT_RANDOM, 0, w.length(walkers, chain))
        w.send(walkers, node, state.ends[link], state.back[link], rules.ttl, hops + 1, chain, w.AT_RANDOM, at_us)
    walkers.tallies[w.STEPS] += chosen


def gather(state: QuasarState, rules: QuasarRules, walkers: Walkers, node: int, now: int) -> int:
    """Writes the links of `node` over which somebody was heard lately to `walkers.links`, and returns how many there are."""
    found = 0
    for link in range(state.offsets[node], state.offsets[node + 1]):
        if is_fresh(state, rules, link, now):
            walkers.links[found] = link
            found += 1
    return found


def arrive(
    state: QuasarState,
    rules: QuasarRules,
    walkers: Walkers,
    members: Buffer,
    topic: int,
    node: int,
    now: int,
    hops: Buffer,
    copies: Buffer,
    arrival_us: Buffer,
    truth: Buffer,
) -> None:
    """Lets `node` receive the message that was taken last: it is delivered and published again, dropped, or goes on."""
    chain, came = w.chain_of(walkers), w.hops_of(walkers)
    size = sizes.EVENT + sizes.ID * w.length(walkers, chain)
    copies[node] += 1
    if not members[node]:
        count(state.messages, state.sizes, node, UNWANTED, size)
        if passes_on(state, node) and (not rules.drops_everywhere or copies[node] == 1):
            pass_on(state, rules, walkers, topic, node, now, truth)
    elif hops[node] != NOBODY:
        count(state.messages, state.sizes, node, DUPLICATE, size)
    else:
        count(state.messages, state.sizes, node, EVENT, size)
        hops[node], arrival_us[node] = came, w.at_us_of(walkers)
        if passes_on(state, node):
            publish(state, rules, walkers, node, chain, came, now, arrival_us[node])


def pass_on(state: QuasarState, rules: QuasarRules, walkers: Walkers, topic: int, node: int, now: int, truth: Buffer) -> None:
    """Sends the message that was taken last on from `node`, which does not want it, unless its ttl is over."""
    link, chain, trail = w.link_of(walkers), w.chain_of(walkers), w.trail_of(walkers)
    ttl, hops, at_us = w.ttl_of(walkers) - 1, w.hops_of(walkers), w.at_us_of(walkers)
    if ttl == 0:
        walkers.tallies[w.EXPIRED] += 1
        walkers.tallies[w.FALSE_LOST] += 1 if trail == w.ON_FALSE_TRAIL else 0
        return
    onward = step(state, rules, walkers, topic, node, link, chain, trail, now)
    if onward == NOBODY:
        walkers.tallies[w.DEAD_ENDS] += 1
        return
    if walkers.told[IS_BROKEN]:
        walkers.tallies[w.BROKEN] += 1
        chain = w.avoid(walkers, node * rules.hashes, chain)
    trail = sort_of_step(walkers, state.ends[onward], len(state.alive), truth)
    walkers.tallies[w.STEPS] += 1
    walkers.tallies[w.TRAILS] += 1 if trail != w.AT_RANDOM else 0
    walkers.tallies[w.FALSE_TRAILS] += 1 if trail == w.ON_FALSE_TRAIL else 0
    w.note(walkers, node, state.ends[onward], walkers.told[BY_TRAIL], walkers.told[LEVEL], w.length(walkers, chain))
    w.send(walkers, node, state.ends[onward], state.back[onward], ttl, hops + 1, chain, trail, at_us)


def step(
    state: QuasarState, rules: QuasarRules, walkers: Walkers, topic: int, node: int, link: int, chain: int, trail: int, now: int
) -> int:
    """Returns the link over which a message goes on from `node`, where it came over `link` (or NOBODY); NOBODY if there is none."""
    found = gather(state, rules, walkers, node, now)
    shuffle(state.streams, node, walkers.links, 0, found)
    sender = NOBODY
    for number in range(found):
        walkers.offered[number] = state.wells[walkers.links[number]]
        if walkers.links[number] == link:
            sender = number
    negatives = w.write_negative(walkers, chain) if rules.avoids else 0
    chosen = next_step(
        state.streams,
        node,
        state.filters,
        walkers.offered,
        found,
        sender,
        rules.words,
        rules.depth,
        state.places,
        rules.hashes,
        (len(state.alive) + topic) * rules.hashes,
        walkers.negative,
        negatives,
        trail != w.AT_RANDOM,
        walkers.told,
    )
    return NOBODY if chosen == NOBODY else walkers.links[chosen]


def sort_of_step(walkers: Walkers, other: int, nodes: int, truth: Buffer) -> int:
    """Returns how a message goes to `other`, after `step`: by a trail that leads to nobody, if `truth` says so."""
    if not walkers.told[BY_TRAIL]:
        return w.AT_RANDOM
    if len(truth) > 0 and not truth[walkers.told[LEVEL] * nodes + other]:
        return w.ON_FALSE_TRAIL
    return w.ON_TRAIL


def poll_all(
    state: QuasarState,
    rules: QuasarRules,
    walkers: Walkers,
    members: Buffer,
    topic: int,
    order: Buffer,
    now: int,
    hops: Buffer,
    copies: Buffer,
) -> None:
    """Lets every live node of `order`, members in random order, ask another member for what it has missed (P2P-47, not in the paper).

    A freerider does not answer. Polls come after the event, and have no times.
    """
    shuffle(state.streams, len(state.alive), order, 0, len(order))
    for place in range(len(order)):
        node = order[place]
        if not state.alive[node]:
            continue
        w.forget_all(walkers)
        walkers.tallies[w.POLLS] += 1
        other = poll(state, rules, walkers, members, topic, node, now)
        if other != NOBODY and hops[other] != NOBODY and hops[node] == NOBODY and passes_on(state, other):
            walkers.tallies[w.ANSWERS] += 1
            hops[node] = hops[other] + 1
            copies[node] += 1
            count(state.messages, state.sizes, node, EVENT, sizes.EVENT)


def poll(state: QuasarState, rules: QuasarRules, walkers: Walkers, members: Buffer, topic: int, node: int, now: int) -> int:
    """Returns the member that a poll of `node` comes to, NOBODY if it comes to none. The poll goes as a message does, and avoids `node`."""
    here, link, trail = node, NOBODY, w.AT_RANDOM
    chain = w.avoid(walkers, node * rules.hashes, NOBODY)
    for _ in range(rules.ttl):
        onward = step(state, rules, walkers, topic, here, link, chain, trail, now)
        if onward == NOBODY:
            return NOBODY
        if walkers.told[IS_BROKEN]:
            chain = w.avoid(walkers, here * rules.hashes, chain)
        trail = w.ON_TRAIL if walkers.told[BY_TRAIL] else w.AT_RANDOM
        before, here, link = here, state.ends[onward], state.back[onward]
        if not hears(state, before, here):
            return NOBODY
        walkers.tallies[w.POLL_STEPS] += 1
        count(state.messages, state.sizes, here, CONTROL, _POLL_BYTES + sizes.ID * w.length(walkers, chain))
        if members[here] and here != node:
            return here
    return NOBODY


def find_truth(offsets: Buffer, ends: Buffer, members: Buffer, depth: int, truth: Buffer) -> None:
    """Fills in the truth about a topic: who is how many steps from a member, steps back included, as filters would say without chance."""
    nodes = len(members)
    for node in range(nodes):
        truth[node] = members[node]
    for level in range(1, depth + 1):
        for node in range(nodes):
            truth[level * nodes + node] = 0
            for link in range(offsets[node], offsets[node + 1]):
                if truth[(level - 1) * nodes + ends[link]]:
                    truth[level * nodes + node] = 1
