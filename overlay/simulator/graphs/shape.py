"""The shape of a graph: how many neighbours users have, and how many of these are neighbours of each other."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from overlay.protocol.buffer import Buffer

from ..compiled import compiled
from ..draws import Array
from ..errors import OverlayError
from .graph import SubscriptionGraph, neighbours, rows


class Clustering(NamedTuple):
    """The triangles of a social graph, whoever subscribes.

    - `degrees`: neighbours of each user. `triangles`: how many pairs of these are joined.
    """

    degrees: Array
    triangles: Array

    @property
    def mean(self) -> float:
        """The mean of the users' shares of joined pairs; 0 for those with fewer than two neighbours (Watts and Strogatz)."""
        return float(self._shares().mean())

    @property
    def transitivity(self) -> float:
        """The share of joined pairs among all pairs of neighbours of somebody."""
        return float(self.triangles.sum() / max(1, int(self._pairs().sum())))

    def by_degree(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Returns degrees of 2 and more, at most ten for each decade, and the mean share of those who have about as many neighbours."""
        kept = self.degrees >= 2
        bins = np.round(10 * np.log10(self.degrees[kept])).astype(np.int64)
        place = np.unique(bins, return_inverse=True)[1]
        count = np.bincount(place)
        return np.bincount(place, self.degrees[kept]) / count, np.bincount(place, self._shares()[kept]) / count

    def _pairs(self) -> Array:
        return self.degrees * (self.degrees - 1) // 2

    def _shares(self) -> NDArray[np.float64]:
        return self.triangles / np.maximum(1, self._pairs())


def clustering(graph: SubscriptionGraph) -> Clustering:
    """Counts triangles. Raises OverlayError for a graph that is not social: there topics are no neighbours."""
    if not graph.is_social:
        raise OverlayError("users and topics are not of one sort here, so there are no triangles; ask for a service whose topics are users")
    starts, joined = neighbours(graph)
    degrees = np.diff(starts)
    # Each joins those of higher rank only. Those with most neighbours come last, so that nobody joins many, and each triangle is met once.
    rank = np.empty(graph.users, np.int64)
    rank[np.argsort(degrees, kind="stable")] = np.arange(graph.users)
    low, high = np.repeat(rank, degrees), rank[joined]
    up = low < high
    starts, joined = rows(low[up], high[up], graph.users)
    triangles = np.zeros(graph.users, np.int64)
    compiled(count_triangles)(starts, joined, np.full(graph.users, -1), triangles)
    return Clustering(degrees, triangles[rank])


def count_triangles(starts: Buffer, joined: Buffer, marks: Buffer, triangles: Buffer) -> None:
    """Adds to `triangles` those of each user.

    `starts`, `joined`: the rows of those of higher rank. `marks`: -1 for each user.
    """
    for user in range(len(triangles)):
        for place in range(starts[user], starts[user + 1]):
            marks[joined[place]] = user
        for place in range(starts[user], starts[user + 1]):
            other = joined[place]
            for third in range(starts[other], starts[other + 1]):
                if marks[joined[third]] == user:
                    triangles[user] += 1
                    triangles[other] += 1
                    triangles[joined[third]] += 1
