"""ModifiedGreedyFB3M (thesis 6.4, algorithms 4 to 7 with errata E4 to E6; spec C5), written to be read: all is computed anew each time.

What a topic adds to its subscribers is counted in whole parts of a subscriber, so that equal sums are equal.
"""

import numpy as np

from analytics.planning.instance import Instance
from analytics.planning.satisfaction.fb3m import Key
from analytics.planning.satisfaction.parts import whole
from analytics.planning.satisfaction.solution import Solution


def greedy_by(instance: Instance, threshold: int, capacity: int, key: Key) -> Solution:
    """Returns the topics chosen one by one: each time the one with the greatest `key`, while one within `capacity` adds anything.

    Of equals the lower number is taken; `threshold` says what each subscriber of the `instance` needs.
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
    """Returns the better of the two kinds for an `instance` at a `threshold` within `capacity`."""
    return max((greedy_by(instance, threshold, capacity, key) for key in ("gain", "ratio")), key=lambda found: found.value)


class State:
    """`remaining`: events that each subscriber still lacks of the `needs`."""

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
        """Gives all subscribers of the topic its events."""
        for subscriber in self._subscribers_of[topic]:
            self.remaining[subscriber] = max(0, self.remaining[subscriber] - self.events[topic])
