"""Barring: access points that have asked who may see what are told which answers hold no longer, at once. Pure."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final, NamedTuple

from infra.kernel.frames import NOBODY, Barred
from infra.kernel.outlet import Outlet

AT_ONCE: Final = 1000
EVERYBODY: Final = NOBODY


class BarredPair(NamedTuple):
    """Topics of `owner`, as far as `asker` asks about them (`EVERYBODY`: whoever does)."""

    owner: str
    asker: str


def both_ways(user: str, other: str) -> list[BarredPair]:
    """Returns the pairs of two users whose relation changes: each is an owner, and each asks."""
    return [BarredPair(user, other), BarredPair(other, user)]


class Barring:
    """The links to tell. `told` counts pairs that were told, whatever the number of links."""

    def __init__(self) -> None:
        self.told = 0
        self._links: set[Outlet] = set()

    def add(self, link: Outlet) -> None:
        """Notes that the peer of `link` remembers what it was answered. A peer of before never asks, and is told nothing."""
        self._links.add(link)

    def remove(self, link: Outlet) -> None:
        """Forgets a link that is down: the access point asks again when it is back."""
        self._links.discard(link)

    @contextmanager
    def telling(self, pairs: Sequence[BarredPair]) -> Iterator[None]:
        """Tells all about `pairs` when the block of code ends, also with an error: the change may have been made all the same."""
        try:
            yield
        finally:
            self.tell(pairs)

    def tell(self, pairs: Sequence[BarredPair]) -> None:
        """Tells all that what was answered of `pairs` holds no longer."""
        self.told += len(pairs)
        for start in range(0, len(pairs), AT_ONCE):
            some = pairs[start : start + AT_ONCE]
            frame = Barred([pair.owner for pair in some], [pair.asker for pair in some])
            for link in self._links:
                link.send(frame)
