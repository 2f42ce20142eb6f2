"""Topics that move to other nodes with a change of the ring: who has to be told of them, a part at a time. Pure.

With a million topics, one step of the ring moves tens of thousands. To announce them all at once would hold up everything else for a
tenth of a second and more.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence, Set
from typing import Final, Protocol

from .frames import View
from .move_pace import AWAITED_S, UNAWAITED_S, MovePace, has_time
from .ring import Ring, hashes64
from .topics import Topic

Told = dict[str, int]
"""Slot -> number of the last change sent to it."""
Rows = list[tuple[int, Topic]]
# So many topics are withdrawn from former owners at once.
WITHDRAWN_AT_ONCE: Final = 1024
# How long to pause for each topic that is announced, or withdrawn.
ANNOUNCED_PAUSE_S: Final = 8e-6
WITHDRAWN_PAUSE_S: Final = 25e-6


class WantedByCell(Protocol):
    """Whoever keeps the cell of the ring for each row that is wanted: a change of the ring is about few of a million."""

    def wanted_in(self, cells: bytes) -> Iterator[Rows]:
        """Yields, in parts, at least all wanted (row, topic) whose cell is 1 in `cells`, and those whose cell is not known.

        What is wanted may change between two parts. Then no later part has what is not wanted any more. It need not have what is new.
        """

    def note_cells(self, pairs: Sequence[tuple[int, Topic]], hashes: Sequence[int]) -> None:
        """Takes down the cells of rows whose topics have these `hashes`."""


class WantedInAll:
    """The rows of whoever keeps no cells: all that are `wanted`, in one part."""

    def __init__(self, wanted: Callable[[], Iterable[tuple[int, Topic]]]) -> None:
        self._wanted = wanted

    def wanted_in(self, cells: bytes) -> Iterator[Rows]:
        """Yields everything that is wanted."""
        yield list(self._wanted())

    def note_cells(self, pairs: Sequence[tuple[int, Topic]], hashes: Sequence[int]) -> None:
        """Does nothing."""


class MovingPart:
    """A part of what moves: `goes` and `news` are what each slot has to be told of. The `news` are new to it, the rest is not."""

    __slots__ = ("goes", "news")

    def __init__(self) -> None:
        self.goes: dict[str, Rows] = {}
        self.news: dict[str, Rows] = {}


class MovingTopics:
    """The topics whose owner on the ring `after` is another one than on `before`, while the new ones are told of them.

    - `rows`: what is wanted.
    - `unanswered`: slot -> topics that it has not said to deliver. They are new to the next owner, too.
    - `at_once`: whether all are in one part.
    - `former`: the slots from which anything goes. `gone`: what has gone from them, as far as the new owners have been told.
    - `has_time`: whether the step may take longer. `pause_s`: how long to pause behind the last part.
    """

    def __init__(
        self, before: Ring, after: Ring, rows: WantedByCell, unanswered: Mapping[str, Set[Topic]], *, at_once: bool = False
    ) -> None:
        self._step, self._rows, self._unanswered = before.step(after), rows, unanswered
        self.former = {slot for slot, _ in self._step.moves if slot is not None}
        self.gone: dict[str, list[Topic]] = {}
        self.has_time = has_time(before, after)
        self.pause_s, self._pace = 0.0, MovePace(ANNOUNCED_PAUSE_S, AWAITED_S if self.has_time else 0.0)
        parts = rows.wanted_in(before.moved_cells(after))
        self._parts = iter([[pair for part in parts for pair in part]]) if at_once else parts

    def next_part(self) -> MovingPart | None:
        """Returns the next part; None when there is none."""
        pairs = next(self._parts, None)
        if pairs is None:
            return None
        hashes = hashes64([topic for _, topic in pairs])
        self._rows.note_cells(pairs, hashes)
        moved: list[Rows] = [[] for _ in self._step.moves]
        for pair, at in zip(pairs, self._step.moving(hashes), strict=True):
            if at >= 0:
                moved[at].append(pair)
        part = MovingPart()
        for (old, new), some in zip(self._step.moves, moved, strict=True):
            if some and new is not None:
                self._divide(part, some, new, self._unanswered.get(old or "", ()))
            if some and old is not None:
                self.gone.setdefault(old, []).extend([topic for _, topic in some])
        self.pause_s = self._pace.after(sum(map(len, moved)))
        return part

    def _divide(self, part: MovingPart, some: Rows, new: str, unanswered: Collection[Topic]) -> None:
        """Adds what goes to `new`: it is news as far as its former owner has not said to deliver it."""
        goes = [pair for pair in some if pair[1] not in unanswered] if unanswered else some
        if goes:
            part.goes.setdefault(new, []).extend(goes)
        if len(goes) < len(some):
            part.news.setdefault(new, []).extend(pair for pair in some if pair[1] in unanswered)


class PartingTopics:
    """Topics that have moved under `view`, while their former owners still serve them.

    - `mark`: when it is reached again at `sites`, where it was reached before the move, the former owners are asked.
    - `beat`: the heartbeat at which the move began.
    - `topics`: slot of the former owner -> topics.
    - `asked`: the changes whose answers come behind the last events; None before anybody was asked.
    - `is_over`: whether they are withdrawn from the former owners by now, a part at a time.
    - `has_time`: whether that may take longer. `pause_s`: how long to pause behind the last part.
    """

    __slots__ = ("_pace", "asked", "beat", "is_over", "mark", "pause_s", "sites", "topics", "view")

    def __init__(
        self, mark: int, sites: list[str], beat: int, topics: dict[str, list[Topic]], view: View, *, has_time: bool = False
    ) -> None:
        self.mark, self.sites, self.beat, self.topics, self.view = mark, sites, beat, topics, view
        self.asked: Told | None = None
        self.is_over = False
        self.pause_s, self._pace = 0.0, MovePace(WITHDRAWN_PAUSE_S, UNAWAITED_S if has_time else 0.0)

    def next_part(self, view: View, ring: Ring) -> tuple[str, list[Topic]]:
        """Returns a former owner, and some of its topics that are not its own on the `ring` of the `view` that holds. Some must be left."""
        slot, left = next(iter(self.topics.items()))
        some = left[-WITHDRAWN_AT_ONCE:]
        del left[-WITHDRAWN_AT_ONCE:]  # from the end: to cut a list there moves nothing
        if not left:
            del self.topics[slot]
        self.pause_s = self._pace.after(len(some))
        # A topic may have come back to its former owner in a later view: there it is wanted again.
        return slot, some if view is self.view else [topic for topic in some if ring.owner(topic) != slot]
