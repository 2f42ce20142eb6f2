"""What is simulated on: which node subscribes to which topic."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analytics.planning.instance import Rows

from .errors import OverlayError


@dataclass(frozen=True, eq=False)
class OverlayWorkload:
    """Nodes and topics, both numbered from 0. `topics_of` has the topics of each node, in rising order. Either may have none."""

    topics_of: Rows
    topics: int

    @property
    def nodes(self) -> int:
        """The number of nodes."""
        return len(self.topics_of)

    @property
    def pairs(self) -> int:
        """The number of subscriptions."""
        return len(self.topics_of.values)

    @cached_property
    def subscribers_of(self) -> Rows:
        """The subscribers of each topic, in rising order."""
        return self.topics_of.turned(self.topics)


def workload(node: NDArray[Any], topic: NDArray[Any], *, nodes: int | None = None, topics: int | None = None) -> OverlayWorkload:
    """Returns the workload of these pairs, in any order.

    - `node` and `topic`: whole numbers from 0; together the pairs, each once.
    - `nodes` and `topics`: how many there are; otherwise the highest number tells.

    Raises OverlayError, which names the pair, if that cannot be simulated.
    """
    if len(node) != len(topic):
        raise OverlayError(f"there are {len(node):,} nodes and {len(topic):,} topics; each pair has one of both")
    if not len(node):
        raise OverlayError("no node subscribes to a topic; give at least one pair of node and topic")
    nodes = _count("node", node, nodes)
    if nodes < 2:
        raise OverlayError("there is one node; an overlay needs two or more")
    topics = _count("topic", topic, topics)
    order = np.lexsort((topic, node))
    v, t = node[order], topic[order]
    repeats = np.flatnonzero((v[1:] == v[:-1]) & (t[1:] == t[:-1]))
    if len(repeats):
        at = int(np.sort(order[repeats[0] : repeats[0] + 2])[1])
        raise OverlayError(f"pair {at + 1:,}: node {node[at]} subscribes to topic {topic[at]} a second time; give each pair once")
    offsets = np.searchsorted(v, np.arange(nodes + 1)).astype(np.int64)
    return OverlayWorkload(Rows(offsets, np.ascontiguousarray(t, np.int32)), topics)


def _count(what: str, numbers: NDArray[Any], told: int | None) -> int:
    """Returns how many there are of nodes or topics. Raises OverlayError for a number that none of them can have."""
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise OverlayError(f"{what}s must be a list of whole numbers, not of {numbers.dtype} in {numbers.ndim} dimensions")
    most = min(told, np.iinfo(np.int32).max) if told is not None else np.iinfo(np.int32).max
    wrong = np.flatnonzero((numbers < 0) | (numbers >= most))
    if len(wrong):
        at = int(wrong[0])
        raise OverlayError(f"pair {at + 1:,}: {what} {numbers[at]} is not from 0 to {most - 1:,}; number the {what}s from 0")
    return told if told is not None else int(numbers.max()) + 1
