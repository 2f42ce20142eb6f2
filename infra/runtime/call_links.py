"""The handlers of links over which calls are made: one for the side that called, one for the side that is called.

Two nodes that call each other have two links: each calls over the one that it has dialled. Links of brokers are `SiteClient`'s.
"""

from collections.abc import Callable

from infra.kernel.frames import AnyFrame, Call, Heartbeat, Reply

from .link import Link
from .link_handlers import makes_no_sense


class AskedLink:
    """The handler of a link whose peer answers our calls.

    - `reply(answer)`: takes an answer.
    - `lost()`: ends what was asked over this link, when it is gone.
    """

    __slots__ = ("_link", "_lost", "_reply")

    def __init__(self, link: Link, reply: Callable[[Reply], None], lost: Callable[[], None]) -> None:
        self._link, self._reply, self._lost = link, reply, lost

    def frames(self, frames: list[AnyFrame]) -> None:
        """Takes answers."""
        for frame in frames:
            match frame:
                case Reply():
                    self._reply(frame)
                case Heartbeat():
                    pass
                case _:
                    raise makes_no_sense(frame, self._link.peer)

    def down(self, reason: str) -> None:
        """Ends what was asked."""
        self._lost()


class AskingLink:
    """The handler of a link whose peer calls us.

    - `take(link, call)`: answers a call on its link, then or later.
    - `lost(link)`: is called when the link is gone. Without it open calls are left as they are: their answers go nowhere.
    """

    __slots__ = ("_link", "_lost", "_take")

    def __init__(self, link: Link, take: Callable[[Link, Call], None], lost: Callable[[Link], None] | None = None) -> None:
        self._link, self._take, self._lost = link, take, lost

    def frames(self, frames: list[AnyFrame]) -> None:
        """Takes calls."""
        for frame in frames:
            match frame:
                case Call():
                    self._take(self._link, frame)
                case Heartbeat():
                    pass
                case _:
                    raise makes_no_sense(frame, self._link.peer)

    def down(self, reason: str) -> None:
        """Calls what was given for this."""
        if self._lost is not None:
            self._lost(self._link)
