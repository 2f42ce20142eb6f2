"""What it takes to come back to a server: the dialects of those who ask for what they missed, where they were, and what they miss."""

from collections.abc import Sequence
from typing import Protocol

from ..dialects import Dialect


class RecoveringDialect(Dialect, Protocol):
    """The dialect of clients that recover. `recovered` counts who was told so, `replayed` what they got before they were ready."""

    recovered: int
    replayed: int


class Returning(Protocol):
    """One server that clients come back to."""

    def plain(self) -> Dialect:
        """Returns the dialect of clients that do not recover."""

    def staying(self) -> Dialect:
        """Returns the dialect of clients that will recover later."""

    def recovering(self) -> RecoveringDialect:
        """Returns the dialect of clients that go on from where `mark` was."""

    async def mark(self) -> None:
        """Notes where all clients are. Raises TimeoutError."""

    async def publish(self, topics: Sequence[str]) -> None:
        """Publishes an event on each of `topics`; returns when the server has them. Raises what the connection raises."""
