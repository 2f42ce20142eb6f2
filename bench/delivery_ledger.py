"""The ledger: what was published, what arrived where, and whether the two agree (pure).

It is on the generator's hot path, so it only counts while a run lasts. Afterwards `audit` matches each delivery with its
publication and its subscriber.
"""

from array import array
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Final

import msgspec

from .stamp import NUMBERS

# A delivery in the log is one integer of 64 bits: the client's number in the upper 30, the publication's in the lower 34.
_NUMBER_BITS: Final = 34
_NUMBER_MASK: Final = (1 << _NUMBER_BITS) - 1

# One read of one client: the client's number, the time (microseconds), the stamps that were found.
Arrival = tuple[int, int, list[bytes]]


class Audit(msgspec.Struct, frozen=True, kw_only=True):
    """The deliveries of a run, matched.

    - `expected`: deliveries that were due.
    - `lost`: due, and never came.
    - `duplicated`: came to the same client before.
    - `misrouted`: came to a client that does not follow the topic, or belong to no publication.
    """

    expected: int
    lost: int
    duplicated: int
    misrouted: int


class DeliveryLedger:
    """A count of publications and deliveries. `fanout[topic]` is the number of deliveries that a publication on the topic must have.

    - `measuring`: latencies are noted in `latencies_us`.
    - `sampling`: the times at which the same publications were due are noted in `due_us`.
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
        """The number of publications so far; also the number of the next one."""
        return len(self.topics)

    @property
    def in_flight(self) -> int:
        """The publications whose deliveries have not all arrived."""
        return len(self.topics) - self.completed

    def publish(self, topic: int) -> int:
        """Notes a publication on `topic` and returns its number."""
        number, want = len(self.topics), self._fanout[topic]
        self.topics.append(topic)
        self._left.append(want)
        self.expected += want
        if not want:
            self.completed += 1
        return number

    def settle(self, arrivals: Iterable[Arrival]) -> None:
        """Counts what has arrived."""
        # Everything is bound to locals, and nothing is called but appends: this runs for each delivery.
        left, known, measuring, sampling = self._left, len(self._left), self.measuring, self.sampling
        log, latency, due = self._log.append, self.latencies_us.append, self.due_us.append
        completed = delivered = 0
        for client, now_us, stamps in arrivals:
            delivered += len(stamps)
            key = client << _NUMBER_BITS
            for stamp in stamps:
                at_us, number = divmod(int(stamp), NUMBERS)
                log(key | number)
                # Another generator may have published this number; then only `audit` can match it.
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
        """Counts everything in flight as complete, so that a closed loop goes on although deliveries are lost."""
        self.completed = len(self.topics)

    def audit(self, follows: Sequence[AbstractSet[int]], spoken: Mapping[int, int] | None = None) -> Audit:
        """Matches every delivery.

        - `follows`: by client, the topics that it follows.
        - `spoken`: by number of a publication, its topic; given where another generator published.
        """
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
