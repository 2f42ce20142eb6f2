"""Updates: once in a cycle each node tells its neighbours what can be reached over it (quasar algorithm 1). Compiled or interpreted."""

from ...protocol.bloom import clear, insert
from ...protocol.buffer import Buffer
from ...protocol.chance import shuffle
from ...protocol.quasar import NOBODY, hear
from .. import sizes
from ..counters import CONTROL, count
from .state import QuasarRules, QuasarState


def update_all(state: QuasarState, rules: QuasarRules, order: Buffer, now: int) -> None:
    """Lets every live node send its update in the cycle `now`, in random order. `order` has all nodes."""
    shuffle(state.streams, len(order), order, 0, len(order))
    for place in range(len(order)):
        if state.alive[order[place]]:
            update(state, rules, order[place], now)


def update(state: QuasarState, rules: QuasarRules, node: int, now: int) -> None:
    """Lets `node` make its filters anew, and send them to all neighbours that are there."""
    if not rules.splits:
        make_filters(state, rules, node, NOBODY, now)
    size = sizes.HEADER + sizes.ID + (rules.depth + 1) * ((rules.bits + 7) // 8)
    for link in range(state.offsets[node], state.offsets[node + 1]):
        if rules.splits:
            make_filters(state, rules, node, link, now)
        other = state.ends[link]
        if state.alive[other]:
            state.heard[state.back[link]] = now
            count(state.messages, state.sizes, other, CONTROL, size)


def make_filters(state: QuasarState, rules: QuasarRules, node: int, towards: int, now: int) -> None:
    """Fills in the filter set that `node` sends: over the link `towards`, without what was told over it, or (NOBODY) over all links."""
    words, link = rules.words, towards if towards != NOBODY else state.offsets[node]
    first = state.wells[state.back[link]] if state.offsets[node] < state.offsets[node + 1] else 0
    clear(state.filters, first, words * (rules.depth + 1))
    insert(state.filters, first, state.places, node * rules.hashes, rules.hashes)
    nodes = len(state.offsets) - 1
    for place in range(state.topic_offsets[node], state.topic_offsets[node + 1]):
        insert(state.filters, first, state.places, (nodes + state.topics[place]) * rules.hashes, rules.hashes)
    for each in range(state.offsets[node], state.offsets[node + 1]):
        if each != towards and is_fresh(state, rules, each, now):
            hear(state.filters, first, state.filters, state.wells[each], words, rules.depth)


def is_fresh(state: QuasarState, rules: QuasarRules, link: int, now: int) -> bool:
    """Returns whether what the far end of `link` has told is believed in the cycle `now` (Q7: not if it is older than `fresh` cycles)."""
    return now - state.heard[link] <= rules.fresh
