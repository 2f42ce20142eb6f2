"""Small planning problems, and their best solutions, found by trying all."""

from collections.abc import Iterable
from itertools import chain, combinations

import numpy as np
from hypothesis import strategies as st

from analytics.planning.instance import Instance, instance


@st.composite
def instances(draw: st.DrawFn, most_topics: int = 6, most_subscribers: int = 7) -> Instance:
    """Draws at most `most_topics` topics with 1 to 9 events each, and at most `most_subscribers` subscribers."""
    topics = draw(st.integers(1, most_topics))
    every = [(subscriber, topic) for subscriber in range(draw(st.integers(1, most_subscribers))) for topic in range(topics)]
    pairs = draw(st.lists(st.sampled_from(every), min_size=1, max_size=25, unique=True))
    events = draw(st.lists(st.integers(1, 9), min_size=topics, max_size=topics))
    subscriber, topic = np.array(pairs).T
    return instance(subscriber, topic, np.array(events))


def small(seed: int, most_topics: int = 6, most_subscribers: int = 8) -> tuple[Instance, int, int]:
    """Returns a random problem: an instance, a threshold, and a capacity from nothing to all. `seed` decides all of it.

    `most_topics` and `most_subscribers` bound its size.
    """
    random = np.random.default_rng(seed)
    follows = random.random((random.integers(1, most_subscribers + 1), random.integers(1, most_topics + 1))) < random.uniform(0.2, 0.9)
    follows[0, 0] = True  # an instance has at least one pair
    subscriber, topic = np.nonzero(follows)
    found = instance(subscriber, topic, random.integers(1, 10, size=(follows.shape[1],)))
    return found, int(random.integers(1, 20)), int(random.uniform(0, 1.05) * found.cost.sum())


def fractions(found: Instance, threshold: int, chosen: Iterable[int]) -> list[float]:
    """Returns for each subscriber the part of their need that the `chosen` topics give them; 1 at most.

    A subscriber needs `threshold` events, or all if they have fewer.
    """
    events, served = found.events.tolist(), set(chosen)
    result = []
    for topics in found.topics_of.lists():
        needs = min(threshold, sum(events[topic] for topic in topics))
        result.append(min(1.0, sum(events[topic] for topic in topics if topic in served) / needs))
    return result


def optimum(found: Instance, threshold: int, capacity: int) -> tuple[int, float]:
    """Returns the most subscribers that can be satisfied, and the greatest sum of fractions. It tries all choices of topics.

    `threshold` is as in `fractions`; the chosen topics cost `capacity` at most.
    """
    cost = found.cost.tolist()
    numbers = range(len(cost))
    choices = chain.from_iterable(combinations(numbers, size) for size in range(len(cost) + 1))
    tried = [fractions(found, threshold, choice) for choice in choices if sum(cost[topic] for topic in choice) <= capacity]
    return max(each.count(1.0) for each in tried), max(map(sum, tried))
