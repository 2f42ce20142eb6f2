"""The oracle: what the demo must deliver, computed from the graph alone, and a ledger of what it did deliver.

Rule: this file imports nothing of the engine, and nothing of ours that the engine imports. It is the second opinion.

Every event of a user is expected once at each connected follower of that user, and nowhere else, ever.
"""

from array import array
from bisect import bisect, bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

# The reach of a delivery: its follower is at the site of the publisher, or at another one.
LOCAL: Final = "local"
CROSS_SITE: Final = "cross_site"


def audiences(follows: Mapping[str, Iterable[str]], connected: Collection[str]) -> dict[str, tuple[str, ...]]:
    """Returns the `connected` followers of each user. `follows` lists for each user whom that user follows."""
    followers: dict[str, dict[str, None]] = {user: {} for user in follows}
    for follower, followed in follows.items():
        if follower in connected:
            for user in followed:
                followers.setdefault(user, {})[follower] = None
    return {user: tuple(theirs) for user, theirs in followers.items()}


def permitted(
    audience_of: Mapping[str, Sequence[str]], hidden: Collection[str], parted: Collection[tuple[str, str]]
) -> dict[str, tuple[str, ...]]:
    """Returns those of each audience who may hear: nobody hears the `hidden`, and of two who are `parted` neither hears the other."""
    apart = {*parted, *((other, one) for one, other in parted)}
    return {
        user: () if user in hidden else tuple(each for each in theirs if (user, each) not in apart) for user, theirs in audience_of.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """The time from sending an event to its arrival at a follower, in milliseconds; None where there was no delivery."""

    p50: float | None
    p99: float | None
    max: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerSummary:
    """The outcome. A run without failures has 0 lost, 0 duplicated and 0 misrouted. `dataclasses.asdict` gives the JSON of the demo.

    - `events`: events that were sent.
    - `expected`: `delivered` + `lost`.
    - `duplicated`: arrivals after the first at the same user.
    - `misrouted`: arrivals of unknown events, and at users who do not follow the publisher.
    - `excused`: deliveries that did not arrive and were not expected to.
    - `latency_ms`: latencies, with the keys `local` and `cross_site`.
    - `cross_site_share`: the part of `delivered` whose follower is at another site than the publisher.
    """

    events: int
    expected: int
    delivered: int
    lost: int
    duplicated: int
    misrouted: int
    excused: int
    latency_ms: Mapping[str, Latency]
    cross_site_share: float


class Ledger:
    """A ledger of what was sent and what arrived, which judges it.

    It needs one byte for each expected delivery and four for each that arrived, besides about 200 bytes an event. Times are seconds of one
    monotonic clock for all users. `audience_of` has every user who may publish (see `audiences`), `site_of` every publisher and follower.
    """

    def __init__(self, audience_of: Mapping[str, Sequence[str]], site_of: Mapping[str, str]) -> None:
        self._audience_of = audience_of
        self._site_of = site_of
        self._place_of = {user: {follower: place for place, follower in enumerate(theirs)} for user, theirs in audience_of.items()}
        # An event has a number in the order of sending; its audience has adjacent bytes in `_arrived`, from `_start` on.
        self._number_of: dict[str, int] = {}
        self._publisher: list[str] = []
        self._sent_s = array("d")
        self._start = array("Q")
        self._arrived = bytearray()
        self._latency_ms = {LOCAL: array("f"), CROSS_SITE: array("f")}
        self._excused_events: set[int] = set()
        self.duplicated = 0
        self.misrouted = 0

    @property
    def events(self) -> int:
        """How many events were sent so far."""
        return len(self._publisher)

    @property
    def delivered(self) -> int:
        """How many deliveries arrived where they were expected, without duplicates."""
        return sum(map(len, self._latency_ms.values()))

    @property
    def outstanding(self) -> int:
        """How many deliveries have not arrived yet, excused or not; at 0 there is nothing to wait for."""
        return len(self._arrived) - self.delivered

    def late(self, before_s: float) -> int:
        """Returns how many deliveries of the events sent before `before_s` have not arrived yet, excused or not. It takes microseconds."""
        number = bisect_left(self._sent_s, before_s)
        return self._arrived.count(0, 0, self._start[number] if number < self.events else None)

    def latest(self, reach: str, count: int) -> Latency:
        """Returns the latency of the last `count` deliveries of one reach, `LOCAL` or `CROSS_SITE`."""
        return _latency(self._latency_ms[reach][-count:])

    def sent(self, event_id: str, publisher: str, at_s: float) -> None:
        """Takes note that `publisher` is about to send `event_id`, at `at_s`. Call it first, or an early arrival counts as misrouted.

        Times must not go back. Raises ValueError for an id that was sent before, KeyError for a publisher without an
        audience of record.
        """
        if event_id in self._number_of:
            raise ValueError(f"event id {event_id!r} was sent before; ids must be unique in a run")
        audience = self._audience_of[publisher]
        self._number_of[event_id] = self.events
        self._publisher.append(publisher)
        self._sent_s.append(at_s)
        self._start.append(len(self._arrived))
        self._arrived.extend(bytes(len(audience)))

    def received(self, follower: str, event_id: str, at_s: float) -> None:
        """Takes note that `event_id` arrived at `follower`, at `at_s`, and counts whether that was right."""
        number = self._number_of.get(event_id)
        place = None if number is None else self._place_of[self._publisher[number]].get(follower)
        if number is None or place is None:
            self.misrouted += 1
        elif self._arrived[self._start[number] + place]:
            self.duplicated += 1
        else:
            self._arrived[self._start[number] + place] = 1
            is_local = self._site_of[follower] == self._site_of[self._publisher[number]]
            self._latency_ms[LOCAL if is_local else CROSS_SITE].append((at_s - self._sent_s[number]) * 1000)

    def excuse_event(self, event_id: str) -> None:
        """Takes note that the engine did not accept the event, or that nobody knows it: what is missing of it is not lost.

        Raises KeyError for an event that was never sent.
        """
        self._excused_events.add(self._number_of[event_id])

    def missing(self) -> Iterator[tuple[str, str]]:
        """Yields (event id, follower) of the deliveries that have not arrived and are not excused, in the order of sending."""
        event_ids = list(self._number_of)
        for number, follower in self._absent():
            if number not in self._excused_events:
                yield event_ids[number], follower

    def summary(self) -> LedgerSummary:
        """Returns the outcome so far; what has not arrived yet counts as lost. A million deliveries take a fraction of a second."""
        lost = sum(1 for _ in self.missing())
        return LedgerSummary(
            events=self.events,
            expected=self.delivered + lost,
            delivered=self.delivered,
            lost=lost,
            duplicated=self.duplicated,
            misrouted=self.misrouted,
            excused=self.outstanding - lost,
            latency_ms={reach: _latency(values) for reach, values in self._latency_ms.items()},
            cross_site_share=len(self._latency_ms[CROSS_SITE]) / self.delivered if self.delivered else 0.0,
        )

    def _absent(self) -> Iterator[tuple[int, str]]:
        """Yields (event number, follower) of everything that was expected by the graph and is not there."""
        slot = self._arrived.find(0)
        while slot >= 0:
            number = bisect(self._start, slot) - 1
            yield number, self._audience_of[self._publisher[number]][slot - self._start[number]]
            slot = self._arrived.find(0, slot + 1)


def _latency(values_ms: Iterable[float]) -> Latency:
    ordered = sorted(values_ms)
    if not ordered:
        return Latency(p50=None, p99=None, max=None)
    return Latency(p50=_percentile(ordered, 0.50), p99=_percentile(ordered, 0.99), max=ordered[-1])


def _percentile(ordered: Sequence[float], fraction: float) -> float:
    """Returns a percentile by nearest rank: the smallest value that at least this `fraction` of `ordered` does not exceed."""
    return ordered[ceil(fraction * len(ordered)) - 1]
