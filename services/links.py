"""The handlers of a publisher service's links (see `LinkHandler`). Brokers have `BrokerLink`."""

from infra.kernel.frames import AnyFrame, Call, Heartbeat, Reply
from infra.runtime.callers import Callers
from infra.runtime.link import Link
from infra.runtime.link_handlers import makes_no_sense

from .peers import ServicePeers


class CalledService:
    """The handler of a link to a service that this one calls."""

    __slots__ = ("_link", "_peers")

    def __init__(self, link: Link, peers: ServicePeers) -> None:
        self._link, self._peers = link, peers
        peers.link_up(link)

    def frames(self, frames: list[AnyFrame]) -> None:
        """Takes answers."""
        for frame in frames:
            match frame:
                case Reply():
                    self._peers.reply(self._link, frame)
                case Heartbeat():
                    pass
                case _:
                    raise makes_no_sense(frame, self._link.peer)

    def down(self, reason: str) -> None:
        """Gives up the calls that the service has not answered."""
        self._peers.link_down(self._link)


class ServiceCaller:
    """The handler of a link to somebody who calls this service: an access point, another service."""

    __slots__ = ("_callers", "_link")

    def __init__(self, link: Link, callers: Callers) -> None:
        self._link, self._callers = link, callers

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
        """Leaves open calls as they are: their answers go to a link that is gone."""
