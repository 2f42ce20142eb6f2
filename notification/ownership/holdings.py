"""What a node does for the shards that it owns: taken up and given up together."""

from collections.abc import Callable, Collection

from infra.runtime.ending import end_all

from ..agenda import Agenda
from ..dispatch import Dispatch
from ..log import Log
from ..people import People
from ..shards import SHARDS
from ..worker import Worker


class Holdings:
    """Log, worker, people, agenda and dispatch, shard by shard. `wall` is Unix time in seconds."""

    def __init__(self, log: Log, worker: Worker, people: People, agenda: Agenda, dispatch: Dispatch, wall: Callable[[], float]) -> None:
        self._log, self._worker, self._people, self._agenda, self._dispatch = log, worker, people, agenda, dispatch
        self._wall = wall

    def start(self) -> None:
        """Work on whatever is taken."""
        self._worker.start()
        self._dispatch.start()

    async def own(self, shards: Collection[int]) -> None:
        """Go on where the last owner of these ended. Raises Unavailable: then it can be asked for again."""
        await self._agenda.own(shards)  # first: the worker puts tasks on it
        await self._log.own(shards, int(self._wall() * 1000))

    async def hand_over(self, shards: Collection[int]) -> None:
        """Finish what is under way in these, keep how far it went, and forget them. Raises Unavailable: then it can be asked
        for again."""
        await self._log.hand_over(shards)
        await self._dispatch.hand_over(shards)
        await self._log.save()
        await self._agenda.hand_over(shards)
        self._log.forget(shards)
        self._people.forget(shards)
        self._dispatch.handed_over()

    async def lose(self) -> None:
        """Drop everything at once: others own it. Nothing more is stored or told."""
        await self._worker.stop()
        await self._dispatch.stop()
        everything = range(SHARDS)
        self._log.forget(everything)
        self._agenda.forget(everything)
        self._people.forget(everything)

    async def close(self) -> None:
        """Stop, and keep how far it went. May be called twice."""
        await end_all(self._dispatch.stop, self._worker.close)
