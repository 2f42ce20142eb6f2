"""Own recovery: what an access point has missed itself, asked of the aggregator that feeds it now. Pure.

An aggregator says up to which stamp of each broker it has given everything. Whoever goes on from there at another one gets what followed.
Clients who recover are another matter (`recoveries`).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from infra.kernel.frames import Recall
from infra.kernel.loss_reasons import LossReason
from infra.kernel.outlet import Outlet
from infra.kernel.topics import Topic

from .former_stamps import FormerStamps
from .gap_notices import GapNotices
from .hub import Hub
from .keeping import Keeping
from .named_numbers import Known, unknown
from .options import AccessPointOptions
from .unstamped_events import UnstampedEvents

# So many topics stand in one question.
BULK: Final = 2048


class _Question(NamedTuple):
    """The question under `number` for what was missed here, on all topics: `open` are those that nobody has answered for.

    Each has the stamps behind which it goes on. Who has not answered by `deadline_s` is late; `is_late`: clients were told so. `had`: what
    clients got behind these stamps.
    """

    number: int
    deadline_s: float
    open: dict[Topic, Mapping[int, int]]
    had: dict[Topic, Known]
    is_late: bool = False


class OwnRecovery:
    """The recovery of what an access point, whose clients are in `hub`, has missed itself; `keeping` says which topics have a past.

    - `stamps`: up to where everything that is wanted here has come, of each broker. The last `former` of them are not named any more.
    - `notices`: tell sessions of what was lost on the way here.
    - `numbers`: those of questions, which others take from, too.
    - `over(topic)`: is called when a topic lacks nothing here any more.
    """

    def __init__(
        self,
        options: AccessPointOptions,
        hub: Hub,
        keeping: Keeping,
        notices: GapNotices,
        numbers: Iterator[int],
        over: Callable[[Topic], None],
    ) -> None:
        self.stamps: Mapping[int, int] = {}
        self._options, self._hub, self._keeping, self._notices, self._numbers, self._over = options, hub, keeping, notices, numbers, over
        self._question: _Question | None = None
        self._unstamped = UnstampedEvents()
        self.former = FormerStamps()
        self._now_s = 0.0
        # The topics that were wanted here when we were cut off, where nobody had said yet up to where everything had come.
        self._unmarked: list[Topic] = []
        # Topics of which answers have brought more than `stamps` say, and the latest that any of them has.
        self._further: dict[Topic, Mapping[int, int]] = {}
        self._furthest: Mapping[int, int] = {}

    @property
    def is_open(self) -> bool:
        """Whether something that was missed has not come yet."""
        return self._question is not None

    def awaits(self, topic: Topic) -> bool:
        """Returns whether something of `topic` was missed and has not come yet."""
        return self._question is not None and topic in self._question.open

    @property
    def handles(self) -> set[int]:
        """The numbers of the topics of which something was missed and has not come yet."""
        topics = self._question.open if self._question is not None else ()
        return {row.handle for topic in topics if (row := self._hub.topics.get(topic)) is not None}

    def delivered(self, handles: Sequence[int], bodies: Sequence[bytes]) -> None:
        """Notes what is delivered without a word up to where everything has come."""
        if self.stamps:
            self._unstamped.add(self._hub.given(handles, bodies))

    def note(self, stamps: Mapping[int, int]) -> None:
        """Notes up to where everything has come. What is not named any more is remembered for as long as events are kept."""
        self.stamps = self.former.behind(_latest(stamps, self.stamps), self.stamps, self._now_s + self._keeping.longest_s)
        self._unstamped.clear()
        if self._further and _latest(self.stamps, self._furthest) == self.stamps:
            self._further, self._furthest = {}, {}

    def has_come(self, topic: Topic, stamps: Mapping[int, int]) -> None:
        """Notes that everything of `topic` has come up to `stamps`, which may be further than it has of all topics."""
        self._has_come(topic, _latest(self.stamps, stamps))

    def _has_come(self, topic: Topic, reached: Mapping[int, int]) -> None:
        if reached != self.stamps:
            self._furthest = _latest(reached, self._furthest)
            self._further[topic] = self._furthest if reached == self._furthest else reached  # mostly one for all topics

    def cut_off(self) -> None:
        """Notes that the aggregator that feeds us is lost: what is published from now on does not come from there."""
        if self._unstamped.is_full:  # nobody knows any more what would come again
            self.stamps = {}
        self._unmarked = [] if self.stamps else self._kept_topics()

    def _kept_topics(self) -> list[Topic]:
        """Returns the topics that are wanted here and whose events are kept."""
        return [topic for _, topic in self._hub.wanted() if self._keeping.has(topic)]

    def begin(self, link: Outlet | None, now_s: float, unserved: Mapping[Topic, Mapping[int, int]] | None = None) -> None:
        """Asks the aggregator behind `link`, at `now_s`, for what we have missed: what came behind our stamps on topics whose events are
        kept. `unserved`: topics of which these stamps do not tell, each with those behind which it goes on.

        Until it is there, nobody gets anything of them (DPS-11). Where we have no stamps yet, nobody can be asked, so who follows these
        topics is told that something may be missing (DPS-8).
        """
        unmarked, self._unmarked = self._unmarked, []
        earlier = unserved or {}
        unmarked += [topic for topic in self._unasked(earlier) if topic not in unmarked]
        if unmarked:
            self._notices.lost(unmarked, LossReason.EXPIRED)
        if link is None or not self.stamps:
            return
        topics, before = self._kept_topics(), self._question or _Question(0, 0.0, {}, {})
        stamps = dict(self.stamps)
        had: dict[Topic, Known] = {**self._unstamped.taken()}
        for topic in before.open:
            had[topic] = [*before.had.get(topic, ()), *had.get(topic, ())]
        behind = {topic: before.open.get(topic) or _latest(earlier.get(topic) or stamps, self._further.get(topic)) for topic in topics}
        self._question = _Question(next(self._numbers), now_s + self._options.install_s, behind, had) if behind else None
        self._further, self._furthest = {}, {}
        if not behind:  # nothing is wanted, so nothing has come of what others have got meanwhile
            self.stamps = self.former.forget(self.stamps)
        self._hub.hold(topics)
        for topic in before.open:
            if topic not in behind:  # nobody wants it now, but somebody may again while its row is there
                self._hub.go_on(topic, [])
                self._over(topic)
        self.ask(link)

    def _unasked(self, unserved: Mapping[Topic, Mapping[int, int]]) -> list[Topic]:
        """Returns the topics of which nobody can be asked: no stamps were said before they were wanted."""
        return [topic for topic, its in unserved.items() if not its and self._keeping.has(topic)]

    def add(self, link: Outlet | None, now_s: float, unserved: Mapping[Topic, Mapping[int, int]]) -> None:
        """Asks for topics of which nobody was given anything, and of no others but those that are open; see `begin`."""
        if unasked := self._unasked(unserved):
            self._notices.lost(unasked, LossReason.EXPIRED)
        behind = {topic: its for topic, its in unserved.items() if its and self._keeping.has(topic)}
        if link is None or not behind:
            return
        before = self._question or _Question(0, 0.0, {}, {})
        deadline_s = now_s + self._options.install_s
        self._question = _Question(next(self._numbers), deadline_s, {**behind, **before.open}, before.had)
        self._hub.hold(list(behind))
        self.ask(link)

    def ask(self, link: Outlet | None) -> None:
        """Asks the aggregator behind `link` for what of that nobody has answered."""
        if link is None or self._question is None:
            return
        groups: dict[tuple[tuple[int, int], ...], list[bytes]] = {}
        for topic, its in self._question.open.items():
            groups.setdefault(tuple(its.items()), []).append(topic)
        for shared, named in groups.items():
            for start in range(0, len(named), BULK):
                link.send(Recall(self._question.number, named[start : start + BULK], dict(shared), rest=True))

    def answered(self, number: int, topic: Topic, reason: str, bodies: list[bytes], reached: Mapping[int, int]) -> None:
        """Gives everybody what came on `topic` while no aggregator fed us, if that is the answer to the question under `number`.

        - `reason`: why that is not all; empty where it is.
        - `reached`: up to where it is all.
        """
        if self._question is not None and self._question.number == number:
            self._go_on(self._question, topic, reason, bodies, reached)

    def _go_on(self, question: _Question, topic: Topic, reason: str, bodies: list[bytes], reached: Mapping[int, int]) -> None:
        if (behind := question.open.pop(topic, None)) is None:
            return
        self._has_come(topic, _latest(behind, reached))
        if not question.open:
            self._question = None
            # Of what is not named any more all has come by now that anybody has: nobody else will say so.
            self.stamps = self.former.raised(self.stamps, self._furthest)
        self._hub.go_on(topic, unknown(bodies, question.had.get(topic, ())))
        if reason and reason != LossReason.NO_WINDOW and not (question.is_late and reason == LossReason.LATE):
            self._notices.lost([topic], reason)
        self._over(topic)

    def tick(self, link: Outlet | None, now_s: float) -> None:
        """Has sessions told at `now_s` that something may be missing which nobody has answered for too long.

        Until there is an answer, nobody gets anything all the same. An aggregator that does not reach the owner of a topic gives us what it
        has missed itself when it does, and we may have had that from another one (DPS-11). Where nobody is there who could answer, nobody
        waits.
        """
        self._now_s = now_s
        self.stamps = self.former.tick(self.stamps, now_s)
        question = self._question
        if question is None or now_s < question.deadline_s:
            return
        if not question.is_late:
            self._notices.lost(list(question.open), LossReason.LATE)
            self._question = question = question._replace(is_late=True)
        if link is None or not self.stamps:
            for topic in list(question.open):
                self._go_on(question, topic, LossReason.LATE, [], {})


def _latest(stamps: Mapping[int, int], others: Mapping[int, int] | None) -> Mapping[int, int]:
    """Returns `stamps`, or the same ones of `others` where those are later."""
    return {epoch: max(stamp, others.get(epoch, 0)) for epoch, stamp in stamps.items()} if others else stamps
