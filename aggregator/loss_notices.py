"""Loss notices: which of their topics may lack something, and why, as access points are told."""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final, Protocol

from infra.kernel.frames import Lost
from infra.kernel.loss_reasons import LossReason
from infra.kernel.topics import Topic, kind_of
from infra.runtime.link import Link

from .core import AggregatorCore, Rows

# So many topics are looked at in one turn, to find those that may lack something.
LOST_AT_ONCE: Final = 4096


class NotedPoint(Protocol):
    """An access point that is told: its number, its link, and the handles of events that found no room on the way to it."""

    link: Link
    bit: int
    dropped: set[int]


class LossNotices:
    """The notices to the access points of one aggregator. Each hears of what it wants.

    - `core`: who wants what. `everyone`: the access points.
    - `kinds`: those that windows keep. Who follows others is told of no loss.
    """

    def __init__(self, core: AggregatorCore, everyone: Collection[NotedPoint]) -> None:
        self._core, self._everyone = core, everyone
        self.kinds: Collection[str] = ()

    def tell(self, topics: Iterable[bytes], reason: str) -> None:
        """Tells of these `topics`, at once."""
        masks, rows = self._core.interest.masks, self._core.interest.rows
        known = [(topic, rows[Topic(topic)]) for topic in topics if topic in rows]
        for point in self._everyone:
            mine = [topic for topic, row in known if masks[row] & 1 << point.bit]
            if mine and point.link.knows(Lost):
                point.link.send(Lost(mine, reason))

    def telling(self, reason: str, concerns: Callable[[Topic], bool], among: Collection[Topic] | None) -> Iterator[float]:
        """Tells of topics that `concerns` is true of, a part in each step. `among`: no others are looked at; None is all."""
        rows = self._core.interest.rows
        some = self._wanted() if among is None else [(rows[topic], topic) for topic in sorted(among) if topic in rows]
        yield from self._parts(reason, some, lambda row, topic: concerns(topic), None)

    def telling_dropped(self, point: NotedPoint) -> Iterator[float]:
        """Tells `point`, which reads again, of which topics something was dropped on the way to it, a part in each step."""
        if point not in self._everyone:
            return
        handles, dropped = self._core.interest.handles(point.bit), set(point.dropped)
        point.dropped.clear()
        yield from self._parts(
            LossReason.TOO_MUCH, self._wanted(), lambda row, topic: row < len(handles) and handles[row] in dropped, point
        )

    def _wanted(self) -> Rows:
        return list(self._core.wanted())

    def _parts(self, reason: str, among: Rows, concerns: Callable[[int, Topic], bool], only: NotedPoint | None) -> Iterator[float]:
        kinds, masks = self.kinds, self._core.interest.masks
        for start in range(0, len(among), LOST_AT_ONCE):
            some = [(row, topic) for row, topic in among[start : start + LOST_AT_ONCE] if kind_of(topic) in kinds and concerns(row, topic)]
            for point in self._everyone if some else ():
                mine: list[bytes] = [topic for row, topic in some if masks[row] & 1 << point.bit]
                if mine and only in (None, point) and point.link.knows(Lost):
                    point.link.send(Lost(mine, reason))
            yield 0.0
