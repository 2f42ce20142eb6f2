"""The handler of a link between presence and an access point (see `LinkHandler`)."""

from collections.abc import Callable

from infra.kernel.frames import AnyFrame, Call, Gone, Heartbeat, Here
from infra.runtime.link import Link
from infra.runtime.link_handlers import makes_no_sense

from .answers import PresenceAnswers
from .leases import Leases


class PresenceReporter:
    """The handler of a link to an access point, which calls as well, and reports who has come and gone. `now_s` is the time of the
    links."""

    __slots__ = ("_answers", "_leases", "_link", "_now_s")

    def __init__(self, link: Link, answers: PresenceAnswers, leases: Leases, now_s: Callable[[], float]) -> None:
        self._link, self._answers, self._leases, self._now_s = link, answers, leases, now_s
        leases.link_up(link.peer.node)

    def frames(self, frames: list[AnyFrame]) -> None:
        """Answers calls; grants and releases leases."""
        for frame in frames:
            match frame:
                case Here():
                    self._grant(frame)
                case Gone():
                    self._release(frame)
                case Call():
                    self._answers.answer(self._link, frame)
                case Heartbeat():
                    pass
                case _:
                    raise makes_no_sense(frame, self._link.peer)

    def down(self, reason: str) -> None:
        """Lets all leases of the access point end, unless it comes back."""
        self._leases.link_down(self._link.peer.node, self._now_s())

    def _grant(self, here: Here) -> None:
        point, now_s = self._link.peer.node, self._now_s()
        for user, client, devices in zip(here.users, here.clients, here.devices, strict=True):
            self._leases.grant(point, user, client, devices, now_s)

    def _release(self, gone: Gone) -> None:
        point, now_s = self._link.peer.node, self._now_s()
        for user, client in zip(gone.users, gone.clients, strict=True):
            self._leases.release(point, user, client, now_s)
