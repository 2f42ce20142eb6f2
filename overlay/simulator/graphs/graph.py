"""A graph of subscriptions: who subscribes to which topic, before it becomes the workload of an overlay."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..draws import Array
from ..errors import OverlayError
from ..workload import OverlayWorkload, workload


@dataclass(frozen=True, eq=False)
class SubscriptionGraph:
    """Pairs of `subscriber` and `topic`, each once.

    - `users`, `topics`: how many there are; both are numbered from 0.
    - `is_social`: a topic is the user of the same number. Nobody subscribes to themselves: the author of a topic is none of its
      subscribers, unlike a publisher, who is one (spec 1, 2.8).
    """

    subscriber: Array
    topic: Array
    users: int
    topics: int
    is_social: bool

    @property
    def pairs(self) -> int:
        """The number of subscriptions."""
        return len(self.subscriber)

    def topics_of(self) -> Array:
        """Returns how many topics each user has."""
        return np.bincount(self.subscriber, minlength=self.users)

    def subscribers_of(self) -> Array:
        """Returns how many subscribers each topic has."""
        return np.bincount(self.topic, minlength=self.topics)

    def restricted(self, kept: NDArray[np.bool_]) -> "SubscriptionGraph":
        """Returns the pairs among the users who are `kept`, without those who then have none: in a social graph both ends are users."""
        within = kept[self.subscriber] & kept[self.topic] if self.is_social else kept[self.subscriber]
        return graph_of(self.subscriber[within], self.topic[within], is_social=self.is_social)

    def workload(self) -> OverlayWorkload:
        """Returns the workload: a node is a user with a topic, a topic has a subscriber. Both keep their order, not their numbers.

        Raises OverlayError if there are fewer than two nodes.
        """
        return workload(np.unique(self.subscriber, return_inverse=True)[1], np.unique(self.topic, return_inverse=True)[1])


def graph_of(subscriber: NDArray[Any], topic: NDArray[Any], *, is_social: bool) -> SubscriptionGraph:
    """Returns the graph of these pairs, in any order; users and topics have any numbers. Pairs that come again are left out.

    Raises OverlayError if there is no pair.
    """
    if not len(subscriber):
        raise OverlayError("nobody subscribes to anything; give at least one pair of subscriber and topic")
    if is_social:
        users, both = np.unique(np.concatenate([subscriber, topic]), return_inverse=True)
        v, t, topics = both[: len(subscriber)], both[len(subscriber) :], len(users)
    else:
        users, v = np.unique(subscriber, return_inverse=True)
        numbers, t = np.unique(topic, return_inverse=True)
        topics = len(numbers)
    keys = np.unique(v.astype(np.int64) * topics + t)
    return SubscriptionGraph(*np.divmod(keys, topics), len(users), topics, is_social)


def neighbours(graph: SubscriptionGraph) -> tuple[Array, Array]:
    """Returns who is joined with whom, both ways, whoever subscribes: the neighbours of i are `joined[starts[i] : starts[i + 1]]`, rising.

    In a graph that is not social, users are joined with topics, which have numbers after those of the users.
    """
    shift, count = (0, graph.users) if graph.is_social else (graph.users, graph.users + graph.topics)
    one, other = graph.subscriber, graph.topic + shift
    keys = np.sort(np.concatenate([one * count + other, other * count + one]))
    once = np.concatenate([[True], keys[1:] != keys[:-1]])
    of, joined = np.divmod(keys[once], count)
    return rows(of, joined, count)


def rows(of: Array, values: Array, count: int) -> tuple[Array, Array]:
    """Returns the `values` row by row: those of row i are from `starts[i]` to `starts[i + 1]`. `of`: the row of each, below `count`."""
    starts = np.concatenate([[0], np.cumsum(np.bincount(of, minlength=count))])
    return starts, values[np.argsort(of, kind="stable")]
