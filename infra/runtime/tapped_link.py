"""A tap on a link: some kinds of frames are for another part of the role than the rest."""

from collections.abc import Callable
from itertools import groupby
from typing import TypeAlias

from infra.kernel.frames import AnyFrame, Frame

from .link import Link
from .link_handlers import LinkHandler

# `take(link, frame)`: raises `Refused` for what the peer may not say.
Take: TypeAlias = Callable[[Link, AnyFrame], None]


class TappedLink:
    """The handler of a link whose frames of some `kinds` go to `take`, and all others to `rest`. `lost(link)`, if given, is called when
    the link is gone."""

    __slots__ = ("_kinds", "_link", "_lost", "_rest", "_take")

    def __init__(
        self,
        link: Link,
        rest: LinkHandler,
        kinds: tuple[type[Frame], ...],
        take: Take,
        lost: Callable[[Link], None] | None = None,
    ) -> None:
        self._link, self._rest, self._kinds, self._take, self._lost = link, rest, frozenset(kinds), take, lost

    def frames(self, frames: list[AnyFrame]) -> None:
        """Passes the batch on, each frame in its place: what came before may say under which view it counts."""
        kinds = self._kinds
        if kinds.isdisjoint(map(type, frames)):  # nearly always: most batches are events
            self._rest.frames(frames)
            return
        for is_tapped, some in groupby(frames, lambda frame: type(frame) in kinds):
            if not is_tapped:
                self._rest.frames(list(some))
                continue
            for frame in some:
                self._take(self._link, frame)

    def down(self, reason: str) -> None:
        """Tells both."""
        try:
            if self._lost is not None:
                self._lost(self._link)
        finally:
            self._rest.down(reason)
