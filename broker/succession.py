"""Succession: the copies that go to heirs and come from owners, on the links between brokers of one site (DPS-18)."""

from infra.kernel.frames import AnyFrame, Copies, CopiesHeld
from infra.runtime.link import Link
from infra.runtime.link_handlers import LinkHandler

from .copies import OwnerCopies
from .heirs import Heirs


class SuccessionLink:
    """The handler of a link to another broker of this site, or from one.

    - `rest`: the handler of everything but copies.
    - `copies`: takes what an owner gives to us over a link on which it has called.
    - `heirs`: takes the answers on a link on which we have; None where no kind of topics has copies.
    """

    __slots__ = ("_copies", "_heirs", "_link", "_rest")

    def __init__(self, link: Link, rest: LinkHandler, copies: OwnerCopies, heirs: Heirs | None) -> None:
        self._link, self._rest, self._copies, self._heirs = link, rest, copies, heirs

    def frames(self, frames: list[AnyFrame]) -> None:
        """Takes copies and the rest, in order: copies count under the view that came before them. Answers behind the whole batch."""
        for frame in frames:
            if isinstance(frame, Copies):
                self._copies.take(self._link, frame)
            elif isinstance(frame, CopiesHeld):
                if self._heirs is not None:
                    self._heirs.take(self._link.peer.node, frame)
            else:
                self._rest.frames([frame])
        if self._link.dialled is None:
            self._copies.say(self._link)

    def down(self, reason: str) -> None:
        """Has what goes to an heir wait, if it was the link by which that goes."""
        self._rest.down(reason)
        if self._heirs is not None and self._link.dialled is not None:
            self._heirs.link_down(self._link.peer.node)
