"""The ledger of a replay: what must be delivered, and what was. Pure.

An event is expected once at every user whose subscription to its topic stands: from the moment when it is installed until its end is
asked for. A user who subscribes or unsubscribes meanwhile may get the event or not. Nobody else may get it.
"""

from collections import deque
from collections.abc import Iterable
from math import ceil
from typing import Final, NamedTuple

REMEMBERED_EVENTS: Final = 100_000
LATEST: Final = 100_000


class Totals(NamedTuple):
    """The deliveries so far.

    - `events`: events that were handed to a broker.
    - `delivered`: deliveries that were expected and arrived.
    - `missing`: have not arrived; at the end they are lost.
    - `duplicated`, `misrouted`: arrived twice, or at somebody who did not follow the topic.
    - `excused`: ended with their subscription.
    - `in_flux`: were neither expected nor wrong.
    - `p50_ms`, `p99_ms`: latencies of the latest `LATEST` deliveries; None before the first.
    """

    events: int
    delivered: int
    missing: int
    duplicated: int
    misrouted: int
    excused: int
    in_flux: int
    p50_ms: float | None
    p99_ms: float | None


class ReplayLedger:
    """A ledger of events and deliveries. Times are seconds of one clock; events are named by their ids.

    The deliveries of `remembered` events are kept, so that a second one is recognised.
    """

    def __init__(self, remembered: int = REMEMBERED_EVENTS) -> None:
        self._remembered = remembered
        self.events = self.delivered = self.duplicated = self.misrouted = self.excused = self.in_flux = 0
        self._standing: dict[str, set[str]] = {}
        self._follows: dict[str, set[str]] = {}
        self._sent: dict[str, _Sent] = {}
        self._waits: dict[tuple[str, str], set[str]] = {}
        self._latencies_s: deque[float] = deque(maxlen=LATEST)

    @property
    def missing(self) -> int:
        """How many deliveries are expected and have not arrived."""
        return sum(map(len, self._waits.values()))

    def subscribing(self, user: str, topics: Iterable[str]) -> None:
        """Takes note that `user` may get events of `topics` from now on."""
        self._follows.setdefault(user, set()).update(topics)

    def installed(self, user: str, topics: Iterable[str]) -> None:
        """Takes note that `user` must get events of `topics` from now on."""
        for topic in topics:
            self._standing.setdefault(topic, set()).add(user)

    def unsubscribing(self, user: str, topics: Iterable[str]) -> None:
        """Takes note that `user` need not get events of `topics` from now on, not even those that are under way.

        After `unsubscribed`, a moment later, they may not get them.
        """
        for topic in topics:
            self._standing.get(topic, set()).discard(user)
            under_way = self._waits.pop((user, topic), set())
            self.excused += len(under_way)
            for event in under_way:
                self._sent[event].waiting.discard(user)

    def unsubscribed(self, user: str, topics: Iterable[str]) -> None:
        """Takes note that events of `topics` that arrive at `user` from now on are misrouted, except those that were sent before."""
        self._follows.get(user, set()).difference_update(topics)

    def sent(self, event: str, topic: str, at_s: float) -> None:
        """Takes note that `event` is handed to a broker, on `topic`, at `at_s`. Raises ValueError for an id that was sent before."""
        if event in self._sent:
            raise ValueError(f"event id {event!r} was sent before; ids must be unique in a run")
        self.events += 1
        waiting = set(self._standing.get(topic, ()))
        self._sent[event] = _Sent(topic, at_s, waiting, set())
        for user in waiting:
            self._waits.setdefault((user, topic), set()).add(event)
        if len(self._sent) > self._remembered:
            self._forget()

    def rejected(self, event: str) -> None:
        """Takes note that the broker rejected `event`: nobody need get it."""
        sent = self._sent.get(event)
        if sent is None:
            return
        for user in sent.waiting:
            self._waits[user, sent.topic].discard(event)
        self.excused += len(sent.waiting)
        sent.waiting.clear()

    def received(self, user: str, event: str, at_s: float) -> None:
        """Takes note that `event` arrived at `user`, at `at_s`, and counts whether that was right."""
        sent = self._sent.get(event)
        if sent is None:
            self.misrouted += 1
        elif user in sent.got:
            self.duplicated += 1
        elif user in sent.waiting:
            sent.waiting.remove(user)
            sent.got.add(user)
            self._waits[user, sent.topic].discard(event)
            self.delivered += 1
            self._latencies_s.append(at_s - sent.at_s)
        elif sent.topic in self._follows.get(user, ()):
            sent.got.add(user)
            self.in_flux += 1
        else:
            self.misrouted += 1

    def totals(self) -> Totals:
        """Returns the figures so far."""
        ordered = sorted(self._latencies_s)
        p50, p99 = (ordered[ceil(share * len(ordered)) - 1] * 1000 if ordered else None for share in (0.50, 0.99))
        counts = (self.events, self.delivered, self.missing, self.duplicated, self.misrouted, self.excused, self.in_flux)
        return Totals(*counts, p50, p99)

    def _forget(self) -> None:
        """Forgets the oldest events, except those for which somebody still waits."""
        for event in list(self._sent)[: self._remembered // 10]:
            if not self._sent[event].waiting:
                del self._sent[event]


class _Sent:
    __slots__ = ("at_s", "got", "topic", "waiting")

    def __init__(self, topic: str, at_s: float, waiting: set[str], got: set[str]) -> None:
        self.topic, self.at_s, self.waiting, self.got = topic, at_s, waiting, got
