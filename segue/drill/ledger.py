"""The ledger of a drill: what was accepted and what arrived, and what follows from that. Pure; it knows nothing of the engine."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from .tellings import Followed, Telling

# What comes later than this counts as not served.
LATE_S: Final = 1.0
Stream = tuple[str, str]


class Arrival(NamedTuple):
    """An event that a follower got. `stream`: its topic and site; `n`: which event it is; `is_anew`: nobody can say what came before it."""

    stream: Stream
    epoch: int
    seq: int
    skipped: int
    n: int
    at_s: float
    is_anew: bool = False


class DrillMeasured(NamedTuple):
    """Figures of a row; see `DrillPromise`.

    - `accepted`: events; `refused`: those that no broker took. `delivered`: deliveries.
    - `due`: how many followers were to be told of how many topics.
    """

    accepted: int
    refused: int
    delivered: int
    missing: int
    twice: int
    out_of_order: int
    undetected: int
    told: int
    again_s: float
    unrecovered: int = 0
    anew: int = 0
    uncounted: int = 0
    untold: int = 0
    mistold: int = 0
    answer_s: float = 0.0
    memory: float = 0.0
    due: int = 0


class DrillLedger:
    """The ledger of one row. The events of a topic and site are sent one after the other.

    - `follows`: the topics of each follower.
    - `unrecovered`: how often one came back and was not told that nothing is missing; `answer_s`: how long an answer took at most.
    - `memory`: what the fullest window takes, in percent of what it may.
    - `tellings`: what followers were told of losses.
    """

    def __init__(self, follows: dict[str, frozenset[str]]) -> None:
        self.unrecovered, self.answer_s, self.memory = 0, 0.0, 0.0
        self._marks: list[float] = []
        self.tellings: list[Telling] = []
        self.follows = follows
        self._due, self._reason, self._within_s = frozenset[Followed](), "", 0.0
        self._back_s: dict[str, float] = {}
        self._sent: list[tuple[Stream, float]] = []
        self._accepted: dict[int, None] = {}
        self._arrivals: dict[str, list[Arrival]] = {each: [] for each in follows}

    def mark(self, at_s: float) -> None:
        """Has what is measured from a moment on be measured from now on. The first time is before anything goes wrong.

        What is told counts from the second time on: it may be before all is as it was again.
        """
        self._marks.append(at_s)

    @property
    def _marked_s(self) -> float:
        return self._marks[-1] if self._marks else 0.0

    @property
    def _begun_s(self) -> float:
        return self._marks[:2][-1] if self._marks else 0.0

    def sent(self, topic: str, site: str, at_s: float) -> int:
        """Returns the number of an event that is about to be published."""
        self._sent.append(((topic, site), at_s))
        return len(self._sent) - 1

    def accepted(self, n: int) -> None:
        """Notes that a broker has accepted event `n`."""
        self._accepted[n] = None

    def arrived(self, follower: str, arrival: Arrival) -> None:
        """Notes that `follower` got an event."""
        self._arrivals[follower].append(arrival)

    def expect(self, due: frozenset[Followed], reason: str, within_s: float) -> None:
        """Notes what is to be told from the mark on: of what, and to whom (`due`), why, and in how many seconds."""
        self._due, self._reason, self._within_s = due, reason, within_s

    def back(self, follower: str, at_s: float, answer_s: float, *, is_recovered: bool) -> None:
        """Notes that somebody who was away has come back.

        - `at_s`: when. `answer_s`: how long the answer took. `is_recovered`: whether they were told that nothing is missing.
        """
        self._back_s[follower] = at_s
        self.answer_s = max(self.answer_s, round(answer_s, 2))
        self.unrecovered += not is_recovered

    def outstanding(self) -> int:
        """Returns how many deliveries of accepted events have not arrived."""
        return sum(1 for _ in self._missing())

    def measured(self) -> DrillMeasured:
        """Returns what came of it so far."""
        missing, hidden, counted = self.outstanding(), *self._numbered()
        right = {each[:2] for each in self.tellings if self._is_right(each)}
        counts = [Counter(each.n for each in arrivals) for arrivals in self._arrivals.values()]
        return DrillMeasured(
            accepted=len(self._accepted),
            refused=len(self._sent) - len(self._accepted),
            delivered=sum(len(each) for each in counts),
            missing=missing,
            twice=sum(each.total() - len(each) for each in counts),
            out_of_order=sum(later.n < earlier.n for earlier, later in self._steps()),
            undetected=hidden,
            told=len(self.tellings),
            again_s=max(0.0, round(max(self._bad_moments(), default=0.0) - self._marked_s, 2)),
            unrecovered=self.unrecovered,
            anew=sum(each.is_anew for arrivals in self._arrivals.values() for each in arrivals),
            uncounted=missing - counted,
            untold=len(self._due - right),
            mistold=sum(each.at_s >= self._begun_s and not self._is_due(each) for each in self.tellings),
            answer_s=self.answer_s,
            memory=self.memory,
            due=len(self._due),
        )

    def _is_due(self, telling: Telling) -> bool:
        return telling[:2] in self._due and telling.reason == self._reason

    def _is_right(self, telling: Telling) -> bool:
        """Returns whether it is due, and came in time."""
        from_s = max(self._marked_s, self._back_s.get(telling.follower, 0.0))
        return self._is_due(telling) and self._begun_s <= telling.at_s <= from_s + self._within_s

    def _missing(self) -> Iterator[tuple[str, int]]:
        for follower, arrivals in self._arrivals.items():
            got = {each.n for each in arrivals}
            for n in self._accepted:
                if n not in got and self._sent[n][0][0] in self.follows[follower]:
                    yield follower, n

    def _steps(self) -> Iterator[tuple[Arrival, Arrival]]:
        """Yields what came one after the other to somebody of one topic and site.

        What no broker has accepted in time is passed over: the next event went to another broker, and nobody keeps the order of the two.
        """
        for arrivals in self._arrivals.values():
            for stream in _by_stream(each for each in arrivals if each.n in self._accepted):
                yield from pairwise(stream)

    def _numbered(self) -> tuple[int, int]:
        """Returns how many events are missing between two of one epoch whose numbers do not show it, and how many numbers do show."""
        hidden, counted, missing = 0, 0, defaultdict[tuple[str, Stream], list[int]](list)
        for follower, n in self._missing():
            missing[follower, self._sent[n][0]].append(n)
        for each in missing.values():
            each.sort()
        for follower, arrivals in self._arrivals.items():
            for stream in _by_stream(arrivals):
                gone = missing[follower, stream[0].stream]
                for earlier, later in pairwise(stream):
                    lost = bisect_left(gone, later.n) - bisect_right(gone, earlier.n)
                    if earlier.epoch == later.epoch:
                        shown = later.seq - earlier.seq - 1
                        hidden, counted = hidden + max(0, lost - shown), counted + min(lost, shown)
        return hidden, counted

    def _bad_moments(self) -> Iterator[float]:
        """Yields when somebody was not served: when what never came was sent, and when what was late came."""
        yield from (self._sent[n][1] for _, n in self._missing())
        yield from (sent_s for n, (_, sent_s) in enumerate(self._sent) if n not in self._accepted)
        for arrivals in self._arrivals.values():
            late = (each for each in arrivals if each.at_s > self._sent[each.n][1] + LATE_S)
            yield from (each.at_s for each in late if each.n in self._accepted)


def _by_stream(arrivals: Iterable[Arrival]) -> Iterable[list[Arrival]]:
    streams: dict[Stream, list[Arrival]] = defaultdict(list)
    for each in arrivals:
        streams[each.stream].append(each)
    return streams.values()
