"""Recoveries: what sessions have missed, asked of the owners of their topics by way of the aggregator. Pure.

A session that recovers is in the row of a topic at once, but gets no event of it before the answer: what comes behind the answer on the
link is what the answer does not have. So nothing is kept, and no cut has to be agreed on. Where another aggregator feeds us, it is asked
again. What was answered to others lately need not be asked (`recent_answer`): a herd that comes back asks each thing once.
"""

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Final, Protocol

from infra.kernel.announcer import Announcer
from infra.kernel.errors import Refused
from infra.kernel.every_one import for_every_one
from infra.kernel.frames import Recall, Recalled
from infra.kernel.loss_reasons import LossReason
from infra.kernel.outlet import Outlet
from infra.kernel.roles import DECISION
from infra.kernel.topics import Topic, format_topic, parse_topic

from . import messages
from .gap_notices import GapNotices
from .hub import Hub
from .keeping import Keeping
from .named_numbers import Known, NamedNumbers, awaited, unknown
from .options import AccessPointOptions
from .own_recovery import BULK, OwnRecovery
from .point import Point, read_point, write_point
from .recent_answer import RecentAnswer
from .recent_answers import RecentAnswers
from .session import Session, SessionState

# A session has so many recoveries open at most.
MOST_OPEN: Final = 8
# A pace counts a topic that is recovered as so many: its owner is asked.
RECOVERY_COST: Final = 2


class RecoveryPlan:
    """The wish of a session to have topics recovered under `number`: from `point` on, or behind what it has `since`.

    - `is_new`: it was never here before, so it has missed nothing.
    - `held`: the topics of which it gets nothing yet. Of the others it has got what it missed, `replayed` events.
    """

    def __init__(self, number: int, point: Point | None, since: dict[Topic, Known]) -> None:
        self.number, self.point, self.since = number, point, since
        self.is_new = point is None and not since
        self.held: list[Topic] = []
        self.replayed = 0


class RecoveryTaker(Protocol):
    """A function that is told once how a recovery went."""

    def __call__(self, lost: dict[Topic, str], replayed: int, over_s: float, /) -> None:
        """Takes the topics that lack something, each with the reason, how many events have come, and when it was over."""


class SessionRecovery:
    """A recovery of `session` under `number`. `open` are the topics that nobody has answered for.

    - `may_be_ahead`: it may come from another site, and have got what has not come here yet.
    """

    __slots__ = ("deadline_s", "done", "is_foreign", "lost", "may_be_ahead", "number", "open", "replayed", "session", "since", "stamps")

    def __init__(self, session: Session, plan: RecoveryPlan, site: str, deadline_s: float, done: RecoveryTaker) -> None:
        self.session, self.number, self.done, self.deadline_s = session, plan.number, done, deadline_s
        self.is_foreign = plan.point is not None and plan.point.site != site
        self.may_be_ahead = plan.point is None or self.is_foreign
        self.stamps = plan.point.stamps if plan.point is not None and not self.is_foreign else {}
        self.since = plan.since
        self.open: dict[Topic, None] = {}
        self.lost: dict[Topic, str] = {}
        self.replayed = plan.replayed


class Recoveries:
    """The recoveries of all sessions in `hub`; `keeping` says which topics have a past.

    - `link`: leads to the aggregator that feeds us, None while there is none.
    - `own`: what this access point has missed itself, and up to where everything has come here.
    - `notices`: tell sessions of what was lost on the way here.
    - `named`: who has said what they have, of which something may come here only now.
    - `recent`: what was answered lately.
    """

    def __init__(self, options: AccessPointOptions, hub: Hub, announcer: Announcer, keeping: Keeping, notices: GapNotices) -> None:
        self.link: Outlet | None = None
        self.results: Counter[str] = Counter()
        self.replayed = 0
        self._options, self._hub, self._announcer, self._keeping, self._notices = options, hub, announcer, keeping, notices
        self._numbers = itertools.count(1)
        self.own = OwnRecovery(options, hub, keeping, notices, self._numbers, self._ask_again)
        self.named = NamedNumbers(hub, keeping)
        self.recent = RecentAnswers()
        # Whether the aggregator has said lately that nothing is missing of what has come.
        self._is_whole = False
        # An event of a topic that is out of real time does not come here, and nobody knows when that begins.
        self._may_offload = DECISION in options.services
        # Recoveries that are to be asked again when the access point has what it missed itself, by topic.
        self._again: dict[Topic, list[SessionRecovery]] = {}
        self._open: dict[int, SessionRecovery] = {}
        # Whether another aggregator than the one that feeds us is told what is wanted from now on. Up to where everything had come then.
        self._is_moving = False
        self._before_move: Mapping[int, int] = {}
        # Topics of which the stamps do not tell that were said before a move: none as late were said since, which `_is_unmarked` says.
        self._untold: dict[Topic, Mapping[int, int]] = {}
        self._is_unmarked = False

    def __len__(self) -> int:
        """Returns how many are open."""
        return len(self._open)

    def plan(self, session: Session, message: messages.SubscribeMessage) -> RecoveryPlan | None:
        """Returns what a message of `session` wants to have recovered; None if it does not want that.

        Raises `Refused`: bad-field for a point that is none, too-many-topics, rate-limited.
        """
        if not message.recover:
            return None
        most = self._options.max_topics_per_message
        if len(message.since) > most:
            raise Refused("too-many-topics", f"since has {len(message.since)} topics; send at most {most} at a time")
        if len(session.recoveries) >= MOST_OPEN:
            raise Refused("rate-limited", f"{MOST_OPEN} recoveries of this connection are open; wait for their answers")
        session.named_topics += (RECOVERY_COST - 1) * len(message.topics)
        named = set(message.topics)
        since: dict[Topic, Known] = {
            parse_topic(uri): [(site, epoch, seq) for site, (epoch, seq) in sites.items()]
            for uri, sites in message.since.items()
            if uri in named and _is_known(uri, sites)
        }
        point = read_point(message.point) if message.point is not None else None
        return RecoveryPlan(next(self._numbers), point, since)

    def hold(self, session: Session, plan: RecoveryPlan, topics: Iterable[Topic]) -> None:
        """Has `session` get nothing yet of `topics`, which it follows since this turn and wants to have recovered."""
        if plan.is_new:
            return
        hub, stamps, is_kept = self._hub, self._answered_up_to(plan), self._keeping.has
        for topic in topics:
            row = hub.topics.get(topic)
            if row is None or session not in row or not is_kept(topic):
                continue
            if self.named:
                self.named.forget(session, topic)
            missed = row.answer.missed(stamps) if row.answer is not None and stamps else None
            if missed is None:
                hub.join_later(session, topic, plan.number)
                plan.held.append(topic)
            elif missed or row.joining is not None:
                known = plan.since.get(topic)
                plan.replayed += hub.join_at_once(session, row, unknown(missed, known) if known else missed)

    def _answered_up_to(self, plan: RecoveryPlan) -> Mapping[int, int]:
        """Returns the stamps of a plan by which recent answers may be looked for; none where everything up to there has not come here yet.

        Whoever was further than this access point would get again what they have.
        """
        point, here = plan.point, self.own.stamps
        if point is None or point.site != self._options.site or not self._may_answer:
            return {}
        return point.stamps if all(stamp <= here.get(epoch, 0) for epoch, stamp in point.stamps.items()) else {}

    @property
    def _may_answer(self) -> bool:
        """Whether what comes here is all there is, and comes by one way."""
        return self._is_whole and not self.own.is_open and not self._announcer.keeps_former and not self._may_offload

    def give_up(self, session: Session, plan: RecoveryPlan) -> None:
        """Lets `session` have what is live: the message that wanted more was refused."""
        for topic in plan.held:
            self._hub.join_now(session, topic, plan.number, [])

    def begin(self, session: Session, plan: RecoveryPlan, topics: Sequence[Topic], now_s: float, done: RecoveryTaker) -> None:
        """Recovers `topics`, which `session` follows and some of which were held.

        - `now_s`: now; who has not answered `install_s` later is late.
        - `done`: is called once, if the session stays.
        """
        recovery = SessionRecovery(session, plan, self._options.site, now_s + self._options.install_s, done)
        session.follows_with_recovery.update(topics)
        session.mark = self._announcer.mark()
        recovery.lost.update((topic, LossReason.NO_WINDOW) for topic in self._keeping.others(topics))
        recovery.open.update((topic, None) for topic in plan.held if self._hub.is_joining(session, topic, plan.number))
        self._open[recovery.number] = recovery
        session.recoveries.add(recovery.number)
        self._ask(recovery, list(recovery.open))
        self._end(recovery, now_s)

    def _ask(self, recovery: SessionRecovery, topics: Sequence[Topic]) -> None:
        """Asks the aggregator that feeds us. What that one is not told of waits for the next one: behind its answer nothing would come."""
        if self._is_moving:
            topics = [topic for topic in topics if topic not in self._announcer.unserved]
        for start in range(0, len(topics) if self.link is not None else 0, BULK):
            bulk = topics[start : start + BULK]
            since = [list(recovery.since.get(topic, ())) for topic in bulk]
            assert self.link is not None
            self.link.send(Recall(recovery.number, list(bulk), recovery.stamps, since if any(since) else []))

    def note(self, stamps: Mapping[int, int]) -> None:
        """Notes up to where everything has come, if that is said."""
        self._is_whole = bool(stamps)
        if not stamps:
            self.recent.forget()
            return
        if self._is_unmarked or self._untold:
            self._mark(stamps)
        self.own.note(stamps)

    def _mark(self, stamps: Mapping[int, int]) -> None:
        """Notes what the next aggregator says. While it is behind the one before, only its own stamps tell of what was new."""
        self._is_unmarked &= any(stamps.get(epoch, stamp) < stamp for epoch, stamp in self.own.stamps.items())
        self._before_move = _further(self._before_move, stamps)
        self._untold = {topic: _further(its, stamps) for topic, its in self._untold.items()} if self._is_unmarked else {}

    def lose(self, topics: Sequence[Topic], reason: str) -> None:
        """Has sessions told, as the aggregator says, that something of `topics` may be missing. What was answered may be wrong by now."""
        self.recent.forget()
        self._notices.lost(topics, reason)

    def fed_by(self, link: Outlet | None) -> None:
        """Notes that another aggregator feeds us, and asks it what is open."""
        self._is_unmarked = self._is_moving or (link is None and self._is_unmarked)
        self.link, self._is_whole, self._is_moving = link, False, False
        self.recent.forget()
        for recovery in self._open.values():
            self._ask(recovery, list(recovery.open))

    def move(self, is_moving: bool, now_s: float) -> None:
        """Notes at `now_s` whether another aggregator is told what is wanted from now on.

        If that has failed, the one that feeds us has been told of it by now, and is asked: for those who recover, and for what the
        other one has brought, which nobody was given.
        """
        has_waited, self._is_moving = self._is_moving and not is_moving, is_moving
        for recovery in self._open.values() if has_waited else ():
            self._ask(recovery, [topic for topic in recovery.open if topic in self._announcer.unserved])
        if has_waited and self._announcer.unserved:
            self.own.add(self.link, now_s, self._unserved())
        elif self._is_unmarked:
            self._untold |= self._unserved()
        if is_moving:
            self._before_move = dict(self.own.stamps)

    def _unserved(self) -> dict[Topic, Mapping[int, int]]:
        """Returns the topics of which the aggregator before a move knows nothing, each with the stamps behind which nobody was given it.

        Those are left out of which everybody waits for an answer of their own.
        """
        rows = (self._hub.topics.get(topic) for topic in self._announcer.unserved)
        return {row.topic: self._before_move for row in rows if row is not None and len(row.joining or ()) < len(row)}

    @property
    def unserved_handles(self) -> set[int]:
        """The numbers of these topics."""
        rows = (self._hub.topics.get(topic) for topic in self._announcer.unserved)
        return {row.handle for row in rows if row is not None}

    def cut_off(self) -> None:
        """Notes that the aggregator that feeds us is lost: what is published from now on does not come from there."""
        self._is_whole = False
        self.recent.forget()
        self.own.cut_off()

    def resume(self, now_s: float) -> None:
        """Asks the aggregator for what this access point has missed itself, at `now_s`."""
        self.recent.forget()
        self.own.begin(self.link, now_s, self._untold | self._unserved())

    def _ask_again(self, topic: Topic) -> None:
        """Asks for those who have waited until this access point had what it had missed of `topic` itself."""
        for recovery in self._again.pop(topic, ()):
            if topic in recovery.open and recovery.number in self._open:
                self._ask(recovery, [topic])
        if not self.own.is_open:
            self._again.clear()

    def answered(self, answer: Recalled, now_s: float) -> None:
        """Gives a session what it has missed, at `now_s`. Behind that it gets what is live."""
        recovery, at = self._open.get(answer.n), 0
        for n, (topic, reason, count) in enumerate(zip(answer.topics, answer.reasons, answer.counts, strict=True)):
            bodies, at = answer.bodies[at : at + count], at + count
            if recovery is not None and self.own.awaits(Topic(topic)):
                # What we have missed ourselves would come behind this answer, and repeat it.
                self._again.setdefault(Topic(topic), []).append(recovery)
            elif recovery is not None:
                # Everybody else has got what came in front of this answer. Asked for from before it, it would come again.
                self.own.has_come(Topic(topic), answer.stamps)
                if self._join(recovery, Topic(topic), reason, bodies, now_s) and answer.quiet and answer.quiet[n] and answer.stamps:
                    self._keep(recovery, Topic(topic), RecentAnswer(answer.epoch, answer.quiet[n], recovery.stamps, bodies), now_s)
            else:
                self.own.answered(answer.n, Topic(topic), reason, bodies, answer.stamps)
        if recovery is not None:
            self._end(recovery, now_s)

    def _keep(self, recovery: SessionRecovery, topic: Topic, answer: RecentAnswer, now_s: float) -> None:
        """Keeps what was answered to a recovery, which has wanted the topic all the time, for others that ask the same."""
        if self._may_answer:
            if recovery.since.get(topic):
                answer.bodies = None
            self.recent.keep(self._hub.topics[topic], answer, now_s)

    def _join(self, recovery: SessionRecovery, topic: Topic, reason: str, bodies: list[bytes], now_s: float) -> bool:
        """Gives what was answered to whom it is for. Returns whether they have waited for it, and it is all that they missed."""
        if topic not in recovery.open:
            return False
        del recovery.open[topic]
        if not self._hub.join_now(recovery.session, topic, recovery.number, [] if reason else bodies):
            return False  # it has left the topic, or wants it anew
        if reason:
            is_elsewhere = recovery.is_foreign and reason in (LossReason.OWNER_LOST, LossReason.EXPIRED)
            recovery.lost[topic] = LossReason.OTHER_SITE if is_elsewhere else reason
        else:
            recovery.replayed += len(bodies)
        self.named.note(recovery.session, topic, self._yet_to_come(recovery, topic, reason, bodies), now_s)
        return not reason

    def _yet_to_come(self, recovery: SessionRecovery, topic: Topic, reason: str, bodies: list[bytes]) -> Known:
        """Returns the numbers that were named of a topic and whose events may come here only now.

        Whoever answers has all that anybody has got at this site, and all events of it.
        """
        known = recovery.since.get(topic, ())
        if reason:
            return known
        if not recovery.may_be_ahead:
            return []
        return [mine for mine in awaited(bodies, known) if mine[0] != self._options.site]

    def _end(self, recovery: SessionRecovery, now_s: float) -> None:
        if recovery.open or self._open.pop(recovery.number, None) is None:
            return
        recovery.session.recoveries.discard(recovery.number)
        self.results["lost" if recovery.lost else "recovered"] += 1
        self.replayed += recovery.replayed
        if recovery.session.state is SessionState.READY:
            recovery.done(recovery.lost, recovery.replayed, now_s)

    def tick(self, now_s: float) -> None:
        """Lets those go on without an answer who have waited for too long at `now_s`."""
        self.named.tick(now_s)
        self.recent.tick(now_s)
        self.own.tick(self.link, now_s)
        for_every_one(partial(self._late, each, now_s) for each in [each for each in self._open.values() if each.deadline_s <= now_s])

    def _late(self, recovery: SessionRecovery, now_s: float) -> None:
        for topic in list(recovery.open):
            self._join(recovery, topic, LossReason.LATE, [], now_s)
        self._end(recovery, now_s)

    def left(self, session: Session) -> None:
        """Forgets a session that is gone."""
        for number in session.recoveries:
            del self._open[number]
        session.recoveries.clear()
        self.dropped(session, list(session.follows_with_recovery))

    def dropped(self, session: Session, topics: Sequence[Topic]) -> None:
        """Forgets what of `topics` is kept for `session`, which does not follow them any more."""
        session.follows_with_recovery.difference_update(topics)
        for topic in topics if self.named else ():
            self.named.forget(session, topic)

    def point(self, session: Session) -> str | None:
        """Returns the point of `session` now; None while something older may still be on its way to it, or was not told yet.

        Nor is there one while not all is installed that it wants to have recovered: nobody records what its owner does not know of.
        """
        if session.outbox is not None or session.recoveries or self.own.is_open or self._hub.owes(session):
            return None
        if self._announcer.reached.get(self._options.site, 0) < session.mark:
            return None
        if self._is_moving and not self._announcer.unserved.isdisjoint(session.follows_with_recovery):
            return None  # what comes of these waits for the end of the move, and our stamps are those of before
        return write_point(self._options.site, self.own.stamps, spare=len(self.own.former))

    def shown(self, session: Session, lost: Mapping[Topic, str], replayed: int) -> messages.Recovery:
        """Returns what an answer says of a recovery that is over, behind all events of it."""
        named = [{"topic": format_topic(topic), "reason": str(reason)} for topic, reason in lost.items()]
        return messages.Recovery(not lost, named, replayed, self.point(session))


def _is_known(uri: str, sites: Iterable[str]) -> bool:
    """Tells whether `since` can mean something there: what names no topic or site is passed over."""
    try:
        parse_topic(uri)
    except Refused:
        return False
    return all(0 < len(site) <= 128 and site.isascii() for site in sites)


def _further(some: Mapping[int, int], others: Mapping[int, int]) -> dict[int, int]:
    """Returns the stamps of both, and of each epoch the later one."""
    return {epoch: max(some.get(epoch, 0), others.get(epoch, 0)) for epoch in some.keys() | others.keys()}
