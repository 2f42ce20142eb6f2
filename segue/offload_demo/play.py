"""The playing of a period: all users publish their events, and what arrives is counted."""

import random
from typing import Final

from infra.kernel.errors import SegueError
from segue.demo.crowd import Crowd, for_each
from segue.demo.show import Show
from segue.demo.until import until

from .count import Count
from .stage import Stage

# How long to wait for what is still on its way.
DRAIN_S: Final = 10.0


class PeriodPlayer:
    """The player of periods. `rng` orders the events of a period; `refused` counts those that the engine refused."""

    def __init__(self, stage: Stage, rng: random.Random, show: Show) -> None:
        self.refused = 0
        self._stage, self._rng, self._show = stage, rng, show
        self._count = Count()

    def heard(self, user: str, mark: str, at_s: float) -> None:
        """Takes note that the event `mark` has arrived at `user`, at `at_s`."""
        self._count.heard(user, mark)

    async def period(self, name: str, crowd: Crowd, expected: int) -> Count:
        """Publishes the events of a period, as the step `name`, and returns the count of what arrived at `crowd`.

        It waits until `expected` deliveries have arrived, for a while at most, and no more are on their way.
        """
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
