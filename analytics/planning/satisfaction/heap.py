"""A heap of numbered items whose keys may change in place. The greatest key is on top; of equals, the lower number.

Each node has four children: half as many levels as with two, and the four lie together in memory.
"""

from typing import Final, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from ..instance import Ints

GONE: Final = -1


class Heap(NamedTuple):
    """`keys` and `items` by slot, and `places`: the slot of each item, or GONE. The caller remembers how many slots are in use."""

    keys: NDArray[np.float64]
    items: NDArray[np.int32]
    places: NDArray[np.int32]


@njit(cache=True, nogil=True)
def heap(keys: NDArray[np.float64]) -> Heap:
    """Returns a heap of all items, by the key of each. The array `keys` becomes part of it."""
    made = Heap(keys, np.arange(len(keys)).astype(np.int32), np.arange(len(keys)).astype(np.int32))
    _arrange(made, len(keys))
    return made


@njit(cache=True, nogil=True)
def rise(heap: Heap, slot: int) -> None:
    """Puts the item of the slot in order after its key grew."""
    key, item = heap.keys[slot], heap.items[slot]
    while slot > 0:
        above = (slot - 1) // 4
        if not _before(key, item, heap.keys[above], heap.items[above]):
            break
        _put(heap, slot, heap.keys[above], heap.items[above])
        slot = above
    _put(heap, slot, key, item)


@njit(cache=True, nogil=True)
def sink(heap: Heap, size: int, slot: int) -> None:
    """Puts the item of the slot in order after its key fell."""
    key, item = heap.keys[slot], heap.items[slot]
    while 4 * slot + 1 < size:
        best = 4 * slot + 1
        for child in range(best + 1, min(best + 4, size)):
            if _before(heap.keys[child], heap.items[child], heap.keys[best], heap.items[best]):
                best = child
        if not _before(heap.keys[best], heap.items[best], key, item):
            break
        _put(heap, slot, heap.keys[best], heap.items[best])
        slot = best
    _put(heap, slot, key, item)


@njit(cache=True, nogil=True)
def remove_top(heap: Heap, size: int) -> int:
    """Takes the top out of a heap of `size` items; returns how many are left."""
    heap.places[heap.items[0]] = GONE
    if size > 1:
        _put(heap, 0, heap.keys[size - 1], heap.items[size - 1])
        sink(heap, size - 1, 0)
    return size - 1


@njit(cache=True, nogil=True)
def keep_fitting(heap: Heap, size: int, costs: Ints, most: int) -> int:
    """Takes out all items that cost more than `most`, in one go; returns how many are left."""
    left = 0
    for slot in range(size):
        item = heap.items[slot]
        if costs[item] > most:
            heap.places[item] = GONE
        else:
            _put(heap, left, heap.keys[slot], item)
            left += 1
    _arrange(heap, left)
    return left


@njit(cache=True, nogil=True)
def _arrange(heap: Heap, size: int) -> None:
    for slot in range((size - 2) // 4, -1, -1):
        sink(heap, size, slot)


@njit(cache=True, nogil=True, inline="always")
def _before(key: float, item: int, other_key: float, other_item: int) -> bool:
    return key > other_key or (key == other_key and item < other_item)


@njit(cache=True, nogil=True, inline="always")
def _put(heap: Heap, slot: int, key: float, item: int) -> None:
    heap.keys[slot] = key
    heap.items[slot] = item
    heap.places[item] = slot
