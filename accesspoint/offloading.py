"""The access point's side of offloading (see `Offloader`): it tells who follows what here, and tells clients what is out."""

import asyncio
from collections.abc import Iterator, Sequence

from infra.kernel.frames import Assignment, Frame
from infra.runtime.turns import in_turns

from .core import AccessPointCore
from .follows import Follows


class Offloading:
    """Between the service and `core`, which knows that there may be one."""

    def __init__(self, core: AccessPointCore) -> None:
        self._core = core
        core.offloaded.wake = self._catch_up_soon

    def begin(self) -> None:
        """Everybody is to be told of."""
        assert self._core.journal is not None
        self._follows.begin(self._core.journal.users)

    def end(self) -> None:
        """Nobody wants to know who follows what."""
        self._follows.end()
        self._core.offloaded.assigned.cut()

    def tell(self) -> Iterator[Sequence[Frame]]:
        """Who follows what, as far as the service does not know it."""
        return self._follows.tell()

    def epoch(self) -> int:
        """Of the assignment that holds."""
        return self._core.offloaded.assigned.epoch

    def assign(self, frame: Assignment) -> None:
        """Clients hear of each new epoch, some in each turn of the loop."""
        if self._core.offloaded.offer(frame):
            in_turns(self._core.offloaded.tell())

    @property
    def _follows(self) -> Follows:
        assert self._core.follows is not None
        return self._core.follows

    def _catch_up_soon(self) -> None:
        asyncio.get_running_loop().call_soon(self._core.offloaded.catch_up)
