"""A node that is told which topics are wanted (`announcer`): what it was sent, and what of that it has done. Pure."""

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from typing import Final

from .outlet import Outlet
from .topics import Topic

# So many topics are remembered as fresh for a node without a link, and as undelivered.
MAX_FRESH: Final = 1 << 20


class AnnouncedNode:
    """One node of the announced site.

    - `sent`: the number of the last change that it was sent. Numbers never start again, not even on a new link.
    - `done`: up to which change it has done them, on this link.
    - `applied`: for each site, up to which change they are installed there, as this link has told.
    - `open`: changes with topics that are new to it, and that it has not said to be done.
    - `fresh`: topics that were new to it, or to another node, when its link broke, or are wanted since; None before a link broke. One that
      moves to it then has come by another way before.
    - `begun`: what was fresh when its link began. Of that it gives only what it publishes from then on.
    - `undelivered`: topics that were new to a former process of it, or are wanted since that was gone; None where no heir has anything of
      that one any more. Another process that says to deliver them has nothing of what the former one had.
    """

    __slots__ = ("applied", "begun", "done", "fresh", "open", "outlet", "sent", "undelivered")

    def __init__(self) -> None:
        self.sent = 0
        self.undelivered: set[Topic] | None = None
        self.outlet: Outlet | None = None
        self.open: deque[tuple[int, Sequence[Topic]]] = deque()
        self.fresh: set[Topic] | None = None
        self.begun: set[Topic] = set()
        self._begin()

    def up(self, outlet: Outlet, *, is_other: bool = False) -> set[Topic]:
        """Goes on over a new link, `is_other`: to another process. Returns what was fresh."""
        fresh, self.fresh = self.fresh or set(), None
        self.begun = fresh
        if is_other:
            self.undelivered = fresh | (self.undelivered or set())
        self.outlet = outlet
        self._begin()
        return fresh

    def down(self) -> None:
        """Goes on without a link."""
        if self.outlet is not None:
            self.fresh = {topic for _, topics in self.open for topic in topics}
        self.outlet = None
        self._begin()

    def _begin(self) -> None:
        # A new link gets everything under new numbers, so what the old one has answered says nothing any more.
        self.done = 0
        self.applied: dict[str, int] = {}
        self.open.clear()

    def unanswered(self, *, is_lost: bool) -> set[Topic]:
        """Returns the topics that were new to it, and that it has not said to be done. Where `is_lost`, its former process counts, too."""
        former = self.undelivered if is_lost and self.undelivered is not None else ()
        return (self.fresh or set()).union(former, *(topics for _, topics in self.open))

    def told(self, topics: Sequence[Topic]) -> None:
        """Notes that the last change had `topics`, which are new to the node."""
        if self.outlet is not None:
            self.open.append((self.sent, topics))
        elif self.fresh is not None:
            self.fresh.update(topics)

    def refresh(self, topics: Collection[Topic]) -> None:
        """Notes that `topics` are new to this node or to another one."""
        for known in (self.fresh, self.undelivered):
            if known is not None and len(known) < MAX_FRESH:
                known.update(topics)

    def close(self, topics: Iterable[Topic]) -> None:
        """Notes that `topics` are not wanted any more."""
        for known in (self.fresh, self.undelivered):
            if known is not None:
                known.difference_update(topics)
