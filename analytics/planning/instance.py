"""What satisfaction is planned on: who follows which topic, and how many events each topic has (thesis 6.2; spec C1)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Rows:
    """Lists of numbers end to end: list i is `values[offsets[i] : offsets[i + 1]]`, rising."""

    offsets: NDArray[np.int64]
    values: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def lists(self) -> list[list[int]]:
        """The same as lists."""
        values = self.values.tolist()
        return [values[first:last] for first, last in zip(self.offsets.tolist(), self.offsets[1:].tolist(), strict=False)]


@dataclass(frozen=True, slots=True)
class Instance:
    """Topics and subscribers numbered from 0, each with at least one of the other; `events` of each topic are 1 or more.

    `topic_ids` and `subscriber_ids`: the numbers they had where they came from.
    """

    events: NDArray[np.int64]
    subscribers_of: Rows
    topics_of: Rows
    topic_ids: NDArray[np.int64]
    subscriber_ids: NDArray[np.int64]

    @property
    def cost(self) -> NDArray[np.int64]:
        """Normalized cost of each topic: its events times its subscribers."""
        return self.events * np.diff(self.subscribers_of.offsets)

    def thresholds(self, threshold: int) -> NDArray[np.int64]:
        """What satisfies each subscriber: `threshold` events, or all of his topics if they have fewer."""
        received = np.add.reduceat(self.events[self.topics_of.values], self.topics_of.offsets[:-1])
        return np.minimum(threshold, received)


def instance(subscriber: NDArray[np.integer], topic: NDArray[np.integer], events: NDArray[np.integer]) -> Instance:
    """The pairs (subscriber, topic), each once, with the `events` by topic.

    Topics without events can satisfy nobody, and whoever has no other would be satisfied by nothing: both are left out (spec C1, C7).
    """
    heard = events[topic] > 0
    subscriber_ids, v = np.unique(subscriber[heard], return_inverse=True)
    topic_ids, t = np.unique(topic[heard], return_inverse=True)
    return Instance(
        events=events[topic_ids].astype(np.int64),
        subscribers_of=_rows(t, v, len(topic_ids)),
        topics_of=_rows(v, t, len(subscriber_ids)),
        topic_ids=topic_ids.astype(np.int64),
        subscriber_ids=subscriber_ids.astype(np.int64),
    )


def _rows(by: NDArray[np.int64], values: NDArray[np.int64], count: int) -> Rows:
    offsets = np.concatenate([[0], np.cumsum(np.bincount(by, minlength=count))])
    return Rows(offsets, values[np.lexsort((values, by))])
