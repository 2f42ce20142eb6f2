"""A tap on a link: some kinds of frames are for another part of the role than the rest."""

from collections.abc import Callable
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
        """Passes the batch on. Frames that are tapped come first: nothing in the rest may rely on their place."""
        kinds = self._kinds
        if not kinds.isdisjoint(map(type, frames)):  # hardly ever: most batches are events
            for frame in frames:
                if type(frame) in kinds:
                    self._take(self._link, frame)
            frames = [frame for frame in frames if type(frame) not in kinds]
        if frames:
            self._rest.frames(frames)

    def down(self, reason: str) -> None:
        """Tells both."""
        try:
            if self._lost is not None:
                self._lost(self._link)
        finally:
            self._rest.down(reason)
