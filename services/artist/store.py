"""The port of what artist monitoring remembers: which items were seen, and where the last run stands (spec 3.6)."""

from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple, Protocol

from ..follows import FollowStore
from .core import CatalogueItem, Standing


class Run(NamedTuple):
    """A run of the job, numbered from 1. The next start goes on with a run that has not finished, under its number."""

    number: int
    started_s: float
    finished: bool


class SeenItems(Protocol):
    """The items that were seen. One job calls it at a time. All methods may raise Unavailable; repeating them is safe."""

    async def last(self) -> Run | None:
        """Returns the newest run; None if there was none."""

    async def begin(self, now_s: float) -> Run:
        """Returns the unfinished run, or a new one that is durable when this returns. `now_s` is Unix time."""

    async def finish(self, run: Run) -> None:
        """Notes that the run is done. Artists that it met for the first time are known from now on."""

    async def standing(self, run: Run, items: Sequence[CatalogueItem]) -> list[Standing]:
        """Returns how each item stands, at the same position.

        Artists who were not known are remembered as first met in this run. So the answer is the same when an unfinished run goes on.
        """

    async def mark(self, items: Sequence[CatalogueItem]) -> None:
        """Notes that these items have been seen. That is durable when this returns."""


class ArtistStores(NamedTuple):
    """The stores of an artist monitoring service, all in one database."""

    seen: SeenItems
    follows: FollowStore
    close: Callable[[], Awaitable[None]]
