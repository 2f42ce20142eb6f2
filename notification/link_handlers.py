"""The handlers of links of the notification module, one for each sort of peer; those of brokers are `SiteClient`'s."""

from collections.abc import Callable
from typing import Protocol

from infra.kernel.frames import AnyFrame, Call, Heartbeat, Reply
from infra.runtime.callers import Callers
from infra.runtime.link import Link
from infra.runtime.link_handlers import makes_no_sense


class Asking(Protocol):
    """A part that calls others over links, such as `Online` and `Routes`."""

    def reply(self, link: Link, reply: Reply) -> None:
        """Notes what the peer of `link` has answered."""

    def link_down(self, link: Link) -> None:
        """Ends the calls over a link that is lost."""


class AskedLink:
    """The handler of a link that we dialled: its peer answers, as presence and other nodes of the module do."""

    __slots__ = ("_asking", "_link")

    def __init__(self, link: Link, asking: Asking) -> None:
        self._link, self._asking = link, asking

    def frames(self, frames: list[AnyFrame]) -> None:
        """Takes answers."""
        for frame in frames:
            match frame:
                case Reply():
                    self._asking.reply(self._link, frame)
                case Heartbeat():
                    pass
                case _:
                    raise makes_no_sense(frame, self._link.peer)

    def down(self, reason: str) -> None:
        """Ends what was asked over this link."""
        self._asking.link_down(self._link)


class AskingLink:
    """The handler of a link that the peer dialled: access points call for their clients, nodes of the module for followers.

    `down` is called when the link is lost.
    """

    __slots__ = ("_callers", "_down", "_link")

    def __init__(self, link: Link, callers: Callers, down: Callable[[Link], None] | None = None) -> None:
        self._link, self._callers, self._down = link, callers, down

    def frames(self, frames: list[AnyFrame]) -> None:
        """Takes calls."""
        for frame in frames:
            match frame:
                case Call():
                    self._callers.take(self._link, frame)
                case Heartbeat():
                    pass
                case _:
                    raise makes_no_sense(frame, self._link.peer)

    def down(self, reason: str) -> None:
        """Calls what was given for this."""
        if self._down is not None:
            self._down(self._link)
