"""The access point's side of offloading (see `Offloader`): it tells who follows what here, and tells clients what is out."""

from collections.abc import Iterator, Sequence

from infra.kernel.frames import Assignment, Frame
from infra.runtime.turns import in_turns

from .core import AccessPointCore
from .follows import Follows
from .journal import Journal


class ClientOffloading:
    """The answers of `core` to the decision service; `core` knows that there may be one."""

    def __init__(self, core: AccessPointCore) -> None:
        self._core = core

    def begin(self) -> None:
        """Notes that everybody is to be told of."""
        self._follows.begin(self._journal.users)

    def end(self) -> None:
        """Notes that nobody wants to know who follows what."""
        self._follows.end()
        self._core.offload_notices.assigned.cut()

    def tell(self) -> Iterator[Sequence[Frame]]:
        """Returns who follows what, as far as the service does not know it."""
        return self._follows.tell(self._journal.followed)

    def epoch(self) -> int:
        """Returns the epoch of the assignment that holds."""
        return self._core.offload_notices.assigned.epoch

    def assign(self, frame: Assignment) -> None:
        """Tells clients of each new epoch, some of them in each turn of the loop."""
        if self._core.offload_notices.offer(frame):
            in_turns(self._core.offload_notices.tell())

    @property
    def _follows(self) -> Follows:
        assert self._core.follows is not None
        return self._core.follows

    @property
    def _journal(self) -> Journal:
        assert self._core.journal is not None
        return self._core.journal
