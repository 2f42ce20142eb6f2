"""Faults of a life of roles, and what operators do."""

from collections.abc import Callable
from functools import partial
from typing import Final

from infra.kernel.roles import AGGREGATOR, BROKER

from ..network import site_of
from ..operations import MOST
from ..oracle import SimulationOracle
from .role_process import RoleProcess
from .troubles import LOOKS_S, RoleTroubles
from .world import AGGREGATORS, BROKERS, RoleWorld

# After so long a broker that was killed is there again: half as long, or half as long again.
RESTARTS_S: Final = (0.02, 0.3, 1.0, 2.0, 4.0, 8.0)
STOPPED_S: Final = (0.1, 1.0, 3.0)
CUTS_S: Final = (0.3, 0.6, 0.8, 4.0)
# What is slow takes up to so much longer, for up to so long.
SLOWNESS_S: Final = (0.05, 0.2, 0.5)
SLOW_S: Final = 3.0


class RoleFaults:
    """Everything that goes wrong with processes and ways, and what operators do. Each takes the picks of an operation."""

    def __init__(self, world: RoleWorld, oracle: SimulationOracle, troubles: RoleTroubles) -> None:
        self._world, self._oracle, self._troubles = world, oracle, troubles

    def _goes_wrong(self, what: str, *, is_grave: bool = False, is_apart: bool = False) -> None:
        self._oracle.is_calm = False
        self._oracle.was_apart = self._oracle.was_apart or is_apart
        self._troubles.add(what, is_grave=is_grave, is_apart=is_apart)

    def _again(self, name: str, after_s: float) -> None:
        """Starts a process again after a time."""
        self._world.timeline.at(self._world.now_s + after_s, self._world.start, name)

    def kill(self, which: int, site: int, how: int, pause: int) -> None:
        """Ends a broker at once. Another one stays, as do its heirs, so that with copies, at a site alone, nobody loses anything."""
        brokers = self._world.of(BROKER, self._world.sites[site % len(self._world.sites)])
        if len(brokers) > 1:
            name = brokers[which % len(brokers)].name
            self._goes_wrong(f"kill {name}", is_grave=not self._world.copies or len(self._world.sites) > 1)
            self._world.end(name, silently=how % 5 < 2)
            self._again(name, RESTARTS_S[pause % len(RESTARTS_S)] * (0.5 + pause / MOST))

    def kill_two(self, which: int, site: int, how: int, pause: int) -> None:
        for n in range(2):
            self.kill(which + n, site, how + n, pause + n)

    def leave(self, which: int, site: int, _: int, pause: int) -> None:
        """Asks a broker to stop, where another one stays. Where nothing else is wrong that costs nobody anything."""
        brokers = [each for each in self._world.of(BROKER, self._world.sites[site % len(self._world.sites)]) if not each.role.mesh.draining]
        process = brokers[which % len(brokers)] if brokers else None
        if process is None or not any(each is not process and each.role.ready() is None for each in brokers):
            return
        if self._troubles.open:
            self._troubles.add(f"leave {process.name}")
        else:
            self._troubles.mention()
        self._world.tell(process.name, "is asked to stop")
        process.does(process.role.mesh.leave)
        process.does(process.role.departure.check)
        self._close_when(process, process.role.departure._over.is_set, process.role.options.drain_s, STOPPED_S[pause % len(STOPPED_S)])

    def _close_when(self, process: RoleProcess, is_over: Callable[[], bool], limit_s: float, pause_s: float) -> None:
        """Closes a process that was asked to stop when it has done that, or after a time; then it is started again."""
        if process.is_dead:
            return
        if limit_s > 0 and not is_over():
            self._world.timeline.at(self._world.now_s + LOOKS_S, self._close_when, process, is_over, limit_s - LOOKS_S, pause_s)
            return
        if not is_over():
            self._goes_wrong(f"{process.name} did not stop in time")
        self._world.end(process.name, is_planned=True)
        self._again(process.name, pause_s)

    def kill_aggregator(self, which: int, site: int, how: int, pause: int) -> None:
        name = f"{self._world.sites[site % len(self._world.sites)]}/{AGGREGATORS[which % len(AGGREGATORS)]}"
        if not self._world.processes[name].is_dead:
            self._oracle.is_calm = False
            self._troubles.mention()
            self._world.end(name, silently=how % 3 == 0)
            self._again(name, STOPPED_S[pause % len(STOPPED_S)])

    def drain_aggregator(self, which: int, site: int, _: int, pause: int) -> None:
        process = self._world.processes[f"{self._world.sites[site % len(self._world.sites)]}/{AGGREGATORS[which % len(AGGREGATORS)]}"]
        if process.is_dead or process.role._is_draining:
            return
        self._troubles.mention()
        self._world.tell(process.name, "is asked to stop")
        process.does(process.role.begin_leaving)
        self._close_when(process, process.role._left.is_set, process.role.options.drain_s, STOPPED_S[pause % len(STOPPED_S)])

    def snap(self, which: int, *_: int) -> None:
        """Breaks a connection. Between two brokers that costs what another trouble may add to; any other one costs nothing."""
        standing = [each for each in self._world.connections if each.links[0] in each.processes[0].node.links]
        if standing:
            connection = standing[which % len(standing)]
            roles = {process.role.role for process in connection.processes}
            self._world.tell("", f"{connection.processes[0].name} and {connection.processes[1].name} lose their connection")
            self._oracle.is_calm = False
            if roles == {BROKER} or (roles == {BROKER, AGGREGATOR} and (self._troubles.open or self._world.unsettled())):
                self._goes_wrong("snap")
            else:
                self._troubles.mention()
            connection.snap()

    def slow(self, one: int, other: int, how: int, until: int) -> None:
        """Makes the way from one process to another one slow."""
        names = list(self._world.processes)
        way = names[one % len(names)], names[other % len(names)]
        self._oracle.is_calm = False
        self._troubles.mention()
        self._world.slow[way] = SLOWNESS_S[how % len(SLOWNESS_S)]
        self._world.timeline.at(self._world.now_s + SLOW_S * until / MOST, partial(self._world.slow.pop, way, None))

    def cut(self, one: int, other: int, site: int, how: int) -> None:
        """Cuts two brokers of one site off from each other, where there are any: the last one may have been asked to stop."""
        if names := [each.name for each in self._world.of(BROKER, self._world.sites[site % len(self._world.sites)])]:
            self._cut_off(names[one % len(names)], names[other % len(names)], how)

    def cut_any(self, one: int, other: int, _: int, how: int) -> None:
        names = list(self._world.processes)
        self._cut_off(names[one % len(names)], names[other % len(names)], how)

    def _cut_off(self, one: str, other: str, how: int) -> None:
        if one != other:
            is_apart = {one, other} <= {f"{site_of(one)}/{slot}" for slot in BROKERS}
            self._goes_wrong(f"cut {one} {other}", is_apart=is_apart)
            self._world.cuts[one, other] = self._world.now_s + CUTS_S[how % len(CUTS_S)]
