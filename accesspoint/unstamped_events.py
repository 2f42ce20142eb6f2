"""Unstamped events: what clients got here while nobody said up to where everything has come. Pure.

An aggregator says no stamps while one of its brokers has said none yet. What it delivers meanwhile is behind the last ones that it has
said. Who goes on from these at another aggregator is given it again, so its numbers are remembered.
"""

from collections.abc import Iterable
from typing import Final

from infra.kernel.events import origin_epoch_seq, origin_if_sound
from infra.kernel.topics import Topic

# Of so many topics numbers are remembered at most.
MOST: Final = 1 << 16

Numbers = list[tuple[str, int, int]]
"""The last number of each site, with its epoch, in the order in which they came first."""


class UnstampedEvents:
    """The last numbers of each topic. `is_full`: there were too many topics to remember all."""

    def __init__(self, most: int = MOST) -> None:
        self.is_full = False
        self._most = most
        self._lasts: dict[Topic, dict[tuple[str, int], int]] = {}

    def __len__(self) -> int:
        """Returns of how many topics there are numbers."""
        return len(self._lasts)

    def add(self, events: Iterable[tuple[Topic, bytes]]) -> None:
        """Remembers what somebody got."""
        for topic, body in events:
            if topic not in self._lasts and len(self._lasts) == self._most:
                self.is_full = True
            elif origin_if_sound(body) is not None:
                site, epoch, seq = origin_epoch_seq(body)
                self._lasts.setdefault(topic, {})[site, epoch] = seq

    def clear(self) -> None:
        """Forgets everything: stamps say it all."""
        self._lasts.clear()
        self.is_full = False

    def taken(self) -> dict[Topic, Numbers]:
        """Returns all numbers, and forgets them."""
        lasts, self._lasts = self._lasts, {}
        return {topic: [(site, epoch, seq) for (site, epoch), seq in each.items()] for topic, each in lasts.items()}
