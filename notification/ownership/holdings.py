"""The work of a node on the shards that it owns: begun and ended in the right order."""

from collections.abc import Collection

from infra.runtime.ending import end_all

from ..dispatch import Dispatch
from ..module_context import ModuleContext
from ..owned import Owned
from ..shards import SHARDS
from ..worker import Worker


class Holdings:
    """All that works on owned shards: the rule worker and dispatch, and what is in memory for them."""

    def __init__(self, module: ModuleContext, owned: Owned, worker: Worker, dispatch: Dispatch) -> None:
        self._module, self._owned, self._worker, self._dispatch = module, owned, worker, dispatch

    def start(self) -> None:
        """Begins to work on whatever is owned."""
        self._worker.start()
        self._dispatch.start()

    async def own(self, shards: Collection[int]) -> None:
        """Goes on where the last owner of `shards` ended. Raises Unavailable: then it can be asked for again."""
        await self._owned.agenda.own(shards)  # first: the worker puts tasks on it as soon as the log has rows
        await self._owned.log.own(shards, self._module.now_ms())

    async def hand_over(self, shards: Collection[int]) -> None:
        """Finishes what is under way in `shards`, keeps how far it went, and forgets them.

        Raises Unavailable: then it can be asked for again.
        """
        # The log first, since the worker fills the agenda. Dispatch next: it reads the agenda and must end before that is forgotten.
        await self._owned.log.hand_over(shards)
        await self._dispatch.hand_over(shards)
        await self._owned.log.save()
        await self._owned.agenda.hand_over(shards)
        self._owned.log.forget(shards)
        self._owned.people.forget(shards)
        self._dispatch.handed_over()

    async def lose(self) -> None:
        """Stops at once and forgets all shards: others own them. Nothing more is stored or told; `start` begins again."""
        await self._worker.stop()
        await self._dispatch.stop()
        everything = range(SHARDS)
        self._owned.log.forget(everything)
        self._owned.agenda.forget(everything)
        self._owned.people.forget(everything)

    async def close(self) -> None:
        """Stops, and keeps how far it went. May be called twice."""
        await end_all(self._dispatch.stop, self._worker.close)
