"""Pastry: who a node knows, and who is next on the way to a key (PolderCast 3; Rowstron and Druschel 2001). Pure.

Ids are read as digits of four bits, the highest first. The leaf set of a node holds the nodes whose ids are nearest: `half` below it and
`half` above it, the nearest first. Row r of its table holds nodes that share its first r digits, one for each digit that may follow.

Nodes are numbers, and `ids` has their ids: in the simulator of all, in a peer of those that it knows. Leaf sets and tables are parts of
`leaves` and `table`, which begin at `first`; NOBODY stands where there is no node.
"""

from typing import Final

from .buffer import Buffer
from .ids import BITS, ahead, apart

NOBODY: Final = -1
DIGIT_BITS: Final = 4
BASE: Final = 1 << DIGIT_BITS
# The two lowest bits of an id are not part of a digit.
DIGITS: Final = BITS // DIGIT_BITS
# A message that has come over so many nodes goes in a circle. Nodes that have just lost others may do that: for one of them a key lies
# among its leaves, and for the next one, whose leaves are fewer, it does not.
MOST_STEPS: Final = 2 * DIGITS


def digit(identity: int, row: int) -> int:
    """Returns the digit of `identity` that stands behind `row` others."""
    return (identity >> (BITS - DIGIT_BITS * (row + 1))) & (BASE - 1)


def shared(one: int, other: int) -> int:
    """Returns how many digits two ids have in common from the beginning."""
    row = 0
    while row < DIGITS and digit(one, row) == digit(other, row):
        row += 1
    return row


def is_nearer(ids: Buffer, one: int, other: int, key: int) -> bool:
    """Returns whether node `one` is nearer to `key` than node `other`; of two as near, that is the one with the lower id."""
    here, there = apart(ids[one], key), apart(ids[other], key)
    return here < there or (here == there and ids[one] < ids[other])


def offer_leaf(leaves: Buffer, first: int, half: int, ids: Buffer, own: int, other: int) -> bool:
    """Puts `other` into the leaf set of `own` where it is near enough. Returns whether it was."""
    if other == own:
        return False
    below = offer_side(leaves, first, half, ids, own, other, False)
    above = offer_side(leaves, first + half, half, ids, own, other, True)
    return below or above


def offer_side(leaves: Buffer, first: int, half: int, ids: Buffer, own: int, other: int, is_above: bool) -> bool:
    """Puts `other` into one side of a leaf set, in order, unless it is there or too far."""
    way = leaf_way(ids, own, other, is_above)
    place = 0
    while place < half and leaves[first + place] != NOBODY and leaf_way(ids, own, leaves[first + place], is_above) < way:
        place += 1
    if place == half or leaves[first + place] == other:
        return False
    for later in range(half - 1, place, -1):
        leaves[first + later] = leaves[first + later - 1]
    leaves[first + place] = other
    return True


def leaf_way(ids: Buffer, own: int, other: int, is_above: bool) -> int:
    """Returns how far it is from `own` to `other`, upwards or downwards."""
    return ahead(ids[own], ids[other]) if is_above else ahead(ids[other], ids[own])


def drop_leaf(leaves: Buffer, first: int, half: int, other: int) -> bool:
    """Takes `other` out of a leaf set. Returns whether it was in it."""
    found = False
    for side in range(2):
        kept = start = first + side * half
        for place in range(start, start + half):
            if leaves[place] == other:
                found = True
            else:
                leaves[kept] = leaves[place]
                kept += 1
        for place in range(kept, start + half):
            leaves[place] = NOBODY
    return found


def offer_entry(table: Buffer, first: int, rows: int, ids: Buffer, own: int, other: int) -> bool:
    """Puts `other` into the table of `own` if its place is free. Returns whether it was."""
    row = shared(ids[own], ids[other])
    if row >= rows or other == own:
        return False
    place = first + row * BASE + digit(ids[other], row)
    if table[place] != NOBODY:
        return False
    table[place] = other
    return True


def drop_entry(table: Buffer, first: int, rows: int, ids: Buffer, own: int, other: int) -> None:
    """Takes `other` out of the table of `own`."""
    row = shared(ids[own], ids[other])
    if row < rows and table[first + row * BASE + digit(ids[other], row)] == other:
        table[first + row * BASE + digit(ids[other], row)] = NOBODY


def next_hop(
    leaves: Buffer, leaves_first: int, half: int, table: Buffer, table_first: int, rows: int, ids: Buffer, own: int, key: int
) -> int:
    """Returns the node to which `own` passes on a message for `key`; `own` if it is the nearest that it knows.

    Within its leaf set that is the nearest node. Otherwise it is one that shares a digit more; or else one that shares as many, and is
    nearer.
    """
    if is_among_leaves(leaves, leaves_first, half, ids, own, key):
        nearest = own
        for place in range(leaves_first, leaves_first + 2 * half):
            other = leaves[place]
            if other != NOBODY and is_nearer(ids, other, nearest, key):
                nearest = other
        return nearest
    row = shared(ids[own], key)
    if row < rows:
        other = table[table_first + row * BASE + digit(key, row)]
        if other != NOBODY:
            return other
    return rare_hop(leaves, leaves_first, half, table, table_first, rows, ids, own, key)


def is_among_leaves(leaves: Buffer, first: int, half: int, ids: Buffer, own: int, key: int) -> bool:
    """Returns whether `key` lies between the farthest leaves. If a side is not full, everybody is a leaf."""
    lowest, highest = leaves[first + half - 1], leaves[first + 2 * half - 1]
    if lowest == NOBODY or highest == NOBODY:
        return True
    return ahead(ids[lowest], key) <= ahead(ids[lowest], ids[own]) or ahead(ids[own], key) <= ahead(ids[own], ids[highest])


def rare_hop(
    leaves: Buffer, leaves_first: int, half: int, table: Buffer, table_first: int, rows: int, ids: Buffer, own: int, key: int
) -> int:
    """Returns the nearest of all known nodes that share as many digits with `key` as `own` does; `own` if none is nearer."""
    row, nearest = shared(ids[own], key), own
    for place in range(leaves_first, leaves_first + 2 * half):
        nearest = nearer_of(ids, nearest, leaves[place], row, key)
    for place in range(table_first, table_first + rows * BASE):
        nearest = nearer_of(ids, nearest, table[place], row, key)
    return nearest


def nearer_of(ids: Buffer, nearest: int, other: int, row: int, key: int) -> int:
    """Returns `other` if it shares `row` digits with `key` and is nearer to it than `nearest`; else `nearest`."""
    if other == NOBODY or shared(ids[other], key) < row or not is_nearer(ids, other, nearest, key):
        return nearest
    return other
