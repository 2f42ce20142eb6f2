"""The handler of a link to an access point, which remembers what it is answered about who follows and who may see what."""

from typing import Final

from infra.kernel.frames import AnyFrame, Call
from infra.kernel.roles import ACCESSPOINT
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler

from .barring import Barring

# Whoever calls one of these remembers the answer.
REMEMBERED: Final = frozenset({"may-see", "private", "is-private", "followed"})


class AskingPoint:
    """The handler of a link to an access point. `inner` answers its calls."""

    __slots__ = ("_barring", "_inner", "_link")

    def __init__(self, link: Link, inner: LinkHandler, barring: Barring) -> None:
        self._link, self._inner, self._barring = link, inner, barring

    def frames(self, frames: list[AnyFrame]) -> None:
        """Notes that the access point asks, before anything is answered."""
        if any(isinstance(frame, Call) and frame.op in REMEMBERED for frame in frames):
            self._barring.add(self._link)
        self._inner.frames(frames)

    def down(self, reason: str) -> None:
        """Tells it nothing more."""
        self._barring.remove(self._link)
        self._inner.down(reason)


def asking_handler(link: Link, inner: LinkHandler, barring: Barring) -> LinkHandler:
    """Returns the handler of `link`: of one from an access point, one that `barring` tells, and `inner` otherwise."""
    return AskingPoint(link, inner, barring) if link.dialled is None and link.peer.role == ACCESSPOINT else inner
