"""Rows as 64-bit numbers, so that many of them can be compared in little memory."""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Final

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .batches import RowBatch

Hashes = NDArray[np.uint64]

# The finalizer of SplitMix64: equal bits in give equal bits out, and each bit of the input changes about half of those of the output.
_STEPS: Final = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB))
_LAST: Final = np.uint64(31)
_GAMMA: Final = np.uint64(0x9E3779B97F4A7C15)


def hashes(batch: RowBatch, columns: Sequence[str]) -> Hashes:
    """Returns one number per row. Equal rows have equal numbers; others share one with probability 2^-64."""
    found = np.full(len(batch.rows), _GAMMA, dtype=np.uint64)
    for column in columns:
        # Mixed after each column, so that their order matters: (1, 2) is not (2, 1).
        found ^= _numbers(batch, column)
        _mix(found)
    return found


def _numbers(batch: RowBatch, column: str) -> Hashes:
    values = batch.rows.column(column)
    if not pa.types.is_dictionary(values.type):
        return batch.numbers(column).view(np.uint64)
    # Each word is hashed, not its index: each file has a dictionary of its own. Null is the last one.
    words = [int.from_bytes(blake2b(repr(word).encode(), digest_size=8).digest()) for word in [*values.dictionary.to_pylist(), None]]
    places = values.indices.cast(pa.int64()).fill_null(len(words) - 1).to_numpy(zero_copy_only=False)
    found: Hashes = np.array(words, dtype=np.uint64)[places]
    return found


def _mix(found: Hashes) -> None:
    found += _GAMMA
    for shift, factor in _STEPS:
        found ^= found >> np.uint64(shift)
        found *= np.uint64(factor)
    found ^= found >> _LAST
