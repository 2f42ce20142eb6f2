"""The ledger: what was published, what arrived where, and whether the two agree (pure).

While a run lasts it only counts, because it is on the generator's hot path; the exact matching, each delivery to its
publication and its subscriber, is done afterwards by `audit`.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import msgspec

from .stamp import NUMBERS

# A delivery in the log: the client above, the publication below.
_NUMBER_BITS: Final = 34
_NUMBER_MASK: Final = (1 << _NUMBER_BITS) - 1

# One read of one client: its number, when (microseconds), the stamps found.
Arrival = tuple[int, int, list[bytes]]


class Audit(msgspec.Struct, frozen=True, kw_only=True):
    """The truth about a run. A delivery nobody was to get is `misrouted`, a second one `duplicated`."""

    expected: int
    lost: int
    duplicated: int
    misrouted: int


class DeliveryLedger:
    """`fanout[topic]`: how many deliveries a publication on it must have.

    While `measuring`, `latencies_us` grows; while `sampling`, so does `due_us`, the publication times of the same deliveries.
    """

    def __init__(self, fanout: Sequence[int]) -> None:
        self.topics: list[int] = []
        self.expected = self.delivered = self.completed = 0
        self.latencies_us = array("I")
        self.due_us = array("Q")
        self.measuring = self.sampling = False
        self._fanout = fanout
        self._left: list[int] = []
        self._log = array("Q")

    @property
    def published(self) -> int:
        """Publications so far; also the number of the next one."""
        return len(self.topics)

    @property
    def in_flight(self) -> int:
        """Publications whose deliveries have not all arrived."""
        return len(self.topics) - self.completed

    def publish(self, topic: int) -> int:
        """Notes that a publication goes out; returns its number."""
        number, want = len(self.topics), self._fanout[topic]
        self.topics.append(topic)
        self._left.append(want)
        self.expected += want
        if not want:
            self.completed += 1
        return number

    def settle(self, arrivals: Iterable[Arrival]) -> None:
        """Counts what has arrived."""
        left, known, measuring, sampling = self._left, len(self._left), self.measuring, self.sampling
        log, latency, due = self._log.append, self.latencies_us.append, self.due_us.append
        completed = delivered = 0
        for client, now_us, stamps in arrivals:
            delivered += len(stamps)
            key = client << _NUMBER_BITS
            for stamp in stamps:
                at_us, number = divmod(int(stamp), NUMBERS)
                log(key | number)
                if number < known:
                    rest = left[number] = left[number] - 1
                    if not rest:
                        completed += 1
                if measuring:
                    latency(now_us - at_us)
                if sampling:
                    due(at_us)
        self.delivered += delivered
        self.completed += completed

    def forgive(self) -> None:
        """Gives up what is in flight, and lets the loop go on without it."""
        self.completed = len(self.topics)

    def audit(self, follows: Sequence[AbstractSet[int]], spoken: Mapping[int, int] | None = None) -> Audit:
        """Matches every delivery. `spoken`: publication -> topic, where another generator published."""
        spoken = dict(enumerate(self.topics)) if spoken is None else spoken
        seen: set[int] = set()
        duplicated = misrouted = 0
        for key in self._log:
            if spoken.get(key & _NUMBER_MASK) not in follows[key >> _NUMBER_BITS]:
                misrouted += 1
            elif key in seen:
                duplicated += 1
            else:
                seen.add(key)
        expected = sum(self._fanout[topic] for topic in spoken.values())
        return Audit(expected=expected, lost=expected - len(seen), duplicated=duplicated, misrouted=misrouted)
