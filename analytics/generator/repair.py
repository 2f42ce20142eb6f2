"""The exchange of topics between the slots of a chunk, until no subscriber has a topic twice."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

_EXCHANGES: Final = 60
_REDRAWS: Final = 60


class Repair:
    """The keys of a chunk, freed in place of repetitions and of forbidden keys.

    - `topics`: how many there are. A key is `owner * topics + topic`.
    - `keys`: rising. `forbidden`: keys that must not occur, rising too.
    - `random`: the stream of the chunk.
    """

    def __init__(self, topics: int, keys: NDArray[np.int64], forbidden: NDArray[np.int64], random: np.random.Generator) -> None:
        self._topics, self._keys, self._forbidden, self._random = topics, keys, forbidden, random

    def run(self, stubs: NDArray[np.int32]) -> tuple[int, NDArray[np.int64]]:
        """Exchanges topics first, then gives any topic drawn from `stubs`.

        Returns how many keys were bad at first, and which slots still are.
        """
        bad = self._bad(np.arange(len(self._keys)))
        found = len(bad)
        for turn in range(_EXCHANGES + _REDRAWS):
            if not len(bad):
                break
            changed = self._exchange(bad) if turn < _EXCHANGES else self._redraw(bad, stubs)
            # Only owners of changed slots can have become bad or good, so nobody else is looked at again.
            bad = self._bad(self._sorted(np.concatenate([changed, bad])))
        return found, bad

    def _exchange(self, bad: NDArray[np.int64]) -> NDArray[np.int64]:
        """Swaps topics of bad slots with those of others wherever that repeats nothing. Returns the slots that changed."""
        others = np.setdiff1d(self._random.integers(len(self._keys), size=2 * len(bad) + 16), bad)
        others = self._random.permutation(others)[: len(bad)]
        bad = bad[: len(others)]
        slots = np.stack([bad, others])
        owners, topics = np.divmod(self._keys[slots], self._topics)
        swapped = owners * self._topics + topics[::-1]
        new = ~(_contained(swapped, self._keys) | _contained(swapped, self._forbidden)).any(axis=0)
        # Two swaps of one turn may make the same key; the first of them stands.
        new &= _first_of_equals(swapped)
        self._keys[slots[:, new]] = swapped[:, new]
        return slots[:, new].ravel()

    def _redraw(self, bad: NDArray[np.int64], stubs: NDArray[np.int32]) -> NDArray[np.int64]:
        drawn = stubs[self._random.integers(len(stubs), size=len(bad))]
        self._keys[bad] = self._keys[bad] // self._topics * self._topics + drawn
        return bad

    def _sorted(self, changed: NDArray[np.int64]) -> NDArray[np.int64]:
        """Sorts the keys of the owners of the `changed` slots, and returns all slots of these owners."""
        owners = np.unique(self._keys[changed] // self._topics)
        # Slots never change owner: owners are in order, whatever the order of the keys of each.
        starts, ends = (np.searchsorted(self._keys, border * self._topics) for border in (owners, owners + 1))
        lengths = ends - starts
        steps = np.arange(int(lengths.sum())) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        slots: NDArray[np.int64] = np.repeat(starts, lengths) + steps
        self._keys[slots] = np.sort(self._keys[slots])
        return slots

    def _bad(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Returns which of `slots` (all slots of some subscribers) repeat the one before them or are forbidden."""
        keys = self._keys[slots]
        bad = _contained(keys, self._forbidden)
        bad[1:] |= keys[1:] == keys[:-1]
        return slots[bad]


def _contained(keys: NDArray[np.int64], sorted_keys: NDArray[np.int64]) -> NDArray[np.bool_]:
    if not len(sorted_keys):
        return np.zeros(keys.shape, dtype=np.bool_)
    at = np.minimum(np.searchsorted(sorted_keys, keys), len(sorted_keys) - 1)
    result: NDArray[np.bool_] = sorted_keys[at] == keys
    return result


def _first_of_equals(columns: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Returns which columns hold no value that a column before them holds."""
    first = np.zeros(columns.size, dtype=np.bool_)
    first[np.unique(columns.T.ravel(), return_index=True)[1]] = True
    result: NDArray[np.bool_] = np.logical_and.reduce(first.reshape(-1, len(columns)), axis=1)
    return result
