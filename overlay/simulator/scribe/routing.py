"""Pastry among all nodes: tables that are filled in, routes, what is done about the dead, and newcomers. Compiled or interpreted."""

from ...protocol.buffer import Buffer
from ...protocol.chance import below
from ...protocol.ids import BITS
from ...protocol.pastry import BASE, DIGIT_BITS, MOST_STEPS, NOBODY, digit, drop_entry, drop_leaf, next_hop, offer_entry, offer_leaf
from .. import sizes
from ..counters import CONTROL, count
from .state import TO_DEAD, ScribeRules, ScribeState, answers, offers_itself, offers_the_dead


def fill_all(state: ScribeState, rules: ScribeRules, order: Buffer) -> None:
    """Fills in all leaf sets and tables as they are when the nodes of `order` have joined. They stand there by their ids."""
    nodes, width = len(order), 2 * rules.half
    for place in range(nodes):
        own = order[place]
        for distance in range(1, min(rules.half, nodes - 1) + 1):
            state.leaves[own * width + distance - 1] = order[(place - distance) % nodes]
            state.leaves[own * width + rules.half + distance - 1] = order[(place + distance) % nodes]
        fill_table(state, rules, order, own)


def fill_table(state: ScribeState, rules: ScribeRules, order: Buffer, own: int) -> None:
    """Puts a random node of all that may stand there into each place of the table of `own`."""
    for row in range(rules.rows):
        low_bits = BITS - DIGIT_BITS * (row + 1)
        prefix = state.ids[own] >> (low_bits + DIGIT_BITS)
        for each in range(BASE):
            if each == digit(state.ids[own], row):
                continue
            lowest = ((prefix << DIGIT_BITS) | each) << low_bits
            first, last = place_of(state, order, lowest), place_of(state, order, lowest + (1 << low_bits))
            if first < last:
                state.table[(own * rules.rows + row) * BASE + each] = order[first + below(state.streams, own, last - first)]


def place_of(state: ScribeState, order: Buffer, identity: int) -> int:
    """Returns the first place in `order` whose node has `identity` or a higher id."""
    low, high = 0, len(order)
    while low < high:
        middle = (low + high) // 2
        if state.ids[order[middle]] < identity:
            low = middle + 1
        else:
            high = middle
    return low


def hop(state: ScribeState, rules: ScribeRules, own: int, key: int) -> int:
    """Returns the live node to which `own` passes on a message for `key`, `own` if that is itself.

    A node that does not answer is forgotten, and the next one is tried: Pastry acknowledges each hop.
    """
    while True:
        width = 2 * rules.half
        other = next_hop(state.leaves, own * width, rules.half, state.table, own * rules.rows * BASE, rules.rows, state.ids, own, key)
        if answers(state, own, other):
            return other
        state.tallies[TO_DEAD] += 1
        forget(state, rules, own, other)


def forget(state: ScribeState, rules: ScribeRules, own: int, other: int) -> None:
    """Lets `own` forget a node that does not answer. For a leaf it asks the farthest leaves for theirs, and gets one in its place."""
    width = 2 * rules.half
    drop_entry(state.table, own * rules.rows * BASE, rules.rows, state.ids, own, other)
    if drop_leaf(state.leaves, own * width, rules.half, other):
        for side in range(2):
            helper = farthest_leaf(state, rules, own, side)
            if helper != NOBODY:
                count_pastry(state, helper, 0)
                take_leaves(state, rules, own, helper)


def farthest_leaf(state: ScribeState, rules: ScribeRules, own: int, side: int) -> int:
    """Returns the farthest live leaf of `own` on one side, NOBODY if there is none."""
    first = own * 2 * rules.half + side * rules.half
    found = NOBODY
    for place in range(first, first + rules.half):
        other = state.leaves[place]
        if other != NOBODY and answers(state, own, other):
            found = other
    return found


def take_leaves(state: ScribeState, rules: ScribeRules, own: int, other: int) -> None:
    """Lets `own` hear of the leaves of `other`."""
    width = 2 * rules.half
    count_pastry(state, own, width)
    offer(state, rules, own, other)
    hear_of(state, rules, own, other, state.leaves, other * width, width)


def hear_of(state: ScribeState, rules: ScribeRules, own: int, other: int, known: Buffer, first: int, count: int) -> None:
    """Lets `own` know those whom `other` names: of `known[first : first + count]` those who answer, or what its lies make of them."""
    if offers_the_dead(state, other) and name_all(state, rules, own, other, known, first, count, False) > 0:
        return
    if not offers_itself(state, other):
        name_all(state, rules, own, other, known, first, count, True)


def name_all(state: ScribeState, rules: ScribeRules, own: int, other: int, known: Buffer, first: int, count: int, answering: bool) -> int:
    """Tells `own` of those of `known[first : first + count]` who do answer `other`, or who do not. Returns how many those are.

    `own` takes only whom it finds alive: Pastry contacts a node before it relies on it.
    """
    named = 0
    for place in range(first, first + count):
        node = known[place]
        if node != NOBODY and node != own and answers(state, other, node) == answering:
            named += 1
            if answers(state, own, node):
                offer(state, rules, own, node)
            else:
                state.tallies[TO_DEAD] += 1
    return named


def offer(state: ScribeState, rules: ScribeRules, own: int, other: int) -> None:
    """Lets `own` know `other`."""
    offer_leaf(state.leaves, own * 2 * rules.half, rules.half, state.ids, own, other)
    offer_entry(state.table, own * rules.rows * BASE, rules.rows, state.ids, own, other)


def keep_leaves(state: ScribeState, rules: ScribeRules, own: int) -> None:
    """Lets `own` see that its leaves are there: each says so to the other once in a cycle. It asks its neighbours for their leaves, and
    somebody for a row."""
    width = 2 * rules.half
    place = 0
    while place < width:
        other = state.leaves[own * width + place]
        if other == NOBODY or answers(state, own, other):
            if other != NOBODY:
                count_pastry(state, other, 0)
            place += 1
        else:
            state.tallies[TO_DEAD] += 1
            forget(state, rules, own, other)
    for side in range(2):
        ask_neighbour(state, rules, own, state.leaves[own * width + side * rules.half])
    ask_row(state, rules, own)


def ask_neighbour(state: ScribeState, rules: ScribeRules, own: int, other: int) -> None:
    """Asks the next node on one side for its leaves, and tells it of `own`. Otherwise two nodes that came at the same time, and do not know
    each other, would both be the nearest to a key for long."""
    if other != NOBODY and answers(state, own, other):
        count_pastry(state, other, 1)
        offer(state, rules, other, own)
        take_leaves(state, rules, own, other)


def ask_row(state: ScribeState, rules: ScribeRules, own: int) -> None:
    """Asks a random node of a random row for its row: both share so many digits that its nodes fit into this table."""
    row = below(state.streams, own, rules.rows)
    other = state.table[(own * rules.rows + row) * BASE + below(state.streams, own, BASE)]
    if other == NOBODY:
        return
    if not answers(state, own, other):
        forget(state, rules, own, other)
        return
    count_pastry(state, other, 0)
    take_row(state, rules, own, other, row)


def take_row(state: ScribeState, rules: ScribeRules, own: int, other: int, row: int) -> None:
    """Lets `own` hear of one row of the table of `other`."""
    count_pastry(state, own, BASE)
    hear_of(state, rules, own, other, state.table, (other * rules.rows + row) * BASE, BASE)


def come_by_somebody(state: ScribeState, rules: ScribeRules, own: int, live: Buffer, count: int) -> None:
    """Lets `own` join anew over a random one of the first `count` nodes of `live`, the next one where that does not answer.

    It stays alone where none does.
    """
    start = below(state.streams, len(state.ids), count) if count > 0 else 0
    for step in range(count):
        helper = live[(start + step) % count]
        if helper != own and answers(state, own, helper):
            come_in(state, rules, own, helper)
            return


def come_in(state: ScribeState, rules: ScribeRules, own: int, helper: int) -> None:
    """Lets `own` join anew: its JOIN goes from `helper` to the node nearest to it. Each node on the way gives a row of its table, the last
    one its leaves. Then `own` tells all that it knows that it is there."""
    width = 2 * rules.half
    for place in range(own * width, own * width + width):
        state.leaves[place] = NOBODY
    for place in range(own * rules.rows * BASE, (own + 1) * rules.rows * BASE):
        state.table[place] = NOBODY
    here, onward, row = NOBODY, helper, 0
    while onward != here and onward != own and row < MOST_STEPS:
        here = onward
        count_pastry(state, here, 0)
        offer(state, rules, own, here)
        take_row(state, rules, own, here, min(row, rules.rows - 1))
        onward, row = hop(state, rules, here, state.ids[own]), row + 1
    take_leaves(state, rules, own, here)
    announce(state, rules, own)


def announce(state: ScribeState, rules: ScribeRules, own: int) -> None:
    """Tells the leaves and the table of `own` that it is there."""
    width = 2 * rules.half
    for place in range(own * width, own * width + width):
        introduce(state, rules, own, state.leaves[place])
    for place in range(own * rules.rows * BASE, (own + 1) * rules.rows * BASE):
        introduce(state, rules, own, state.table[place])


def introduce(state: ScribeState, rules: ScribeRules, own: int, other: int) -> None:
    """Lets `other`, if it is somebody, know `own`."""
    if other != NOBODY and answers(state, own, other):
        count_pastry(state, other, 1)
        offer(state, rules, other, own)


def count_pastry(state: ScribeState, node: int, entries: int) -> None:
    """Counts a message of Pastry's own, with so many addresses in it."""
    state.pastry[node] += 1
    count(state.messages, state.sizes, node, CONTROL, sizes.HEADER + entries * (sizes.ADDRESS + sizes.ID))
