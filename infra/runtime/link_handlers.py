"""The handler of a link: what a role makes of one peer; and the role as its links see it.

A role chooses the handler once, in `link_up`, when it knows who the peer is. `Node` keeps it beside the link and gives it
every batch of frames, so nobody asks again who is at the other end.
"""

from typing import Protocol

from infra.kernel.errors import Refused
from infra.kernel.frames import AnyFrame, Hello, View

from .link import Link


class LinkHandler(Protocol):
    """The handler of one link. Nothing in it may block."""

    def frames(self, frames: list[AnyFrame]) -> None:
        """Takes a whole batch of frames, none of them `Hello` or `Bye`. A `Refused` that it raises closes the link with its code."""

    def down(self, reason: str) -> None:
        """Forgets the link, which is gone. The node calls it once."""


class LinkRole(Protocol):
    """A role as its links see it. Nothing here may block. A `Refused` closes the link with its code."""

    def view(self) -> View:
        """Returns the view of its site that this role knows. It travels in hellos and heartbeats."""

    def admit(self, hello: Hello) -> None:
        """Raises `Refused` if this peer has no business here."""

    def link_up(self, link: Link) -> LinkHandler:
        """Chooses the handler of `link`, whose handshake is done. `link.dialled` is the address if we called, None if they did.

        If this raises there is no link, and nobody is told that it is down.
        """

    def tick(self, now: float) -> None:
        """Does what is due in each heartbeat interval. `now` is the node's time (see `Node`)."""


class LinkTaker(Protocol):
    """A role whose peers are all of one sort."""

    def frames(self, link: Link, frames: list[AnyFrame]) -> None:
        """Takes a whole batch of frames; see `LinkHandler.frames`."""

    def link_down(self, link: Link, reason: str) -> None:
        """Forgets `link`, which is gone."""


class ToRole:
    """The handler of a link whose role needs no handler for each peer, since its peers are all of one sort."""

    __slots__ = ("_link", "_role")

    def __init__(self, role: LinkTaker, link: Link) -> None:
        self._role, self._link = role, link

    def frames(self, frames: list[AnyFrame]) -> None:
        """Passes the batch to the role."""
        self._role.frames(self._link, frames)

    def down(self, reason: str) -> None:
        """Tells the role."""
        self._role.link_down(self._link, reason)


def makes_no_sense(frame: AnyFrame, peer: Hello) -> Refused:
    """Returns the refusal of a `frame` that a `peer` of this role never sends."""
    return Refused("bad-link-frame", f"{type(frame).__name__} from a {peer.role} makes no sense here")
