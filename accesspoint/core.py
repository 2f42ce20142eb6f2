"""What an access point decides: who may connect, what each message does, when a client is sent away.

Time and randomness are arguments; sessions, the announcer and the calls are told what to do and do not wait.
"""

from collections import Counter
from functools import partial
from typing import Protocol

from infra.kernel.announcer import Announcer
from infra.kernel.backoff import Rng
from infra.kernel.capture import Recorder
from infra.kernel.errors import GoingAway, Refused
from infra.kernel.every_one import for_every_one
from infra.kernel.roles import DECISION
from infra.kernel.topics import Topic

from . import messages
from .arrivals import Arrivals, IdSource
from .attendance import Attendance
from .authorization.admission import Done
from .authorization.gatekeeper import Gatekeeper
from .authorization.hook_arbiter import HookArbiter
from .bearer import Verify
from .calls import Calls
from .dismissals import Dismissals
from .expiry import Expiry
from .follower_gains import FollowerGains
from .follows import Follows
from .friends.following import FriendFollowing
from .gap_notices import GapNotices
from .hub import Hub
from .inboxes import Inboxes
from .journal import Journal
from .keeping import Keeping
from .offload_notices import OffloadNotices
from .options import AccessPointOptions
from .orders import Orders
from .pace import ActRates, Pace
from .recoveries import Recoveries, RecoveryPlan
from .relay import Relay
from .session import Session, SessionState
from .sessions_by_user import SessionsByUser
from .silence import Silence
from .slow_clients import SlowClients
from .soon import Soon
from .subscriptions import Subscriptions


class Chance(Rng, IdSource, Protocol):
    """The part of a random generator that an access point needs; `random.Random` has it."""

    def randrange(self, stop: int, /) -> int:
        """Returns a number in [0, stop)."""


class AccessPointCore:
    """All sessions of one access point, and what they share.

    - `verify(token, wall_s)`: returns who shows a token. Raises `Refused`.
    - `rng`: its randomness.
    - `soon(step)`: has a step called in the next turn of the loop.
    - `recorder`: is told of what is captured.
    - `leeway_s`: the skew of clocks that is forgiven where tokens expire.
    - `verify_subscription(token, wall_s)`: the same as `verify` for a token that is for following topics alone.
    - `hook`: answers who may come in, and what they may see, under the policy `hook`.
    """

    def __init__(
        self,
        options: AccessPointOptions,
        verify: Verify,
        rng: Chance,
        soon: Soon,
        recorder: Recorder | None = None,
        leeway_s: float = 0.0,
        hook: HookArbiter | None = None,
        verify_subscription: Verify | None = None,
    ) -> None:
        self.hub = Hub()
        self.keeping = Keeping()
        gains = FollowerGains(self.hub) if options.tells_followers else None
        self.announcer = Announcer(options.site, self.hub.wanted, gains_of=gains.of if gains is not None else lambda rows: b"")
        self.gap_notices = GapNotices(self.hub, soon, lambda session: self.recoveries.point(session))
        self.recoveries = Recoveries(options, self.hub, self.announcer, self.keeping, self.gap_notices)
        self.calls = Calls(options.max_calls, options.max_calls_bytes, options.call_s)
        self.attendance = Attendance(soon)
        self.offload_notices = OffloadNotices(self.hub, options.max_topics_per_message, soon)
        # For a capture, and for the decision service if there may be one; for nobody else, because they cost time.
        self.follows = Follows() if DECISION in options.services else None
        recorders = [each for each in (recorder, self.follows) if each is not None]
        self.journal = Journal(self.hub, options.site, recorders) if recorders else None
        self.sessions: dict[Session, None] = {}
        self.pace, self._act_rates = Pace(options), ActRates(options)
        self.draining = False
        self.connects = 0
        self.said: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.disconnects: Counter[str] = Counter()
        self.relay = Relay(self.calls, options.services, self.refusals, options.max_calls_per_client)
        self._options, self._rng = options, rng
        self.subscriptions = Subscriptions(options, self.hub, self.announcer, self.journal, gains, self.recoveries.dropped)
        self.users = SessionsByUser()
        self.gatekeeper = Gatekeeper(
            options,
            self.hub,
            self.users,
            self.subscriptions,
            self.calls,
            self.relay,
            soon,
            hook=hook,
            verify_subscription=verify_subscription,
            leeway_s=leeway_s,
        )
        self.friends = FriendFollowing(
            options,
            self.hub,
            self.users,
            self.gatekeeper,
            self.subscriptions,
            self.calls,
            self.offload_notices,
            soon,
        )
        self.expiry = Expiry(leeway_s)
        self.slow = SlowClients(options, self.offload_notices)
        self.inboxes = Inboxes(
            options,
            self.sessions,
            rng,
            announcer=self.announcer,
            subscriptions=self.subscriptions,
            calls=self.calls,
            relay=self.relay,
        )
        self.arrivals = Arrivals(
            options,
            verify,
            rng,
            hook=hook,
            users=self.users,
            gatekeeper=self.gatekeeper,
            expiry=self.expiry,
            attendance=self.attendance,
            journal=self.journal,
            inboxes=self.inboxes,
            refusals=self.refusals,
            keeping=self.keeping,
        )
        self.orders = Orders(f"{options.site}/{options.node}", self.arrivals.ready, self.hub, self.users, self.gatekeeper, soon)
        self.dismissals = Dismissals(self.sessions, self.users, soon)
        self._silence = Silence(options, self.sessions)

    # Life of a session.

    def admit(self) -> None:
        """Raises `Refused` if no further connection may be made now."""
        if self.draining:
            raise Refused("going-away")
        if len(self.sessions) >= self._options.max_connections:
            raise Refused("overloaded", f"this access point serves {self._options.max_connections} connections and no more")

    def join(self, session: Session) -> None:
        """Takes in a connection, which has not said hello yet."""
        self.sessions[session] = None
        self.connects += 1
        self.arrivals.wait(session)

    def leave(self, session: Session, why: str) -> None:
        """Forgets a connection that is gone; `why` is a code of the table, `closed` or `lost`."""
        if session not in self.sessions:
            return
        del self.sessions[session]
        self.arrivals.left(session)
        self.expiry.forget(session)
        # While the session is still ready and subscribed: the journal asks what it held.
        if session.state is SessionState.READY:
            self.attendance.leave((session.user, session.client), session.mobile)
            if self.journal is not None:
                self.journal.left(session, self.hub.held(session))
        self.gatekeeper.left(session)
        self.friends.left(session)
        self.recoveries.left(session)
        session.state = SessionState.ENDED
        self.disconnects[why] += 1
        if session.outbox is not None:
            self.slow.resumed(session)
        self.subscriptions.leave(session)

    def receive(self, session: Session, text: bytes, now_s: float, wall_s: float) -> None:
        """Does what one message of `session` says.

        - `text`: the message.
        - `now_s`: time that never goes back; `wall_s`: Unix time.

        What is wrong is answered with an error. Raises `Refused` if the connection must end.
        """
        is_hello = False
        try:
            message = messages.parse(text)
            session.expect(message)
            is_hello = isinstance(message, messages.HelloMessage)
            self._act_on(session, message, text, now_s, wall_s)
        except Refused as refused:
            self.refusals[refused.code.name] += 1
            if refused.code.fatal or is_hello:  # nobody came in, so nothing else can follow
                raise
            session.say(messages.error(refused, messages.id_of(text)))

    def _act_on(self, session: Session, message: messages.ClientMessage, text: bytes, now_s: float, wall_s: float) -> None:
        self.said[message.op] += 1
        match message:
            case messages.SubscribeMessage():
                self._subscribe(session, message, now_s, wall_s)
            case messages.UnsubscribeMessage():
                self._unsubscribe(session, message, now_s)
            case messages.PingMessage():
                point = self.recoveries.point(session) if message.point else None
                session.say(messages.pong(int(wall_s * 1000)) if not message.point else messages.pong_with_point(int(wall_s * 1000), point))
            case messages.HelloMessage():
                self.arrivals.hello(session, message, now_s, wall_s)
            case messages.RefreshMessage():
                self.arrivals.refresh(session, message, now_s, wall_s)
            case messages.ActMessage() | messages.PrivateMessage():
                if isinstance(message, messages.ActMessage):
                    self._act_rates.check(session.user, now_s)
                self.gatekeeper.private.take(session, message, text, now_s, wall_s)
            case messages.LastMessage():
                self.gatekeeper.last(session, message, now_s)
            case messages.HistoryMessage():
                self.gatekeeper.history(session, message, text, now_s)
            case messages.ChangeMessage():
                self._act_rates.check(session.user, now_s)
                self.relay.ask(session, message.op, text, message.id, now_s)
            case _:
                self.relay.ask(session, message.op, text, message.id, now_s)

    # Subscriptions.

    def _subscribe(self, session: Session, message: messages.SubscribeMessage, now_s: float, wall_s: float) -> None:
        session.named_topics += len(message.topics)

        self.subscriptions.check_count(message.topics)  # before anything is done for each of them
        plan = self.recoveries.plan(session, message)
        self.gatekeeper.show_tokens(session, message, now_s, wall_s)
        if message.follow is not None:
            self.friends.begin(session, now_s, partial(self._follow_friends, session, message, plan))
            return
        self._admit(session, plan, message.topics, now_s, partial(self._named, session, message, plan))

    def _admit(self, session: Session, plan: RecoveryPlan | None, uris: list[str], now_s: float, done: Done) -> None:
        hold = partial(self.recoveries.hold, session, plan) if plan is not None else None
        try:
            self.gatekeeper.admission.subscribe(session, uris, now_s, done, hold)
        except Refused:
            if plan is not None:
                self.recoveries.give_up(session, plan)
            raise

    def _follow_friends(self, session: Session, message: messages.SubscribeMessage, plan: RecoveryPlan | None, now_s: float) -> None:
        """Subscribes to the topics of `message` that are of friends; to all there are, and will be, if it names none."""
        if not message.topics:
            answer = partial(self._followed, session, message, plan, [], [], now_s)
            self.friends.stand(session, now_s, recovers=message.recover, then=answer)
            return
        uris, strange = self.friends.sort(session, message.topics)

        def done(topics: list[Topic], rejected: list[messages.Rejected], done_s: float) -> None:
            self.friends.settle(session, topics, uris)
            self._followed(session, message, plan, topics, [*rejected, *strange], done_s)

        try:
            self._admit(session, plan, uris, now_s, done)
        except Refused as refused:
            self.friends.settle(session, [], uris)
            self.relay.refuse(session, message.id, refused)

    def _named(
        self,
        session: Session,
        message: messages.SubscribeMessage,
        plan: RecoveryPlan | None,
        topics: list[Topic],
        rejected: list[messages.Rejected],
        now_s: float,
    ) -> None:
        if session.friends is not None:
            session.friends.name(topics)
        if message.lasting:
            self.relay.follow(session, "follow", topics, now_s)
        self._followed(session, message, plan, topics, rejected, now_s)

    def _followed(
        self,
        session: Session,
        message: messages.SubscribeMessage,
        plan: RecoveryPlan | None,
        topics: list[Topic],
        rejected: list[messages.Rejected],
        now_s: float,
    ) -> None:
        """Answers `message` when `topics` of it, which are followed, are installed, and recovered as far as `plan` wants that."""

        def answer(installed: str, missing_sites: list[str], _: float) -> None:
            if session.state is not SessionState.READY:
                return
            recovery = self.recoveries.shown(session, lost, replayed) if plan is not None else None
            session.say(messages.subscribed(message.id, installed, missing_sites, rejected, recovery))
            self.offload_notices.subscribed(session, topics)

        lost: dict[Topic, str] = {}
        replayed = 0
        if plan is None:
            self.subscriptions.when_installed(message.wait, now_s, answer)
            return

        def recovered(its_lost: dict[Topic, str], its_replayed: int, over_s: float) -> None:
            nonlocal lost, replayed
            lost, replayed = its_lost, its_replayed
            self.subscriptions.when_installed(message.wait, over_s, answer)

        self.recoveries.begin(session, plan, topics, now_s, recovered)

    def _unsubscribe(self, session: Session, message: messages.UnsubscribeMessage, now_s: float) -> None:
        session.named_topics += len(message.topics)
        topics = self.subscriptions.parsed(session, message.topics)
        if message.follow is not None:
            self.friends.end(session)
        kept = session.friends.unname(topics) if session.friends is not None else ()
        self.gatekeeper.unsubscribe(session, [topic for topic in topics if topic not in kept])
        session.say(messages.unsubscribed(message.id))
        if message.lasting:
            self.relay.follow(session, "unfollow", topics, now_s)

    # Time and leaving.

    def tick(self, now_s: float, period_s: float) -> None:
        """Gives answers that are due, and looks for clients that are silent; is called every `period_s`."""
        steps = [partial(self.subscriptions.advance, now_s), partial(self.calls.tick, now_s), partial(self._silence.tick, now_s, period_s)]
        steps += [partial(self.recoveries.tick, now_s), partial(self.expiry.tick, now_s), partial(self.gatekeeper.tick, now_s)]
        steps += [partial(self.friends.tick, now_s)]
        for_every_one([*steps, partial(self.inboxes.tick, now_s, period_s)])

    def farewell(self, session: Session) -> None:
        """Asks a client to come back elsewhere, each at their own time, since this access point drains."""
        point = self.recoveries.point(session) if session.follows_with_recovery else None
        session.end(GoingAway(point), self._rng.randrange(self._options.reconnect_within_ms + 1))
