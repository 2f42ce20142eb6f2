"""Faults of nodes in a simulated life: they die, stand still, and have clocks that are wrong."""

import asyncio
from functools import partial
from typing import Final

from .course import LifeCourse
from .deaths import NodeDeaths
from .operators import SiteOperators

# So long a broker is down that is restarted: most are back before anybody misses them.
RESTARTS_S: Final = (0.0, 0.05, 0.3, 0.7, 2.0)


class NodeFaults:
    """Everything that goes wrong with nodes."""

    def __init__(self, course: LifeCourse, deaths: NodeDeaths, operators: SiteOperators) -> None:
        self._course, self._world = course, course.world
        self._deaths, self._operators = deaths, operators

    async def kill(self, pick: int, *_: int) -> None:
        """Ends a node at once."""
        self._end(pick, power=False)

    async def kill_broker(self, pick: int, *_: int) -> None:
        """Ends a broker at once."""
        self._end(pick, power=False, roles=("broker",))

    async def power_broker(self, pick: int, *_: int) -> None:
        """Takes the power from a broker's machine: nobody is told."""
        self._end(pick, power=True, roles=("broker",))

    async def power(self, pick: int, *_: int) -> None:
        """Takes the power from a machine: nobody is told."""
        self._end(pick, power=True)

    def _end(self, pick: int, *, power: bool, roles: tuple[str, ...] = ()) -> None:
        if (name := self._course.node_that_may_go(pick, roles)) is not None:
            self._deaths.kill(name, power=power)

    async def restart(self, pick: int, how: int, pause: int, *_: int) -> None:
        """Ends a broker at once, and starts it again soon, also where it is the only one of its site."""
        brokers = [name for name, each in self._world.roles.items() if each.role == "broker"]
        if brokers:
            name = brokers[pick % len(brokers)]
            self._deaths.kill(name, power=how % 4 == 0)
            self._world.down.pop(name)  # nobody else starts it
            self._course.meanwhile(partial(self._comes_again, name, RESTARTS_S[pause % len(RESTARTS_S)]))

    async def _comes_again(self, name: str, pause_s: float) -> None:
        await asyncio.sleep(pause_s)
        await self._operators.begin(name)

    async def stall(self, pick: int, how: int, *_: int) -> None:
        """Has a process stand still for up to ten seconds."""
        names = list(self._world.processes)
        name = names[pick % len(names)]
        self._course.goes_wrong()
        self._course.goes_apart(name)
        self._course.tell(name, "stands still")
        process, until_s = self._world.processes[name], self._world.loop.now_s + (0.2, 1.0, 5.0, 10.0)[how % 4]
        process.stalled_until_s = max(process.stalled_until_s, until_s)

    async def clock(self, pick: int, how: int, *_: int) -> None:
        """Sets the clock of a process to a wrong time."""
        names = list(self._world.processes)
        process = self._world.processes[names[pick % len(names)]]
        process.offset_s += (-3600.0, -5.0, 5.0, 3600.0)[how % 4]
        self._course.tell(process.name, f"has a clock that is off by {process.offset_s:g} s")
