"""Asker: an access point that asks an aggregator what was missed."""

from typing import Protocol

from infra.kernel.outlet import Outlet


class Asker(Protocol):
    """One access point, as far as its questions go. `link` is the way of the answers."""

    @property
    def link(self) -> Outlet:
        """The way of frames to it."""
