"""What an access point decides: who is let in, what each message does, when a client is sent away.

Time and randomness are arguments; sessions, the announcer and the calls are told what to do and do not wait.
"""

from collections import Counter
from functools import partial
from typing import Final, Protocol

from infra.kernel.announcer import Announcer
from infra.kernel.backoff import Rng
from infra.kernel.capture import Recorder
from infra.kernel.errors import Refused
from infra.kernel.every_one import for_every_one
from infra.kernel.roles import DECISION, NOTIFICATION
from infra.kernel.topics import Topic, inbox_topic

from . import messages
from .attendance import Attendance
from .authorization.gatekeeper import Gatekeeper
from .authorization.hook_arbiter import HookArbiter
from .bearer import TokenBearer, Verify
from .calls import Calls
from .catch_up import CatchUp
from .dismissals import Dismissals
from .expiry import Expiry
from .follows import Follows
from .hub import Hub
from .journal import Journal
from .offload_notices import OffloadNotices
from .options import AccessPointOptions
from .orders import Orders
from .pace import Pace
from .relay import Relay
from .session import Session, SessionState
from .sessions_by_user import SessionsByUser
from .silence import Silence
from .soon import Soon
from .subscriptions import Subscriptions

# What an access point asks for a client that has not asked.
FIRST_PULL: Final = b'{"op":"pull","limit":50}'


class Chance(Rng, Protocol):
    """The part of a random generator that an access point needs; `random.Random` has it."""

    def getrandbits(self, bits: int, /) -> int:
        """Returns a number of so many random bits."""

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
        self.announcer = Announcer(options.site, self.hub.wanted)
        self.calls = Calls(options.max_calls, options.max_calls_bytes, options.call_s)
        self.attendance = Attendance(soon)
        self.offload_notices = OffloadNotices(self.hub, options.max_topics_per_message, soon)
        # For a capture, and for the decision service if there may be one; for nobody else, because they cost time.
        self.follows = Follows() if DECISION in options.services else None
        recorders = [each for each in (recorder, self.follows) if each is not None]
        self.journal = Journal(self.hub, options.site, recorders) if recorders else None
        self.sessions: dict[Session, None] = {}
        self._ready: dict[str, Session] = {}  # by id, from their hello on
        self.pace = Pace(options)
        self.draining = False
        self.connects = self.evictions = self.skipped = self.paused = 0
        self.said: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.disconnects: Counter[str] = Counter()
        self.relay = Relay(self.calls, options.services, self.refusals, options.max_calls_per_client)
        self._strangers: dict[Session, None] = {}  # those that have not said hello, the oldest first
        self._options = options
        self._verify = verify
        self._rng = rng
        self.subscriptions = Subscriptions(options, self.hub, self.announcer, self.journal)
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
        self._connect_hook = hook if hook is not None and hook.asks_connect else None
        self._has_inboxes = NOTIFICATION in options.services
        self._silence = Silence(options, self.sessions)
        self.expiry = Expiry(leeway_s)
        self.orders = Orders(f"{options.site}/{options.node}", self._ready, self.hub, self.users, self.gatekeeper, soon)
        self.dismissals = Dismissals(self.sessions, self.users, soon)
        self.catch_up = CatchUp(options, self.sessions, rng)
        self._restored = 0
        self._limits = {
            "message_bytes": options.max_message_bytes,
            "topics_per_message": options.max_topics_per_message,
            "topics": options.max_topics,
            "messages_per_s": options.max_messages_per_s,
            "bytes_per_s": options.max_bytes_per_s,
            "topics_per_s": options.max_topics_per_s,
        }

    @property
    def strangers(self) -> int:
        """The number of connections that have not said hello."""
        return len(self._strangers)

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
        self._strangers[session] = None
        if len(self._strangers) > self._options.max_unfinished:
            # Whoever means to come in says hello at once, so it is not a newcomer who goes.
            oldest = next(iter(self._strangers))
            self.refusals["overloaded"] += 1
            oldest.end(Refused("overloaded", f"{self._options.max_unfinished} connections have not said hello, and yours is the oldest"))

    def leave(self, session: Session, why: str) -> None:
        """Forgets a connection that is gone; `why` is a code of the table, `closed` or `lost`."""
        if session not in self.sessions:
            return
        del self.sessions[session]
        self._strangers.pop(session, None)
        self.expiry.forget(session)
        # While the session is still ready and subscribed: the journal asks what it held.
        if session.state is SessionState.READY:
            self._ready.pop(session.id, None)
            self.attendance.leave((session.user, session.client), session.mobile)
            if self.journal is not None:
                self.journal.left(session, self.hub.held(session))
        self.gatekeeper.left(session)
        session.state = SessionState.ENDED
        self.disconnects[why] += 1
        if session.outbox is not None:
            self.resumed(session)
        self.subscriptions.leave(session)

    def _check_connections(self, user: str) -> None:
        """Raises `Refused` if `user` has as many connections as a user may have."""
        most = self._options.max_connections_per_user
        if self.users.count(user) >= most:
            raise Refused("overloaded", f"this user has {most} connections here, and may not have more; close one first")

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
                session.say(messages.pong(int(wall_s * 1000)))
            case messages.HelloMessage():
                self._hello(session, message, now_s, wall_s)
            case messages.RefreshMessage():
                self._refresh(session, message, now_s, wall_s)
            case messages.ActMessage() | messages.PrivateMessage():
                self.gatekeeper.private.take(session, message, text, now_s, wall_s)
            case messages.LastMessage():
                self.gatekeeper.last(session, message, now_s)
            case messages.HistoryMessage():
                self.gatekeeper.history(session, message, text, now_s)
            case _:
                self.relay.ask(session, message.op, text, message.id, now_s)

    def _hello(self, session: Session, hello: messages.HelloMessage, now_s: float, wall_s: float) -> None:
        bearer = self._verified(hello, wall_s)
        if self._connect_hook is None:
            self._come_in(session, hello, bearer, now_s, wall_s)
            return
        session.state = SessionState.ASKING

        def decided(refused: Refused | None, decided_s: float) -> None:
            if session.state is SessionState.ASKING:  # else it has gone meanwhile
                self._decided(session, hello, refused, decided_s, wall_s + max(0.0, decided_s - now_s))

        self._connect_hook.connect(bearer.user, hello.client, hello.device, decided)

    def _verified(self, hello: messages.HelloMessage, wall_s: float) -> TokenBearer:
        bearer = self._verify(hello.token, wall_s)
        if hello.user is not None and hello.user != bearer.user:
            raise Refused("wrong-user", f"hello says {hello.user!r:.80}, but the token is {bearer.user!r}'s")
        return bearer

    def _decided(self, session: Session, hello: messages.HelloMessage, refused: Refused | None, now_s: float, wall_s: float) -> None:
        """Lets in a session whose hello waited for an answer, or ends it."""
        try:
            if refused is not None:
                raise refused
            # Once more: meanwhile the token may have been revoked.
            self._come_in(session, hello, self._verified(hello, wall_s), now_s, wall_s)
        except Refused as why:
            self.refusals[why.code.name] += 1
            session.end(why)
        else:
            session.let_in()

    def _come_in(self, session: Session, hello: messages.HelloMessage, bearer: TokenBearer, now_s: float, wall_s: float) -> None:
        user = bearer.user
        self._check_connections(user)
        self._strangers.pop(session, None)
        session.user, session.client, session.state = user, hello.client, SessionState.READY
        session.mobile = hello.device == "mobile"
        session.id = f"{self._rng.getrandbits(64):016x}"
        session.since_s = wall_s
        self._ready[session.id] = session
        self.expiry.bear(session, bearer, now_s, wall_s)
        self.gatekeeper.joined(session, hello)
        self.attendance.arrive((user, hello.client), session.mobile)
        if self.journal is not None:
            self.journal.joined(session)
        session.say(messages.welcome(session.id, self._options.site, user, int(wall_s * 1000), session.expires_s, self._limits))
        if self._has_inboxes:
            self._open_inbox(session, now_s)

    def _refresh(self, session: Session, message: messages.RefreshMessage, now_s: float, wall_s: float) -> None:
        bearer = self._verify(message.token, wall_s)
        if bearer.user != session.user:
            raise Refused("wrong-user", f"this session is {session.user!r}'s, but the token is {bearer.user!r}'s")
        self.expiry.bear(session, bearer, now_s, wall_s)
        self.gatekeeper.narrowed(session)
        session.say(messages.refreshed(message.id, session.expires_s))

    def _open_inbox(self, session: Session, now_s: float) -> None:
        """Follows the inbox from now on, and pulls once for the client, so that it need not ask (SB-11).

        The pull waits until the inbox is installed at all sites: what is stored before that is in the answer, what is stored
        after it comes live, and nothing falls between the two. The service has as long to answer as for any other call, however
        long the inbox has taken.
        """

        def pull(installed: str, missing_sites: list[str], installed_s: float) -> None:
            if session.state is SessionState.READY and self.calls.has(NOTIFICATION):
                self.relay.ask(session, "pull", FIRST_PULL, None, installed_s)

        # In this order: the wait is for all that was announced before it, and the inbox must be among that.
        self.subscriptions.add(session, [inbox_topic(session.user)])
        self.subscriptions.when_installed("all", now_s, pull)

    # Subscriptions.

    def _subscribe(self, session: Session, message: messages.SubscribeMessage, now_s: float, wall_s: float) -> None:
        session.named_topics += len(message.topics)

        def done(topics: list[Topic], rejected: list[messages.Rejected], done_s: float) -> None:
            self.relay.follow(session, "follow", topics, done_s)

            def answer(installed: str, missing_sites: list[str], _: float) -> None:
                if session.state is SessionState.READY:
                    session.say(messages.subscribed(message.id, installed, missing_sites, rejected))
                    self.offload_notices.subscribed(session, topics)

            self.subscriptions.when_installed(message.wait, done_s, answer)

        self.subscriptions.check_count(message.topics)  # before anything is done for each of them
        self.gatekeeper.show_tokens(session, message, now_s, wall_s)
        self.gatekeeper.admission.subscribe(session, message.topics, now_s, done)

    def _unsubscribe(self, session: Session, message: messages.UnsubscribeMessage, now_s: float) -> None:
        session.named_topics += len(message.topics)
        topics = self.subscriptions.parsed(session, message.topics)
        self.gatekeeper.unsubscribe(session, topics)
        session.say(messages.unsubscribed(message.id))
        self.relay.follow(session, "unfollow", topics, now_s)

    # Slowness and leaving.

    def stopped(self, session: Session) -> None:
        """Notes that a client has stopped reading: from now on its events wait."""
        self.paused += 1

    def resumed(self, session: Session) -> None:
        """Notes that a client reads again, or is gone."""
        self.paused -= 1
        if session.outbox is not None:
            self.skipped += session.outbox.skipped
            session.outbox = None
            self.offload_notices.resumed(session)

    def check_slow(self, session: Session, now_s: float) -> None:
        """Sends a client away that keeps too much waiting, or for too long."""
        outbox = session.outbox
        if outbox is None or session.state is SessionState.ENDED:
            return
        options = self._options
        if outbox.is_full:
            reason = f"over {options.outbox_bytes} bytes wait for this client"
        elif now_s - outbox.since_s > options.stalled_s:
            reason = f"events have waited for this client for {options.stalled_s:g} s"
        else:
            return
        self.evictions += 1
        session.end(Refused("slow-consumer", reason))

    def tick(self, now_s: float, period_s: float) -> None:
        """Gives answers that are due, and looks for clients that are silent; is called every `period_s`."""
        steps = [partial(self.subscriptions.advance, now_s), partial(self.calls.tick, now_s), partial(self._silence.tick, now_s, period_s)]
        steps += [partial(self.expiry.tick, now_s), partial(self.gatekeeper.tick, now_s)]
        if self._has_inboxes:
            steps.append(partial(self._catch_up, now_s, period_s))
        for_every_one(steps)

    def _catch_up(self, now_s: float, period_s: float) -> None:
        """Pulls what was stored while inboxes were not installed, once they are again and a notification module can be asked."""
        if self.announcer.restored != self._restored:
            self._restored = self.announcer.restored
            self.catch_up.want()
        if self.calls.has(NOTIFICATION):
            for_every_one(
                partial(self.relay.catch_up, session, FIRST_PULL, self.catch_up, now_s) for session in self.catch_up.due(now_s, period_s)
            )

    def farewell(self, session: Session) -> None:
        """Asks a client to come back elsewhere, each at their own time, since this access point drains."""
        session.end(Refused("going-away"), self._rng.randrange(self._options.reconnect_within_ms + 1))
