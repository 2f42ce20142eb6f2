"""ModifiedGreedyFB3M (thesis 6.4, algorithms 4 to 7 with errata E4 to E6; spec C5), written to be read: nothing is kept, all is computed.

What a topic adds to its subscribers is counted in whole parts of a subscriber, so that equal sums are equal.
"""

import numpy as np

from analytics.planning.instance import Instance
from analytics.planning.satisfaction.fb3m import Key
from analytics.planning.satisfaction.parts import whole
from analytics.planning.satisfaction.solution import Solution


def greedy_by(instance: Instance, threshold: int, capacity: int, key: Key) -> Solution:
    """Takes again and again the topic with the greatest key, while one that fits adds anything; of equals the lower number.

    - `threshold`: events that satisfy a subscriber.
    - `capacity`: the most that all topics may cost.
    - `key`: what the topic adds, or that over its cost.
    """
    state = State(instance, threshold)
    undecided, chosen, used = list(range(len(state.cost))), [], 0
    while undecided:
        keys = {topic: state.gain(topic) / (state.cost[topic] if key == "ratio" else 1) for topic in undecided}
        topic = min(undecided, key=lambda each: (-keys[each], each))
        if keys[topic] == 0:
            break
        undecided.remove(topic)
        if used + state.cost[topic] <= capacity:
            used += state.cost[topic]
            chosen.append(topic)
            state.serve(topic)
    return Solution(np.array(chosen, dtype=np.int64), used, state.value)


def greedy_fb3m(instance: Instance, threshold: int, capacity: int) -> Solution:
    """Returns the better solution of the two keys, with the arguments of `greedy_by`: `threshold` and `capacity`."""
    return max((greedy_by(instance, threshold, capacity, key) for key in ("gain", "ratio")), key=lambda found: found.value)


class State:
    """The state of the choice: `remaining` are the events that each subscriber still lacks of their `needs`."""

    def __init__(self, instance: Instance, threshold: int) -> None:
        self.events: list[int] = instance.events.tolist()
        self.cost: list[int] = instance.cost.tolist()
        self.needs: list[int] = instance.thresholds(threshold).tolist()
        self.remaining = self.needs.copy()
        self._whole = whole(instance)
        self._subscribers_of = instance.subscribers_of.lists()

    @property
    def value(self) -> float:
        """The sum of the parts that all subscribers have."""
        return float(sum((needs - lacks) / needs for needs, lacks in zip(self.needs, self.remaining, strict=True)))

    def gain(self, topic: int) -> int:
        """Returns what the topic would add."""
        return sum(
            int(min(self.remaining[subscriber], self.events[topic]) * ((self._whole + 0.5) / self.needs[subscriber]))
            for subscriber in self._subscribers_of[topic]
        )

    def serve(self, topic: int) -> None:
        """Gives the topic's events to all its subscribers."""
        for subscriber in self._subscribers_of[topic]:
            self.remaining[subscriber] = max(0, self.remaining[subscriber] - self.events[topic])
