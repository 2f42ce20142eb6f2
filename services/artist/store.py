"""What artist monitoring remembers between runs: which items were seen, and where the last run stands (spec 3.6)."""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol

from ..follows import FollowStore
from .core import CatalogueItem, Standing


class Run(NamedTuple):
    """A run of the job: numbered from 1, started at a Unix time. What has not finished is gone on with under its number."""

    number: int
    started_s: float
    finished: bool


class SeenItems(Protocol):
    """Called by one job at a time. All methods may raise Unavailable; repeating them is safe."""

    async def last(self) -> Run | None:
        """The newest run; None if there was none."""

    async def begin(self, now_s: float) -> Run:
        """The unfinished run, or a new one that is durable when this returns."""

    async def finish(self, run: Run) -> None:
        """The run is done: artists that it met for the first time are known from now on."""

    async def standing(self, run: Run, items: Sequence[CatalogueItem]) -> list[Standing]:
        """How each item stands, at the same position. Artists who were not known are remembered as first met in this run,
        so that the answer is the same when an unfinished run is gone on with."""

    async def mark(self, items: Sequence[CatalogueItem]) -> None:
        """These items have been seen; durable when this returns."""


class ArtistStores(NamedTuple):
    """All that an artist monitoring service keeps, in one database."""

    seen: SeenItems
    follows: FollowStore
    close: Callable[[], Awaitable[None]]
