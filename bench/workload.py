"""The workload: who follows what, and who speaks when. It is a pure function of its shape.

Friend lists differ in size: lognormal, sigma 0.5, between 8 and 120, with the mean that was asked for. Topics differ in
followers: the topic of rank r is drawn in proportion to (r + 20)^-0.8. Topics differ in events in the same way, but in an
order of their own: to be followed by many and to play much music have nothing to do with each other.
"""

import math
import random
from collections.abc import Iterator
from itertools import accumulate
from typing import Final

from .shape import WorkloadShape

SPREAD: Final = 0.5
FEWEST: Final = 8
MOST: Final = 120
SKEW: Final = 0.8
FLAT_RANKS: Final = 20
DRAWS: Final = 4096


class GeneratedWorkload:
    """A workload: `follows[client]` is the set of its topics, `fanout[topic]` the number of its followers."""

    def __init__(self, shape: WorkloadShape) -> None:
        rng = random.Random(f"follow {shape.seed}")
        self._seed = shape.seed
        self._weights = list(accumulate((rank + FLAT_RANKS) ** -SKEW for rank in range(1, shape.topics + 1)))
        by_popularity = _shuffled(shape.topics, rng)
        self.follows = [self._distinct(size, by_popularity, rng) for size in _sizes(shape, rng)]
        self.fanout = [0] * shape.topics
        for topics in self.follows:
            for topic in topics:
                self.fanout[topic] += 1

    def _distinct(self, size: int, order: list[int], rng: random.Random) -> frozenset[int]:
        chosen: set[int] = set()
        while len(chosen) < size:
            chosen.update(rng.choices(order, cum_weights=self._weights, k=size - len(chosen)))
        return frozenset(chosen)

    def publications(self) -> Iterator[int]:
        """Yields the topic of one publication after the other, for ever. Each call yields the same ones."""
        rng = random.Random(f"speak {self._seed}")
        by_activity = _shuffled(len(self.fanout), rng)
        while True:
            yield from rng.choices(by_activity, cum_weights=self._weights, k=DRAWS)

    @property
    def mean_fanout(self) -> float:
        """The mean number of deliveries of a publication in the long run."""
        spoken = self.publications()
        return sum(self.fanout[next(spoken)] for _ in range(10 * DRAWS)) / (10 * DRAWS)


def _shuffled(number: int, rng: random.Random) -> list[int]:
    order = list(range(number))
    rng.shuffle(order)
    return order


def _sizes(shape: WorkloadShape, rng: random.Random) -> list[int]:
    """Returns how many topics each client follows; at most all there are."""
    if shape.fixed:
        return [min(shape.mean, shape.topics)] * shape.clients
    normals = [rng.gauss(0.0, SPREAD) for _ in range(shape.clients)]
    low, high = math.log(FEWEST), math.log(MOST)
    for _ in range(40):  # the clamp moves the mean, so the middle is found by bisection
        middle = (low + high) / 2
        if sum(_size(middle, normal) for normal in normals) > shape.mean * shape.clients:
            high = middle
        else:
            low = middle
    return [min(round(_size(low, normal)), shape.topics) for normal in normals]


def _size(middle: float, normal: float) -> float:
    return min(max(math.exp(middle + normal), FEWEST), MOST)
