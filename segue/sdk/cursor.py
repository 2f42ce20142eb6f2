"""The positions of a client in its topics, which tell what it has missed, and from where it recovers. Pure.

Rule 1: numbers rise by one per (topic, origin site) within an epoch. The first number seen of a topic, site and epoch
fixes the position; what was before it is unknown and not counted.
Rule 2: positions outlive a connection only where the server recovers. Elsewhere a jump over a time of absence says nothing, for a broker
keeps no count of what nobody wants.
Rule 3: a skip is never taken for a loss (design 6). `skipped` counts events of the same topic and origin site that this
event has replaced, so it covers missing numbers right before this event and no others. Out of a window it may count such as the client
has got: of these the application is not told.
Rule 4: another epoch goes on from the one before it where `after` names the last number of that one (DPS-1). Where it does not, what
is missing cannot be counted. An epoch may hold again, with higher numbers: its topic has come back to the broker that had it before.
Rule 5: a position moves before its event is handed out. Where something may be missing, it is emptied, and the next event says so.
Rule 6: while a topic is recovered, what came already is known by (site, epoch, seq) and left out. At any other time a repetition is a
defect of the server, which is shown.
Rule 7: the answer to a recovery tells of losses. Until it is there, what has come of a site of which no number was known may stand behind
one, and nothing shows that. So such numbers are not said with the point.
"""

from collections.abc import Iterable, Mapping
from enum import Enum, auto
from typing import Final, NamedTuple

import msgspec

from segue.sdk.messages import Event

MAX_TOPICS: Final = 10_000
# Of one topic: sites with numbers, and epochs of a site that are remembered.
MAX_SITES: Final = 64
MAX_EPOCHS: Final = 4


class Number(NamedTuple):
    """A place in the events of a topic and origin site. Epoch and number are one value and replaced together."""

    epoch: int
    seq: int


Numbers = tuple[Number, ...]
"""The last numbers of a topic and origin site: the present epoch's first, then those of the epochs before it."""


class Position(NamedTuple):
    """The position in a topic: the `point` up to which it is whole, and the numbers of each of its `sites`."""

    point: str | None
    sites: dict[str, Numbers]

    def moved(self, event: Event) -> "Position":
        """Returns the position behind `event`."""
        return Position(self.point, self.sites | {event.site: _behind(self.sites.get(event.site, ()), event)})


class _Phase(Enum):
    AWAY = auto()
    ASKED = auto()
    LIVE = auto()


class _Cursor:
    """A topic of a client.

    - `sites`: its numbers; `point`: the point up to which it is whole.
    - `was_followed`: whether it was installed once, so that something can be missing.
    - `is_whole`: whether nothing is missing that the application was not told of by an event.
    - `is_recovered`: whether it was asked for from a position, and is not answered yet.
    - `firsts`: the first numbers of sites of which none was known, while no answer has said whether something is missing before them.
    - `moved`: the sites from which something came since it was asked for; `is_told`: whether one of these events said that something is
      missing.
    """

    __slots__ = ("firsts", "is_recovered", "is_told", "is_whole", "moved", "phase", "point", "sites", "was_followed")

    def __init__(self, phase: _Phase = _Phase.AWAY) -> None:
        self.phase = phase
        self.point: str | None = None
        self.sites: dict[str, Numbers] = {}
        self.moved: set[str] = set()
        self.firsts: dict[str, Number] = {}
        self.was_followed = self.is_recovered = self.is_told = False
        self.is_whole = True

    @property
    def can_miss(self) -> bool:
        return self.was_followed or bool(self.sites)

    def enter(self, phase: _Phase) -> None:
        self.phase = phase
        self.is_recovered = phase is _Phase.ASKED and (self.point is not None or bool(self.sites))
        self.is_told = False
        self.moved = set()

    def empty(self) -> None:
        """Empties the position, except for what has come since the topic was asked for: that stands behind what is missing."""
        self.point = None
        self.sites = {site: numbers for site, numbers in self.sites.items() if site in self.moved}
        self.firsts = {}
        self.is_whole = self.is_told

    @property
    def position(self) -> Position | None:
        """The position that can be said; None where there is none."""
        sites = {site: numbers for site, numbers in self.sites.items() if site not in self.firsts}
        return Position(self.point, sites) if self.point or sites else None

    def has(self, event: Event) -> bool:
        return _is_late(self.sites.get(event.site, ()), event)

    def pass_over(self, event: Event) -> None:
        """Notes that `event` is not handed out, since later ones were. If it had not come itself, the next one says so."""
        first = self.firsts.get(event.site)
        self.is_whole = self.is_whole and not (first is not None and event.epoch == first.epoch and event.seq < first.seq)

    def counted(self, event: Event) -> tuple[int | None, int]:
        """Returns how many events are missing before `event`, None where nobody can count them, and how many it has replaced that have not
        come, as far as that can be counted.
        """
        numbers = self.sites.get(event.site)
        missing = missing_between(numbers, event) if numbers else event.skipped  # of what was before the first one nothing is known
        gap = max(0, missing - event.skipped) if self.is_whole and missing is not None else None
        self.is_whole = True
        return gap, event.skipped if missing is None else min(event.skipped, missing)

    def move(self, event: Event) -> None:
        if event.site not in self.sites and len(self.sites) >= MAX_SITES:
            del self.sites[gone := next(iter(self.sites))]
            self.firsts.pop(gone, None)
        self.sites[event.site] = _behind(self.sites.get(event.site, ()), event)


class Cursors:
    """The positions of one client, over all its connections."""

    def __init__(self) -> None:
        self._topics: dict[str, _Cursor] = {}

    def take(self, event: Event) -> Event | None:
        """Moves past `event`. Returns it with its gap; None if it came already, before the topic was recovered."""
        cursor = self._topics.get(event.topic)
        if cursor is None:
            if len(self._topics) >= MAX_TOPICS:
                return msgspec.structs.replace(event, gap=None)
            cursor = self._topics[event.topic] = _Cursor(_Phase.LIVE)
        if cursor.is_recovered and cursor.has(event):
            cursor.pass_over(event)
            return None
        if cursor.is_recovered and event.site not in cursor.sites:
            cursor.firsts[event.site] = Number(event.epoch, event.seq)
        gap, skipped = cursor.counted(event)
        cursor.move(event)
        if cursor.phase is _Phase.ASKED:
            cursor.moved.add(event.site)
            cursor.is_told |= gap != 0
        return msgspec.structs.replace(event, gap=gap, skipped=skipped, replayed=cursor.is_recovered)

    def position(self, topic: str) -> Position | None:
        """Returns from where `topic` is to be recovered; None where nothing is known, or where it is recovered already."""
        cursor = self._topics.get(topic)
        return cursor.position if cursor is not None and cursor.phase is _Phase.AWAY else None

    def is_away(self, topic: str) -> bool:
        """Returns whether `topic` is neither followed now, nor asked for."""
        cursor = self._topics.get(topic)
        return cursor is None or cursor.phase is _Phase.AWAY

    def ask(self, topics: Iterable[str]) -> set[str]:
        """Notes that `topics` are asked for, from their positions. Returns those of which something can be missing."""
        away = self._away(topics)
        for cursor in away.values():
            cursor.enter(_Phase.ASKED)
        return {topic for topic, cursor in away.items() if cursor.can_miss}

    def begin(self, topics: Iterable[str]) -> set[str]:
        """Notes that `topics` are asked for where nothing recovers them. Returns those of which something may be missing."""
        away = self._away(topics)
        missed = {topic for topic, cursor in away.items() if cursor.can_miss}
        for cursor in away.values():
            cursor.enter(_Phase.LIVE)
        self.empty(missed)
        return missed

    def _away(self, topics: Iterable[str]) -> dict[str, _Cursor]:
        found = {topic: self._topics.setdefault(topic, _Cursor()) for topic in topics}
        return {topic: cursor for topic, cursor in found.items() if cursor.phase is _Phase.AWAY}

    def settle(self, topics: Iterable[str], lost: Iterable[str]) -> None:
        """Notes that `topics` are followed now, and that something may be missing of those that are `lost`."""
        for cursor in self._known(lost):
            cursor.empty()
        for cursor in self._known(topics):
            cursor.was_followed, cursor.firsts = True, {}
            cursor.enter(_Phase.LIVE)

    def empty(self, topics: Iterable[str]) -> None:
        """Empties the positions of `topics`, of which something may be missing. The next event of each says so."""
        for cursor in self._known(topics):
            cursor.enter(cursor.phase)
            cursor.empty()

    def retreat(self, topics: Iterable[str]) -> None:
        """Notes that `topics` are not followed now; they are asked for again later."""
        for cursor in self._known(topics):
            cursor.enter(_Phase.AWAY)

    def _known(self, topics: Iterable[str]) -> list[_Cursor]:
        return [self._topics[topic] for topic in topics if topic in self._topics]

    def reach(self, point: str) -> None:
        """Notes that everything up to `point` has come, of all topics that are followed now."""
        for cursor in self._topics.values():
            if cursor.phase is _Phase.LIVE:
                cursor.point = point

    def disconnect(self) -> None:
        """Notes the end of the connection."""
        self._topics = {topic: cursor for topic, cursor in self._topics.items() if cursor.can_miss}
        self.retreat(self._topics)

    def forget(self, topics: Iterable[str]) -> None:
        """Forgets `topics`, which are not followed any more. Following one again begins anew."""
        for topic in topics:
            self._topics.pop(topic, None)

    def snapshot(self) -> dict[str, Position]:
        """Returns all positions as they are now."""
        return {topic: position for topic, each in self._topics.items() if (position := each.position) is not None}

    def restore(self, positions: Mapping[str, Position]) -> None:
        """Begins with `positions`, which another process has kept."""
        for topic, position in positions.items():
            cursor = self._topics[topic] = _Cursor()
            cursor.point, cursor.sites, cursor.was_followed = position.point, dict(position.sites), True

    def __contains__(self, topic: str) -> bool:
        return topic in self._topics

    def __len__(self) -> int:
        return len(self._topics)


def missing_between(numbers: Numbers, event: Event) -> int | None:
    """Returns how many events are missing between the last of `numbers` and `event`; None where nobody can count them."""
    last = numbers[0]
    if event.epoch == last.epoch:
        return max(0, event.seq - last.seq - 1)
    if _is_late(numbers, event):
        return 0
    if event.after is not None and event.after[0] == last.epoch:
        return max(0, event.after[1] - last.seq)
    return None


def _behind(numbers: Numbers, event: Event) -> Numbers:
    """Returns `numbers` with that of `event`, which turns none of them back. What it goes on behind is late from now on."""
    if _is_late(numbers, event):
        return numbers
    before, last = event.after or (None, 0)
    former = (Number(epoch, max(seq, last) if epoch == before else seq) for epoch, seq in numbers if epoch != event.epoch)
    return (Number(event.epoch, event.seq), *former)[:MAX_EPOCHS]


def _is_late(numbers: Numbers, event: Event) -> bool:
    """Tells whether `event` was before what has come since. A higher number of a former epoch is not: that epoch holds again."""
    return any(event.epoch == epoch and event.seq <= seq for epoch, seq in numbers)
