"""Playing a period: everybody publishes what is theirs, and what arrives is counted."""

import random
from typing import Final

from infra.kernel.errors import SegueError
from segue.demo.crowd import Crowd, for_each
from segue.demo.show import Show
from segue.demo.until import until

from .count import Count
from .stage import Stage

# How long to wait for what is still under way.
DRAIN_S: Final = 10.0


class PeriodPlayer:
    """Periods: all events of one in a random order, and what arrives of them. `refused` counts those that the engine did not take."""

    def __init__(self, stage: Stage, rng: random.Random, show: Show) -> None:
        self.refused = 0
        self._stage, self._rng, self._show = stage, rng, show
        self._count = Count()

    def heard(self, user: str, mark: str, at_s: float) -> None:
        """An event has arrived."""
        self._count.heard(user, mark)

    async def period(self, name: str, crowd: Crowd, expected: int) -> Count:
        """Publishes the events of a period; returns when `expected` deliveries have arrived, or too long after, and no more are on
        their way."""
        count = self._count = Count()
        plays = self._stage.plays(self._rng)
        with self._show.phase(name, len(plays), "events") as phase:

            async def one(numbered: tuple[int, str]) -> None:
                number, user = numbered
                try:
                    await crowd.play(user, f"{user} {name} {number}")
                except SegueError:
                    self.refused += 1
                phase.one_done()

            await for_each(enumerate(plays), one)
            await until(lambda: count.deliveries >= expected, DRAIN_S)
            await crowd.fence()
            phase.outcome = f"{len(plays):,} events, {count.deliveries:,} deliveries"
        return count
