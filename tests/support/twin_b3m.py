"""GreedyB3M (thesis 6.3, algorithms 1 and 2 with errata E1 and E2; spec C3), written to be read.

What a topic adds to its subscribers is counted in whole parts of a subscriber, so that sums of differences never drift.
"""

import heapq

import numpy as np

from analytics.planning.instance import Instance
from analytics.planning.satisfaction.parts import whole
from analytics.planning.satisfaction.solution import Solution


def greedy_b3m(instance: Instance, threshold: int, capacity: int) -> Solution:
    """Takes again and again the topic that does most for its cost, while one that fits does anything; of equals the lower number.

    - `threshold`: events that satisfy a subscriber.
    - `capacity`: the most that all topics may cost.
    """
    state = _State(instance, threshold)
    heap = [(-state.key(topic), topic) for topic in range(len(state.cost))]
    heapq.heapify(heap)
    chosen: list[int] = []
    used = 0
    while heap:
        key, topic = heapq.heappop(heap)
        # A topic whose key has changed is in the heap a second time, with its new key.
        if not state.undecided[topic] or -key != state.key(topic):
            continue
        if key == 0:
            break
        state.undecided[topic] = False
        if used + state.cost[topic] > capacity:
            continue
        used += state.cost[topic]
        chosen.append(topic)
        for changed in state.serve(topic):
            heapq.heappush(heap, (-state.key(changed), changed))
    return Solution(np.array(chosen, dtype=np.int64), used, state.remaining.count(0))


class _State:
    """The state of the choice.

    - `remaining`: events that each subscriber still lacks.
    - `value`: what each undecided topic adds, in parts of a subscriber.
    - `undecided`: whether a topic was neither chosen nor left out.
    """

    def __init__(self, instance: Instance, threshold: int) -> None:
        self.events: list[int] = instance.events.tolist()
        self.cost: list[int] = instance.cost.tolist()
        self.remaining: list[int] = instance.thresholds(threshold).tolist()
        self._whole = whole(instance)
        self._subscribers_of = instance.subscribers_of.lists()
        self._topics_of = instance.topics_of.lists()
        self.undecided = [True] * len(self.cost)
        self.value = [sum(self._part(subscriber, topic) for subscriber in of) for topic, of in enumerate(self._subscribers_of)]

    def key(self, topic: int) -> float:
        """Returns what the topic does for its cost."""
        return self.value[topic] / self.cost[topic]

    def serve(self, topic: int) -> set[int]:
        """Gives the topic's events to all its subscribers. Returns the undecided topics whose value that changes."""
        changed: set[int] = set()
        for subscriber in self._subscribers_of[topic]:
            if self.remaining[subscriber]:
                others = [other for other in self._topics_of[subscriber] if self.undecided[other]]
                self._revalue(subscriber, others, max(0, self.remaining[subscriber] - self.events[topic]))
                changed.update(others)
        return changed

    def _revalue(self, subscriber: int, topics: list[int], remaining: int) -> None:
        for topic in topics:
            self.value[topic] -= self._part(subscriber, topic)
        self.remaining[subscriber] = remaining
        for topic in topics:
            self.value[topic] += self._part(subscriber, topic)

    def _part(self, subscriber: int, topic: int) -> int:
        lacks = self.remaining[subscriber]
        if lacks == 0:
            return 0
        return self._whole if self.events[topic] >= lacks else int(self.events[topic] * ((self._whole + 0.5) / lacks))
