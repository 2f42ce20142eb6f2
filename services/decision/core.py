"""The knowledge of the decision service, and the problems and decisions that it makes of it (spec C7; SB-63). Pure.

It hears how many events topics had and who follows them, never an event. Users and topics are numbers here, so that arrays can
hold them. What is forgotten gives its number back.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from analytics.offloading.leftover import leftover
from analytics.offloading.numbering import Numbering
from analytics.offloading.pairs import PairSet, pair, topics_of, users_of
from analytics.offloading.rates import Ints, Rates
from analytics.offloading.solving import OffloadingChoice, OffloadingProblem
from infra.kernel.assignment import may_leave
from infra.kernel.topics import Topic

from .decision import OffloadingDecision
from .options import DecisionOptions

# All numbers are given anew when more lie idle than this and as many as are in use.
SPARE: Final = 4096

PointName = tuple[str, str]


@dataclass(slots=True)
class _Point:
    """An access point.

    - `known`: what it has reported.
    - `fresh`: what it has told so far on a new link, until that is a whole report; `known` is from the link before then.
    - `gone_s`: when its link was lost, None while it stands.
    """

    known: PairSet = field(default_factory=PairSet)
    fresh: PairSet | None = None
    gone_s: float | None = None


class DecisionCore:
    """The core: counts and follows come in, problems and decisions go out.

    `born_ms` is the Unix time of its start. Epochs begin there, so that they rise over restarts.
    """

    def __init__(self, options: DecisionOptions, born_ms: int) -> None:
        self.pairs_refused = self.counts_refused = self.moves = 0
        self.epoch = 0
        self._least_epoch = born_ms
        self.out: frozenset[Topic] = frozenset()
        self._options = options
        self._users: Numbering[str] = Numbering(options.max_pairs)
        self._topics: Numbering[Topic] = Numbering(options.max_topics)
        self._rates = Rates(options.plan.weight)
        self._points: dict[PointName, _Point] = {}

    # What brokers and access points tell.

    def tally(self, topics: Iterable[Topic], counts: Iterable[int]) -> None:
        """Notes that topics have had so many further events."""
        for topic, count in zip(topics, counts, strict=True):
            if not may_leave(topic):
                continue
            number = self._topics.number(topic)
            if number is None:
                self.counts_refused += 1
            else:
                self._rates.count(number, count)

    def link_up(self, point: PointName) -> None:
        """Notes that an access point is there and will tell everything anew. Until it has, what it told before counts as well."""
        known = self._points.setdefault(point, _Point())
        known.fresh, known.gone_s = PairSet(), None

    def link_down(self, point: PointName, now_s: float) -> None:
        """Notes that an access point is gone. What it told counts for `keep_s`."""
        self._points[point].gone_s = now_s

    def reported(self, point: PointName) -> None:
        """Notes that an access point has told everything there was to tell."""
        known = self._points[point]
        if known.fresh is not None:
            known.known, known.fresh = known.fresh, None

    def followed(self, point: PointName, users: Iterable[str], topics: Iterable[Topic]) -> None:
        """Notes that `users` have begun to follow `topics` at an access point, one of each at a time."""
        for user, topic in zip(users, topics, strict=True):
            if not may_leave(topic):
                continue
            name, number = self._users.number(user), self._topics.number(topic)
            if name is None or number is None:
                self.pairs_refused += 1
            else:
                self._note(point, pair(name, number), True)

    def unfollowed(self, point: PointName, users: Iterable[str], topics: Iterable[Topic]) -> None:
        """Notes that `users` follow `topics` at an access point no more, one of each at a time."""
        for user, topic in zip(users, topics, strict=True):
            name, number = self._users.known(user), self._topics.known(topic)
            if name is not None and number is not None:
                self._note(point, pair(name, number), False)

    def holds(self, epoch: int) -> None:
        """Notes that somebody goes by the assignment of this epoch, whoever made it. The next decision must be newer (SB-68)."""
        self._least_epoch = max(self._least_epoch, epoch + 1)

    def tick(self, now_s: float) -> None:
        """Forgets access points that are gone for too long."""
        keep_s = self._options.keep_s
        late = [name for name, point in self._points.items() if point.gone_s is not None and now_s - point.gone_s > keep_s]
        for name in late:
            del self._points[name]

    # What follows from it.

    def problem(self) -> OffloadingProblem:
        """Ends the period; returns what is to be solved. The numbers in it hold until the next call."""
        # Settled first: pairs that still wait as changes are not in the arrays, and their numbers would seem to be idle.
        for follows in self._all():
            self._settle(follows)
        events = self._tidy(self._rates.close(len(self._topics)))
        out = np.fromiter((topic in self.out for topic in self._topics.names), np.bool_, len(self._topics))
        left = leftover(events, out, self._options.plan, len(self._options.sites))
        return OffloadingProblem([follows.keys for follows in self._all()], events, out, self._rates.forecast > 0, left)

    def decide(self, answer: OffloadingChoice, run_ms: int) -> OffloadingDecision:
        """Returns the decision that `answer` to the last problem means. It holds from now on. `run_ms` is how long it took."""
        names = self._topics.names
        out = frozenset(names[number] for number in np.flatnonzero(answer.out).tolist())
        left, came = sorted(out - self.out), sorted(self.out - out)
        base, self.epoch = self.epoch, max(self.epoch + 1, self._least_epoch)
        self.out = out
        self.moves += len(left) + len(came)
        return OffloadingDecision(
            epoch=self.epoch,
            base=base,
            plan=self._options.plan,
            topics=answer.topics,
            served=[names[number] for number in answer.served.tolist()],
            out=out,
            left=left,
            came=came,
            cost=answer.cost,
            reduced=answer.reduced,
            value=answer.value,
            bound=answer.bound,
            run_ms=run_ms,
        )

    def pairs(self) -> int:
        """Returns how many pairs are kept. A user at two access points counts twice."""
        return sum(map(len, self._all()))

    def _all(self) -> list[PairSet]:
        kept = (follows for point in self._points.values() for follows in (point.known, point.fresh))
        return [follows for follows in kept if follows is not None]

    def _note(self, point: PointName, key: int, follows: bool) -> None:
        known = self._points[point]
        told = known.fresh if known.fresh is not None else known.known
        if told.note(key, follows):
            self._settle(told)

    def _settle(self, follows: PairSet) -> None:
        self.pairs_refused += follows.settle(self._options.max_pairs - self.pairs())

    def _tidy(self, events: Ints) -> Ints:
        """Gives numbers anew if many lie idle; returns `events` by the numbers that hold then."""
        # A number is in use if a pair has it. A topic without followers keeps its number while its forecast is remembered.
        users, topics = np.zeros(len(self._users), np.bool_), self._rates.forecast > 0
        for follows in self._all():
            users[users_of(follows.keys)] = True
            topics[topics_of(follows.keys)] = True
        if all(len(used) <= 2 * np.count_nonzero(used) + SPARE for used in (users, topics)):
            return events
        # All who hold numbers must change in the same step: the two tables of names, the rates, and every array of pairs.
        users_kept, topics_kept = np.flatnonzero(users), np.flatnonzero(topics)
        self._users.keep(users_kept)
        self._topics.keep(topics_kept)
        self._rates.keep(topics_kept)
        for follows in self._all():
            follows.renumber(users_kept, topics_kept)
        return events[topics_kept]
