"""Operators of a simulated life, who stop and start nodes."""

from functools import partial

from .course import LifeCourse


class SiteOperators:
    """Operators: they ask nodes to stop, and start those that are down."""

    def __init__(self, course: LifeCourse) -> None:
        self._course, self._world = course, course.world

    async def leave(self, pick: int, *_: int) -> None:
        """Asks a node to stop. It does so meanwhile."""
        # Access points do not promise that nothing is lost when they are asked to stop, so in a calm life they are not.
        name = self._course.node_that_may_go(pick, () if self._course.faults else ("broker", "aggregator"))
        if name is None:
            return
        self._course.tell(name, "is asked to stop")
        self._course.leaving.add(name)
        self._course.meanwhile(partial(self._leaves, name))

    async def _leaves(self, name: str) -> None:
        self._course.changes[name] += 1
        self._course.leavers.append(self._world.roles[name])
        try:
            await self._world.leave(name)
        finally:
            self._course.leaving.discard(name)
        self._course.changes[name] += 1
        self._course.tell(name, "has stopped")

    async def start(self, pick: int, *_: int) -> None:
        """Starts a node that is down."""
        if self._world.down:
            name = list(self._world.down)[pick % len(self._world.down)]
            await self.begin(name)

    async def begin(self, name: str) -> None:
        """Starts a node."""
        self._course.tell(name, "is started")
        self._course.changes[name] += 1
        self._course.started_s[name] = self._world.loop.now_s
        await self._world.start(name)
