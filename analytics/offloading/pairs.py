"""Pairs of a user and a topic: who follows what at one access point, in eight bytes a pair.

A pair is one number: the user's in the upper half, the topic's in the lower. So the pairs of a user stand together in a rising
array. Changes wait beside the array and are merged in many at a time, as each merge copies all of it.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.int64]
TOPIC_BITS: Final = 32
_TOPIC: Final = (1 << TOPIC_BITS) - 1
MAX_CHANGES: Final = 1 << 16


def pair(user: int, topic: int) -> int:
    """Returns the pair of two numbers."""
    return user << TOPIC_BITS | topic


def users_of(keys: Keys) -> Keys:
    """Returns the user of each pair."""
    return keys >> TOPIC_BITS


def topics_of(keys: Keys) -> Keys:
    """Returns the topic of each pair."""
    return keys & _TOPIC


class PairSet:
    """The pairs of one access point. `keys` are those at the last `settle`, rising."""

    def __init__(self) -> None:
        self.keys: Keys = np.empty(0, np.int64)
        self._changes: dict[int, bool] = {}

    def __len__(self) -> int:
        """Returns how many pairs there were at the last `settle`."""
        return len(self.keys)

    def note(self, key: int, follows: bool) -> bool:
        """Notes that a pair has begun or ended; returns whether there are so many changes that it is time to `settle`."""
        self._changes[key] = follows
        return len(self._changes) >= MAX_CHANGES

    def settle(self, room: int) -> int:
        """Merges the changes in, with at most `room` new pairs; returns for how many there was no room."""
        # Ended pairs go first: they make the array shorter before the places of new ones are looked for.
        begun, ended = self._changed(True), self._changed(False)
        self._changes.clear()
        places, held = self._find(ended)
        self.keys = np.delete(self.keys, places[held])
        places, held = self._find(begun)
        new = begun[~held]
        self.keys = np.insert(self.keys, places[~held][:room], new[:room])
        return max(0, len(new) - room)

    def renumber(self, users: Keys, topics: Keys) -> None:
        """Gives numbers anew: `users` and `topics` are those that stay, rising, and each becomes its place there.

        No change may be waiting. The order of pairs stays, as the new numbers rise with the old ones.
        """
        user, topic = np.searchsorted(users, users_of(self.keys)), np.searchsorted(topics, topics_of(self.keys))
        self.keys = user << TOPIC_BITS | topic

    def _changed(self, follows: bool) -> Keys:
        return np.array(sorted(key for key, now in self._changes.items() if now is follows), np.int64)

    def _find(self, keys: Keys) -> tuple[Keys, NDArray[np.bool_]]:
        """Returns where `keys` are or would be, and which of them are there; both have the shape of `keys`."""
        places = np.searchsorted(self.keys, keys)
        inside = places < len(self.keys)
        held = np.zeros(len(keys), np.bool_)
        held[inside] = self.keys[places[inside]] == keys[inside]
        return places, held
