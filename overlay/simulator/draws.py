"""Random numbers of the world: of what no node decides, such as graphs, places, churn and harm. Each purpose has a stream of its own."""

from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overlay.protocol import chance
from overlay.protocol.buffer import Buffer

from .compiled import compiled

Array = NDArray[np.int64]


class Stream(IntEnum):
    """The purposes. Streams with lower numbers belong to nodes."""

    FRIENDS = 1 << 40
    FOLLOWERS = FRIENDS + 1
    SAMPLE = FRIENDS + 2
    HOSTS = FRIENDS + 3
    LINKS = FRIENDS + 4
    JITTER = FRIENDS + 5
    CHURN = FRIENDS + 6
    CROWD = FRIENDS + 7
    DROP = FRIENDS + 8
    DEATH = FRIENDS + 9
    PARTITION = FRIENDS + 10
    INTERESTS = FRIENDS + 11
    ROLES = FRIENDS + 12
    PROBES = FRIENDS + 13
    SOURCES = FRIENDS + 15


class Draws:
    """The numbers of one stream of a seed. The same calls in the same order give the same numbers, on every machine."""

    def __init__(self, seed: int, stream: Stream) -> None:
        self.state = np.zeros(1, np.int64)
        chance.begin(self.state, 0, seed, int(stream))

    def uniform(self, count: int) -> NDArray[np.float64]:
        """Returns `count` numbers between 0 and 1, neither of which is ever drawn."""
        drawn = np.empty(count, np.int64)
        compiled(fill)(self.state, 0, drawn, count)
        return (drawn.astype(np.float64) + 0.5) * 2.0**-32

    def order(self, count: int) -> Array:
        """Returns the numbers from 0 to `count` - 1 in random order."""
        return self.shuffled(np.arange(count))

    def shuffled(self, values: NDArray[Any]) -> Array:
        """Returns the same values in random order."""
        mixed = values.astype(np.int64)
        compiled(chance.shuffle)(self.state, 0, mixed, 0, len(mixed))
        return mixed

    def some(self, values: NDArray[Any], count: int) -> Array:
        """Returns `count` of `values` in rising order, or all if there are fewer."""
        return np.sort(self.shuffled(values)[:count])


def fill(streams: Buffer, at: int, drawn: Buffer, count: int) -> None:
    """Puts the next `count` numbers below 2^32 of the stream into `drawn`."""
    for place in range(count):
        drawn[place] = chance.draw(streams, at)
