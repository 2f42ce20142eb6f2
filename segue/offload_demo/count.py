"""The count of what arrived, one by one, and its value."""

from collections import Counter

from .stage import Stage


class Count:
    """The arrivals of one period. The name of an event is a mark, which begins with its publisher and a blank."""

    def __init__(self) -> None:
        self.deliveries = self.duplicated = 0
        self.published = 0
        self._of: Counter[str] = Counter()
        self._from: Counter[str] = Counter()
        self._seen: set[tuple[str, str]] = set()

    def heard(self, user: str, mark: str) -> None:
        """Takes note that the event `mark` has arrived at `user`."""
        if (user, mark) in self._seen:
            self.duplicated += 1
            return
        self._seen.add((user, mark))
        self.deliveries += 1
        self._of[user] += 1
        self._from[mark.partition(" ")[0]] += 1

    def served(self) -> set[str]:
        """Returns the users whose events have reached anybody."""
        return set(self._from)

    def satisfied(self, stage: Stage) -> int:
        """Returns how many users got all that they need."""
        return sum(self._of[user] >= needs for user in stage.friends if (needs := stage.needs(user)))

    def fractions(self, stage: Stage) -> float:
        """Returns the sum of the parts that users got of what they need."""
        return sum(min(1.0, self._of[user] / needs) for user in stage.friends if (needs := stage.needs(user)))

    def value(self, stage: Stage) -> float:
        """Returns the value of what arrived, by the metric of the stage."""
        return self.satisfied(stage) if stage.metric == "b3m" else self.fractions(stage)
