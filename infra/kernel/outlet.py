"""The way of frames to another node, as pure code sees it."""

from typing import Protocol

from .frames import Frame


class Outlet(Protocol):
    """The way of frames to one node. They arrive in order, or not at all."""

    def send(self, frame: Frame) -> None:
        """Queues `frame`. It never blocks."""
