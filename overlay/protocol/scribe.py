"""Scribe: the trees over which topics are carried (PolderCast 3; Castro and others 2002). Pure.

A node has a seat in the tree of each topic that it subscribes to, and of each that it relays. `parents[seat]` is the node above it, its own
number at the rendezvous, NOBODY where it has none. Its children are a chain of records: `first_child[seat]` is the first one, and each has
a node and the next one. `free[0]` is the chain of records that are free.
"""

from typing import Final

from .buffer import Buffer
from .pastry import NOBODY

# What a node does with its seat in a cycle.
STAYS: Final = 0
JOINS: Final = 1
LEAVES: Final = 2


def begin_records(nexts: Buffer, free: Buffer) -> None:
    """Makes all records free."""
    for record in range(len(nexts)):
        nexts[record] = record + 1 if record + 1 < len(nexts) else NOBODY
    free[0] = 0 if len(nexts) > 0 else NOBODY


def has_child(first_child: Buffer, seat: int, children: Buffer, nexts: Buffer, node: int) -> bool:
    """Returns whether `node` is a child there."""
    record = first_child[seat]
    while record != NOBODY and children[record] != node:
        record = nexts[record]
    return record != NOBODY


def add_child(first_child: Buffer, seat: int, children: Buffer, nexts: Buffer, free: Buffer, node: int) -> bool:
    """Makes `node` a child. Returns whether there was room; a child that is there stays one."""
    if has_child(first_child, seat, children, nexts, node):
        return True
    record = free[0]
    if record == NOBODY:
        return False
    free[0] = nexts[record]
    children[record], nexts[record] = node, first_child[seat]
    first_child[seat] = record
    return True


def remove_child(first_child: Buffer, seat: int, children: Buffer, nexts: Buffer, free: Buffer, node: int) -> bool:
    """Ends that `node` is a child. Returns whether it was one."""
    before, record = NOBODY, first_child[seat]
    while record != NOBODY and children[record] != node:
        before, record = record, nexts[record]
    if record == NOBODY:
        return False
    if before == NOBODY:
        first_child[seat] = nexts[record]
    else:
        nexts[before] = nexts[record]
    nexts[record], free[0] = free[0], record
    return True


def joins_on(was_in_tree: bool) -> bool:
    """Returns whether a JOIN goes on towards the rendezvous from a node that it has come to: not where the node was in the tree."""
    return not was_in_tree


def next_deed(subscribes: bool, has_children: bool, is_root: bool, silent_cycles: int, patience: int) -> int:
    """Returns what a node does with its seat.

    It LEAVES where it neither subscribes nor has children, JOINS anew where its parent was silent for more than `patience` cycles, and
    STAYS otherwise. The rendezvous hears nobody.
    """
    if not subscribes and not has_children:
        return LEAVES
    if not is_root and silent_cycles > patience:
        return JOINS
    return STAYS
