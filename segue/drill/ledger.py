"""The ledger of a drill: what was accepted and what arrived, and what follows from that. Pure; it knows nothing of the engine."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final, NamedTuple

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
    """Figures of a row; see `DrillPromise`. `accepted`: events; `refused`: those that no broker took; `delivered`: deliveries."""

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


class DrillLedger:
    """The ledger of one row. The events of a topic and site are sent one after the other.

    - `follows`: the topics of each follower.
    - `told`: how often a follower was told that something of a topic may be missing.
    - `unrecovered`: how often one came back and was not told that nothing is missing.
    """

    def __init__(self, follows: dict[str, frozenset[str]]) -> None:
        self.marked_s, self.told, self.unrecovered = 0.0, 0, 0
        self._follows = follows
        self._sent: list[tuple[Stream, float]] = []
        self._accepted: dict[int, None] = {}
        self._arrivals: dict[str, list[Arrival]] = {each: [] for each in follows}

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

    def outstanding(self) -> int:
        """Returns how many deliveries of accepted events have not arrived."""
        return sum(1 for _ in self._missing())

    def measured(self) -> DrillMeasured:
        """Returns what came of it so far."""
        counts = [Counter(each.n for each in arrivals) for arrivals in self._arrivals.values()]
        return DrillMeasured(
            accepted=len(self._accepted),
            refused=len(self._sent) - len(self._accepted),
            delivered=sum(len(each) for each in counts),
            missing=self.outstanding(),
            twice=sum(each.total() - len(each) for each in counts),
            out_of_order=sum(later.n < earlier.n for earlier, later in self._steps()),
            undetected=self._undetected(),
            told=self.told,
            again_s=max(0.0, round(max(self._bad_moments(), default=0.0) - self.marked_s, 2)),
            unrecovered=self.unrecovered,
            anew=sum(each.is_anew for arrivals in self._arrivals.values() for each in arrivals),
        )

    def _missing(self) -> Iterator[tuple[str, int]]:
        for follower, arrivals in self._arrivals.items():
            got = {each.n for each in arrivals}
            for n in self._accepted:
                if n not in got and self._sent[n][0][0] in self._follows[follower]:
                    yield follower, n

    def _steps(self) -> Iterator[tuple[Arrival, Arrival]]:
        """Yields what came one after the other to somebody of one topic and site.

        What no broker has accepted in time is passed over: the next event went to another broker, and nobody keeps the order of the two.
        """
        for arrivals in self._arrivals.values():
            for stream in _by_stream(each for each in arrivals if each.n in self._accepted):
                yield from pairwise(stream)

    def _undetected(self) -> int:
        """Returns how many events are missing between two of one epoch whose numbers do not show it."""
        hidden, missing = 0, defaultdict[tuple[str, Stream], list[int]](list)
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
                        hidden += max(0, lost - (later.seq - earlier.seq - 1))
        return hidden

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
