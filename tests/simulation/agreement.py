"""What all nodes of a simulated world agree about when all is well."""

import asyncio
from typing import Final

from tests.support import interest_oracle

from .course import SETTLES_S, LifeCourse
from .interest import InterestComparison
from .oracle import Violated

# All is well when it has been for so long: a link that says nothing any more is noticed within 2.5 s.
STEADY_S: Final = 3.0
LOOKS_S: Final = 0.25


class WorldAgreement:
    """Waits until all is well, and tells what is not."""

    def __init__(self, course: LifeCourse) -> None:
        self._course, self._world = course, course.world

    async def wait(self, steady_s: float = STEADY_S, within_s: float = SETTLES_S) -> None:
        """Waits until all has been well for so long. Raises Violated where it is not within a time after everybody can go on."""
        now_s = well_since_s = self._world.loop.now_s
        deadline_s = within_s + max([now_s, *(each.stalled_until_s for each in self._world.loop.processes)])
        comparison = InterestComparison()
        while (why := self._amiss(comparison)) or self._world.loop.now_s < well_since_s + steady_s:
            if self._world.loop.now_s > deadline_s + (0.0 if why else steady_s):
                raise Violated(f"faults have ended {within_s:g} s ago, and not all is well: {why}")
            await asyncio.sleep(LOOKS_S)
            self._course.check()
            if why:
                well_since_s = self._world.loop.now_s

    def _amiss(self, comparison: InterestComparison) -> str:
        """Returns what nodes do not agree about; empty if there is nothing."""
        still = [name for name, each in self._world.processes.items() if each.stalled_until_s > self._world.loop.now_s]
        return ", ".join(still + self._world.unsettled()) or self._odd_interest(comparison) or self._uninstalled() or self._pointless()

    def _odd_interest(self, comparison: InterestComparison) -> str:
        """Returns who holds interest that nobody has, or lacks what somebody has; empty if all is exact."""
        rings = {site: self._world.of("broker", site)[0].ring for site in self._world.sites}
        implied = interest_oracle.implied(self._world.of("accesspoint"), self._world.of("broker"), rings, lambda one, other: False)
        held = interest_oracle.held(self._world.of("aggregator"), self._world.of("broker"))
        return comparison.odd(implied=implied, held=held)

    def _uninstalled(self) -> str:
        """Returns which access point has not heard from a site that all it wants is installed there; empty if there is none."""
        for point in self._world.of("accesspoint"):
            announcer = point.core.announcer
            for site in self._world.sites:
                if announcer.reached.get(site, 0) < announcer.mark():
                    return f"{point.site}/{point.node} does not know what {site} has installed"
        return ""

    def _pointless(self) -> str:
        """Returns a client that is given no point, or one that says nothing, though nothing is on its way to it; empty if there is none."""
        for point in self._world.of("accesspoint"):
            recoveries = point.core.recoveries
            for session in point.core.sessions:
                if session.follows_with_recovery and session.outbox is None and not (recoveries.own.stamps and recoveries.point(session)):
                    return f"{session.user} at {point.site}/{point.node} has no point"
        return ""
