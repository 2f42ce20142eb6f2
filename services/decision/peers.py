"""The peers of the decision service: what brokers and access points tell it, and which decision each of them knows."""

from collections.abc import Callable, Sequence
from typing import cast

from infra.kernel.frames import AnyFrame, Assignment, Followed, Heartbeat, Surveyed, Tally, Unfollowed
from infra.kernel.topics import Topic
from infra.runtime.link import Link
from infra.runtime.link_handlers import makes_no_sense

from .core import DecisionCore
from .surveyor import Surveyor


class DecisionPeer:
    """The base of the handlers of links to brokers and to access points (see `LinkHandler`).

    - `link`: the link.
    - `epoch`: the decision whose change the peer can follow: the last one, or 0 for none. A peer at 0 is told the whole next time.
    - `linked`: all peers; this one leaves them when its link is down.
    """

    __slots__ = ("_core", "_linked", "_surveyor", "epoch", "link")

    def __init__(self, link: Link, linked: "list[DecisionPeer]", core: DecisionCore, surveyor: Surveyor) -> None:
        self.epoch = 0
        self.link = link
        self._linked, self._core, self._surveyor = linked, core, surveyor

    def tell(self, frames: Sequence[Assignment]) -> None:
        """Sends a decision, which has one frame at least."""
        for frame in frames:
            self.link.send(frame)
        self.epoch = frames[-1].epoch

    def down(self, reason: str) -> None:
        """Leaves the peers; nobody waits for the answer of this one."""
        self._linked.remove(self)
        self._surveyor.gone(self.link)

    def _surveyed(self, n: int, epoch: int) -> None:
        """Notes an answer to survey `n` from a peer that goes by the assignment `epoch`.

        If another decision service has made that one, the peer cannot follow a change of ours: it is told the whole next time.
        """
        self._core.holds(epoch)
        if epoch > self.epoch:
            self.epoch = 0
        self._surveyor.answered(self.link, n)


class CountingBroker(DecisionPeer):
    """The handler of a link to a broker, which counts the events of its topics. The events themselves never come here (SB-63)."""

    __slots__ = ()

    def frames(self, frames: list[AnyFrame]) -> None:
        """Takes counts and answers to surveys. Raises `Refused` for all else."""
        for frame in frames:
            match frame:
                case Tally(topics, counts):
                    self._core.tally(_checked(topics), counts)
                case Surveyed(n, epoch):
                    self._surveyed(n, epoch)
                case Heartbeat():
                    pass
                case _:
                    raise makes_no_sense(frame, self.link.peer)


class ReportingPoint(DecisionPeer):
    """The handler of a link to an access point, which reports who follows what there. `now_s` is the time of the links."""

    __slots__ = ("_name", "_now_s")

    def __init__(self, link: Link, linked: list[DecisionPeer], core: DecisionCore, surveyor: Surveyor, now_s: Callable[[], float]) -> None:
        super().__init__(link, linked, core, surveyor)
        self._name, self._now_s = (link.peer.site, link.peer.node), now_s

    def begin(self) -> None:
        """Makes room for a report that is whole."""
        self._core.link_up(self._name)

    def frames(self, frames: list[AnyFrame]) -> None:
        """Takes follows and answers to surveys. Raises `Refused` for all else."""
        for frame in frames:
            match frame:
                case Followed(users, topics):
                    self._core.followed(self._name, users, _checked(topics))
                case Unfollowed(users, topics):
                    self._core.unfollowed(self._name, users, _checked(topics))
                case Surveyed(n, epoch):
                    # Before the answer counts: a round that begins with the last answer must see the report as whole.
                    self._core.reported(self._name)
                    self._surveyed(n, epoch)
                case Heartbeat():
                    pass
                case _:
                    raise makes_no_sense(frame, self.link.peer)

    def down(self, reason: str) -> None:
        """Leaves the peers; what the access point reported counts for a while."""
        super().down(reason)
        self._core.link_down(self._name, self._now_s())


def _checked(topics: list[bytes]) -> list[Topic]:
    """Returns `topics` as what they are: the codec has checked them, so nothing is copied."""
    return cast(list[Topic], topics)
