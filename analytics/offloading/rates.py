"""Rates: how many events each topic has had, and will have."""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
# No plan can be made with so many events, so it does not matter that larger counts are cut.
MOST_EVENTS: Final = 1 << 62
# A forecast of fewer events is forgotten.
LEAST_EVENTS: Final = 0.5


class Rates:
    """The counts of the running period, and the `forecast` from those before.

    The forecast is exponentially weighted, with `weight` for the last period. Its shape is (topics,) as of the last `close`.
    """

    def __init__(self, weight: float) -> None:
        self.forecast = np.empty(0, np.float64)
        self._weight = weight
        self._counts: dict[int, int] = {}

    def count(self, topic: int, events: int) -> None:
        """Notes that a topic has had further events."""
        self._counts[topic] = self._counts.get(topic, 0) + events

    def close(self, topics: int) -> Ints:
        """Ends the period; returns how many events each of the first `topics` numbers is expected to have in the next one.

        A topic that had none in this period has 0 (spec C7.4), each other topic from 1 to `MOST_EVENTS`. The shape is (topics,).
        """
        had = np.zeros(topics, np.float64)
        had[list(self._counts.keys())] = list(self._counts.values())
        self._counts.clear()
        # Topics that are new since the last period have no forecast: what they had is all that is known of them.
        before = np.pad(self.forecast, (0, topics - len(self.forecast)))
        forecast = np.where(before > 0, self._weight * had + (1 - self._weight) * before, had)
        self.forecast = np.where(forecast < LEAST_EVENTS, 0.0, forecast)
        return np.where(had > 0, np.clip(np.rint(self.forecast), 1, MOST_EVENTS), 0).astype(np.int64)

    def keep(self, used: Ints) -> None:
        """Forgets all but the `used` topics; `used[i]` is i from now on. No count may be waiting."""
        self.forecast = self.forecast[used]
