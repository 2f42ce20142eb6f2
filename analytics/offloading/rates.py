"""How many events each topic has had, and will have."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
# No plan can be made on so many, so it does not matter that what is more is cut.
MOST_EVENTS: Final = 1 << 62
# Of which a topic is expected to have less is forgotten.
LEAST_EVENTS: Final = 0.5


class Rates:
    """Counts of the running period, and the forecast from those before: exponentially weighted, `weight` for the last period."""

    def __init__(self, weight: float) -> None:
        self.forecast = np.empty(0, np.float64)
        self._weight = weight
        self._counts: dict[int, int] = {}

    def count(self, topic: int, events: int) -> None:
        """A topic has had further events."""
        self._counts[topic] = self._counts.get(topic, 0) + events

    def close(self, topics: int) -> Ints:
        """End the period. The events that each of `topics` is expected to have in the next: 0 for those that had none in this one
        (spec C7.4), from 1 to `MOST_EVENTS` for all others."""
        had = np.zeros(topics, np.float64)
        had[list(self._counts.keys())] = list(self._counts.values())
        self._counts.clear()
        before = np.pad(self.forecast, (0, topics - len(self.forecast)))
        forecast = np.where(before > 0, self._weight * had + (1 - self._weight) * before, had)
        self.forecast = np.where(forecast < LEAST_EVENTS, 0.0, forecast)
        return np.where(had > 0, np.clip(np.rint(self.forecast), 1, MOST_EVENTS), 0).astype(np.int64)

    def keep(self, used: Ints) -> None:
        """Forget all but the `used` topics; `used[i]` is i from now on. No count may be waiting."""
        self.forecast = self.forecast[used]
