"""A table from pairs of numbers to numbers: open addressing in two flat buffers, compiled or interpreted."""

from typing import Final, NamedTuple

from ..protocol.buffer import Buffer
from .compiled import Execution

ABSENT: Final = -1


class PairTable(NamedTuple):
    """Keys and values; ABSENT is the key of a free place. At most half of the places are taken."""

    keys: Buffer
    values: Buffer


def new_pair_table(pairs: int, execution: Execution) -> PairTable:
    """Returns an empty table for so many pairs."""
    return PairTable(execution.filled(2 * max(1, pairs), ABSENT), execution.filled(2 * max(1, pairs), 0))


def find_pair(table: PairTable, key: int) -> int:
    """Returns the value of a key, ABSENT if it has none."""
    at = _place(table.keys, key)
    return table.values[at] if table.keys[at] == key else ABSENT


def put_pair(table: PairTable, key: int, value: int) -> None:
    """Gives a key its value. There has to be room."""
    at = _place(table.keys, key)
    table.keys[at] = key
    table.values[at] = value


def _place(keys: Buffer, key: int) -> int:
    """Returns where a key stands, or where there is a free place for it."""
    # Fibonacci hashing of 31 bits: neighbours are spread over the table, and no product needs more than 63 bits.
    at = (((key & 0x7FFFFFFF) ^ (key >> 31)) * 1640531527 & 0x7FFFFFFFFFFF) % len(keys)
    while keys[at] not in (ABSENT, key):
        at = (at + 1) % len(keys)
    return at
