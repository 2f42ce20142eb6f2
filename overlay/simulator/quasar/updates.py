"""Updates: once in a cycle each node tells its neighbours what can be reached over it (quasar algorithm 1). Compiled or interpreted.

A node that lies says of itself, at each level, that it is so many steps away from itself. Or it goes on telling what it has heard of
neighbours that are silent: of those alone where it has any (the dead), or of all alike (false ages).
"""

from typing import Final

from ...protocol.bloom import clear, insert
from ...protocol.buffer import Buffer
from ...protocol.chance import shuffle
from ...protocol.quasar import NOBODY, hear
from .. import sizes
from ..counters import CONTROL, count
from ..harm import Misdeed
from .state import NEVER, QuasarRules, QuasarState, hears

_OFFERS_ITSELF: Final = int(Misdeed.OFFERS_ITSELF)
_OFFERS_THE_DEAD: Final = int(Misdeed.OFFERS_THE_DEAD)
_LIES_ABOUT_AGES: Final = int(Misdeed.LIES_ABOUT_AGES)


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
        if hears(state, node, other):
            state.heard[state.back[link]] = now
            count(state.messages, state.sizes, other, CONTROL, size)


def make_filters(state: QuasarState, rules: QuasarRules, node: int, towards: int, now: int) -> None:
    """Fills in the filter set that `node` sends: over the link `towards`, without what was told over it, or (NOBODY) over all links."""
    words, link = rules.words, towards if towards != NOBODY else state.offsets[node]
    first = state.wells[state.back[link]] if state.offsets[node] < state.offsets[node + 1] else 0
    clear(state.filters, first, words * (rules.depth + 1))
    insert_own(state, rules, node, first)
    flags = state.flags[node]
    has_silent = flags & _OFFERS_THE_DEAD != 0 and count_silent(state, rules, node, now) > 0
    if flags & _OFFERS_ITSELF != 0 and not has_silent:
        for level in range(1, rules.depth + 1):
            insert_own(state, rules, node, first + level * words)
        return
    for each in range(state.offsets[node], state.offsets[node + 1]):
        if each != towards and is_told(state, rules, each, now, has_silent, flags & _LIES_ABOUT_AGES != 0):
            hear(state.filters, first, state.filters, state.wells[each], words, rules.depth)


def insert_own(state: QuasarState, rules: QuasarRules, node: int, first: int) -> None:
    """Inserts the id and the topics of `node` into the filter at `first`."""
    insert(state.filters, first, state.places, node * rules.hashes, rules.hashes)
    nodes, begin = len(state.offsets) - 1, state.topic_firsts[node]
    for place in range(begin, begin + state.topic_counts[node]):
        insert(state.filters, first, state.places, (nodes + state.topics[place]) * rules.hashes, rules.hashes)


def is_told(state: QuasarState, rules: QuasarRules, link: int, now: int, silent_alone: bool, all_alike: bool) -> bool:
    """Returns whether a node tells what the far end of `link` has told: that which is fresh, unless it lies."""
    if silent_alone:
        return is_silent(state, rules, link, now)
    return is_fresh(state, rules, link, now) or (all_alike and is_silent(state, rules, link, now))


def count_silent(state: QuasarState, rules: QuasarRules, node: int, now: int) -> int:
    """Returns how many neighbours `node` has heard once, and not lately."""
    found = 0
    for link in range(state.offsets[node], state.offsets[node + 1]):
        if is_silent(state, rules, link, now):
            found += 1
    return found


def is_silent(state: QuasarState, rules: QuasarRules, link: int, now: int) -> bool:
    """Returns whether the far end of `link` was heard once, and not lately."""
    return state.heard[link] != NEVER and not is_fresh(state, rules, link, now)


def is_fresh(state: QuasarState, rules: QuasarRules, link: int, now: int) -> bool:
    """Returns whether what the far end of `link` has told is believed in the cycle `now` (Q7: not if it is older than `fresh` cycles)."""
    return now - state.heard[link] <= rules.fresh
