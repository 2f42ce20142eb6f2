"""The link to the decision service, as brokers and access points have it. There is one service at a time."""

from collections.abc import Iterator, Sequence
from typing import Protocol, Self

from infra.kernel.errors import Refused
from infra.kernel.frames import AnyFrame, Assignment, Frame, Heartbeat, Hello, Survey

from .link import Link
from .surveys import Surveys


class Offloader(Protocol):
    """A role's side of offloading: what it tells the service, and what it makes of the service's assignments."""

    def begin(self) -> None:
        """Begins with a service that knows nothing of this node."""

    def end(self) -> None:
        """Notes that the service is gone. What it said last goes on; what it said in part is forgotten."""

    def tell(self) -> Iterator[Sequence[Frame]]:
        """Yields what the service does not know yet, in portions for one turn of the loop each."""

    def epoch(self) -> int:
        """Returns the epoch of the assignment that holds here; 0 if there was none."""

    def assign(self, frame: Assignment) -> None:
        """Follows what the service says is out. Raises `Refused` if it cannot be followed."""


class DecisionLink:
    """The handler of the link to the service (see `LinkHandler`), of which there is one at a time; `owner` does what it asks."""

    def __init__(self, owner: Offloader) -> None:
        self._owner = owner
        self._link: Link | None = None
        self._surveys: Surveys | None = None

    def admit(self, hello: Hello) -> None:
        """Raises `Refused` if another service is linked; the same one may link again."""
        if self._link is not None and (self._link.peer.site, self._link.peer.node) != (hello.site, hello.node):
            raise _second(self._link.peer)

    def link_up(self, link: Link) -> Self:
        """Tells everything to the service that has come. Raises `Refused` if a link to one stands."""
        if self._link is not None:
            raise _second(self._link.peer)
        self._owner.begin()
        self._link, self._surveys = link, Surveys(link, self._owner.tell, self._owner.epoch)
        self._surveys.ask(None)
        return self

    def down(self, reason: str) -> None:
        """Stops telling: the service is gone."""
        assert self._surveys is not None
        self._surveys.end()
        self._link = self._surveys = None
        self._owner.end()

    def frames(self, frames: list[AnyFrame]) -> None:
        """Follows what the service says. Raises `Refused` if it cannot be followed."""
        assert self._surveys is not None
        for frame in frames:
            match frame:
                case Survey(n):
                    self._surveys.ask(n)
                case Assignment():
                    self._owner.assign(frame)
                case Heartbeat():
                    pass
                case _:
                    raise Refused("bad-link-frame", f"{type(frame).__name__} from the decision service makes no sense here")


def _second(here: Hello) -> Refused:
    reason = f"the decision service {here.site}/{here.node} is linked here, and there is one at a time; stop it first"
    return Refused("duplicate-node", reason)
