"""Who follows what at one access point, in eight bytes a pair.

A pair is a number: the user's in the upper half, the topic's in the lower. The pairs are one rising array; changes wait beside it
and are merged in many at a time.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.int64]
TOPIC_BITS: Final = 32
_TOPIC: Final = (1 << TOPIC_BITS) - 1
MAX_CHANGES: Final = 1 << 16


def pair(user: int, topic: int) -> int:
    """The pair of two numbers."""
    return user << TOPIC_BITS | topic


def users_of(keys: Keys) -> Keys:
    """The user of each pair."""
    return keys >> TOPIC_BITS


def topics_of(keys: Keys) -> Keys:
    """The topic of each pair."""
    return keys & _TOPIC


class PairSet:
    """The pairs of one access point."""

    def __init__(self) -> None:
        self.keys: Keys = np.empty(0, np.int64)
        self._changes: dict[int, bool] = {}

    def __len__(self) -> int:
        """How many pairs there were at the last `settle`."""
        return len(self.keys)

    def note(self, key: int, follows: bool) -> bool:
        """A pair has begun or ended. True: there are so many changes that it is time to `settle`."""
        self._changes[key] = follows
        return len(self._changes) >= MAX_CHANGES

    def settle(self, room: int) -> int:
        """Merge the changes in, `room` further pairs at most. How many there was no room for."""
        begun, ended = self._changed(True), self._changed(False)
        self._changes.clear()
        places, held = self._find(ended)
        self.keys = np.delete(self.keys, places[held])
        places, held = self._find(begun)
        new = begun[~held]
        self.keys = np.insert(self.keys, places[~held][:room], new[:room])
        return max(0, len(new) - room)

    def renumber(self, users: Keys, topics: Keys) -> None:
        """`users` and `topics` are the numbers that stay, rising; each is its place there from now on. No change may be waiting."""
        user, topic = np.searchsorted(users, users_of(self.keys)), np.searchsorted(topics, topics_of(self.keys))
        self.keys = user << TOPIC_BITS | topic

    def _changed(self, follows: bool) -> Keys:
        return np.array(sorted(key for key, now in self._changes.items() if now is follows), np.int64)

    def _find(self, keys: Keys) -> tuple[Keys, NDArray[np.bool_]]:
        """Where `keys` are or would be, and which of them are there."""
        places = np.searchsorted(self.keys, keys)
        inside = places < len(self.keys)
        held = np.zeros(len(keys), np.bool_)
        held[inside] = self.keys[places[inside]] == keys[inside]
        return places, held
