"""The access point's side of offloading: the link to the decision service. It is told who follows what here, and says what is out.

One service at a time: a second one that is configured is dialled until the first is gone. What it said last goes on without it.
"""

import asyncio
from collections.abc import Iterable

from infra.kernel.errors import Refused
from infra.kernel.frames import Any as AnyFrame
from infra.kernel.frames import Assignment, Heartbeat, Survey
from infra.runtime.link import Link
from infra.runtime.surveys import Surveys
from infra.runtime.turns import in_turns

from .core import AccessPointCore


class Offloading:
    """Between the service and `core`."""

    def __init__(self, core: AccessPointCore) -> None:
        self._core = core
        self._link: Link | None = None
        self._surveys: Surveys | None = None
        core.offloaded.wake = self._catch_up_soon

    def link_up(self, link: Link) -> None:
        """A service answered: it is told everything. Raises `Refused` if another one is linked."""
        core = self._core
        if self._link is not None:
            here = self._link.peer
            raise Refused("duplicate-node", f"the decision service {here.site}/{here.node} is linked here, and there is one at a time")
        assert core.journal is not None
        assert core.follows is not None
        core.follows.begin(core.journal.users)
        self._link, self._surveys = link, Surveys(link, core.follows.tell)
        self._surveys.ask(None)

    def link_down(self, link: Link) -> None:
        """The service is gone."""
        if link is self._link and self._surveys is not None and self._core.follows is not None:
            self._surveys.end()
            self._link = self._surveys = None
            self._core.follows.end()
            self._core.offloaded.assigned.cut()

    def frames(self, frames: Iterable[AnyFrame]) -> None:
        """What the service says. Raises `Refused` if it cannot be followed."""
        assert self._surveys is not None
        for frame in frames:
            match frame:
                case Survey(n):
                    self._surveys.ask(n)
                case Assignment():
                    if self._core.offloaded.offer(frame):
                        in_turns(self._core.offloaded.tell())
                case Heartbeat():
                    pass
                case _:
                    raise Refused("bad-link-frame", f"{type(frame).__name__} from the decision service makes no sense here")

    def _catch_up_soon(self) -> None:
        asyncio.get_running_loop().call_soon(self._core.offloaded.catch_up)
