"""Faults of links in a simulated life."""

from .course import LifeCourse
from .network import SLOW


class LinkFaults:
    """Everything that goes wrong with links."""

    def __init__(self, course: LifeCourse) -> None:
        self._course, self._world = course, course.world

    async def cut(self, one: int, other: int, how: int, *_: int) -> None:
        """Cuts two nodes, or two sites, off from each other."""
        for pair in self._pairs(one, other, how):
            self._cut(*pair)

    async def cut_one_way(self, one: int, other: int, how: int, *_: int) -> None:
        """Does the same one way."""
        for pair in self._pairs(one, other, how)[:1]:
            self._cut(*pair)

    def _cut(self, source: str, target: str) -> None:
        self._course.goes_apart(source, target)
        self._world.internet.cut(source, target)

    def _pairs(self, one: int, other: int, how: int) -> list[tuple[str, str]]:
        """Returns two nodes, or two sites, both ways."""
        names = list(self._world.sites) if how % 3 == 0 else list(self._world.options)
        source, target = names[one % len(names)], names[other % len(names)]
        if source == target:
            return []
        self._course.goes_wrong()
        self._course.tell(source, f"does not reach {target}")
        return [(source, target), (target, source)]

    async def heal(self, *_: int) -> None:
        """Ends all faults of links."""
        if self._world.internet.cuts or self._world.internet.slow:
            self._course.goes_wrong()
            self._world.internet.heal()

    async def snap(self, pick: int, which: int, *_: int) -> None:
        """Breaks a connection, anywhere between two bytes."""
        processes = list(self._world.processes.values())
        transports = list(processes[pick % len(processes)].transports) if processes else []
        if transports:
            self._course.goes_wrong()
            transport = transports[which % len(transports)]
            self._course.tell(transport.process.name, f"loses its connection with {transport.peer.process.name}")
            transport.snap()

    async def slow(self, one: int, other: int, how: int, *_: int) -> None:
        """Makes what goes between two nodes, or two sites, slow."""
        for pair in self._pairs(one, other, how):
            self._world.internet.slow[pair] = SLOW
