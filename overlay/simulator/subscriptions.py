"""Who subscribes to what, for systems in which a node simply has a list of topics: it may change node by node, also in large overlays."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..protocol.buffer import Buffer
from .compiled import Execution
from .errors import OverlayError
from .event_counts import TopicMembers
from .workload import OverlayWorkload


class TopicSubscriptions:
    """The topics of each node, in buffers for kernels.

    Those of a node begin at `topics[firsts[node]]`; there are `counts[node]` of them, in rising order. A longer list than before goes
    behind all others, and when there is no more room for that, all lists move to a larger buffer: so `topics` may be another one.
    """

    def __init__(self, workload: OverlayWorkload, execution: Execution) -> None:
        self._topics, self._execution = workload.topics, execution
        rows = workload.topics_of
        self.firsts = execution.buffer(np.asarray(rows.offsets[:-1], np.int64))
        self.counts = execution.buffer(np.asarray(rows.lengths, np.int64))
        self.topics = execution.buffer(np.asarray(rows.values, np.int32), np.int32)
        self._end = len(self.topics)
        self._members: TopicMembers | None = None

    def of_node(self, node: int) -> list[int]:
        """Returns the topics of `node`."""
        first = self.firsts[node]
        return [int(self.topics[at]) for at in range(first, first + self.counts[node])]

    def change(self, node: int, topics: Iterable[int]) -> None:
        """Lets `node` subscribe to `topics` and to nothing else. Raises OverlayError for topics that are none."""
        wanted = sorted({int(topic) for topic in topics})
        if wanted and not 0 <= wanted[0] <= wanted[-1] < self._topics:
            raise OverlayError(f"node {node} is to have topics from {wanted[0]} to {wanted[-1]}, and there are {self._topics:,}")
        self._members = None
        if len(wanted) > self.counts[node]:
            self._move(node, len(wanted))
        self.counts[node] = len(wanted)
        for at, topic in enumerate(wanted):
            self.topics[self.firsts[node] + at] = topic

    def members(self, topic: int) -> list[int]:
        """Returns the subscribers of `topic`, whether they are there or not, in rising order."""
        of = self.by_topic()
        return [int(of.members[at]) for at in range(of.starts[topic], of.starts[topic + 1])]

    def by_topic(self) -> TopicMembers:
        """Returns the subscribers of all topics. Changes after that are in what the next call returns."""
        if self._members is None:
            node, topic = self._pairs()
            order = np.lexsort((node, topic))
            starts = np.searchsorted(topic[order], np.arange(self._topics + 1))
            self._members = TopicMembers(
                members=self._execution.buffer(node[order], np.int32),
                starts=self._execution.buffer(starts),
                live=self._execution.filled(int(np.diff(starts).max(initial=0))),
            )
        return self._members

    def live_members(self, topic: int, alive: Buffer) -> list[int]:
        """Returns the subscribers of `topic` who are there."""
        return [node for node in self.members(topic) if alive[node]]

    def check_publisher(self, topic: int, publisher: int, alive: Buffer) -> None:
        """Raises OverlayError for a publisher that is not there, or does not subscribe to the topic (PC 2)."""
        if not alive[publisher] or topic not in self.of_node(publisher):
            raise OverlayError(f"node {publisher} is no live subscriber of topic {topic}: a publisher subscribes to its topic first")

    def _move(self, node: int, length: int) -> None:
        """Finds a place for `length` topics of `node` behind all others."""
        if self._end + length > len(self.topics):
            self._compact(length)
        self.firsts[node] = self._end
        self._end += length

    def _compact(self, more: int) -> None:
        """Moves all lists to a buffer that has twice the room that they and `more` topics need."""
        counts: NDArray[np.int64] = np.asarray(self.counts, np.int64)
        _, topic = self._pairs()
        self._end = len(topic)
        room = np.zeros(2 * (len(topic) + more), np.int32)
        room[: len(topic)] = topic
        self.topics = self._execution.buffer(room, np.int32)
        for node, first in enumerate((np.cumsum(counts) - counts).tolist()):
            self.firsts[node] = first

    def _pairs(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Returns node and topic of each subscription, by nodes."""
        counts: NDArray[np.int64] = np.asarray(self.counts, np.int64)
        node = np.repeat(np.arange(len(counts)), counts)
        place = np.arange(len(node)) - np.repeat(np.cumsum(counts) - counts, counts)
        return node, np.asarray(self.topics, np.int32)[np.asarray(self.firsts, np.int64)[node] + place]
