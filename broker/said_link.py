"""A link to another node, as pure code sees it: what can be said over it, and to whom."""

from typing import Protocol

from infra.kernel.frames import Frame, Hello


class SaidLink(Protocol):
    """A link over which frames are said. `infra.runtime.link.Link` is one."""

    @property
    def peer(self) -> Hello:
        """The node at the other end."""

    @property
    def full(self) -> int:
        """How many times as much waits as may."""

    def knows(self, kind: type[Frame]) -> bool:
        """Returns whether the peer understands frames of this `kind`."""

    def send(self, frame: Frame) -> None:
        """Queues a frame."""
