"""What arrived, counted one by one, and what it is worth. Pure."""

from collections import Counter

from .stage import Stage


class Count:
    """Arrivals of one period. Events are named by a mark, which begins with the user who published it and a blank."""

    def __init__(self) -> None:
        self.deliveries = self.duplicated = 0
        self.published = 0
        self._of: Counter[str] = Counter()
        self._from: Counter[str] = Counter()
        self._seen: set[tuple[str, str]] = set()

    def heard(self, user: str, mark: str) -> None:
        """An event has arrived at `user`."""
        if (user, mark) in self._seen:
            self.duplicated += 1
            return
        self._seen.add((user, mark))
        self.deliveries += 1
        self._of[user] += 1
        self._from[mark.partition(" ")[0]] += 1

    def served(self) -> set[str]:
        """Whose events have reached anybody."""
        return set(self._from)

    def satisfied(self, stage: Stage) -> int:
        """Users who got all they need."""
        return sum(self._of[user] >= needs for user in stage.friends if (needs := stage.needs(user)))

    def fractions(self, stage: Stage) -> float:
        """The sum of the parts that users got of what they need."""
        return sum(min(1.0, self._of[user] / needs) for user in stage.friends if (needs := stage.needs(user)))

    def value(self, stage: Stage) -> float:
        """By the metric of the stage."""
        return self.satisfied(stage) if stage.metric == "b3m" else self.fractions(stage)
