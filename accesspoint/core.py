"""What an access point decides: who is let in, what each message does, when a client is sent away.

Time and randomness are arguments; sessions, the announcer and the calls are told what to do and do not wait.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Final, Protocol

from infra.kernel.announcer import Announcer
from infra.kernel.capture import Recorder
from infra.kernel.codes import Code
from infra.kernel.errors import Refused
from infra.kernel.limbo import Limbo
from infra.kernel.topics import Topic, inbox_topic

from . import messages
from .attendance import Attendance
from .calls import Calls
from .followable import parse_followable
from .follows import Follows
from .hub import Hub, Row
from .journal import Journal
from .offloaded import Offloaded
from .options import DECIDER, AccessPointOptions
from .relay import Relay
from .session import Session, State
from .waits import Answer, Waits

FIRST_PULL: Final = b'{"op":"pull","limit":50}'


class Identity(Protocol):
    """Who a token says its bearer is."""

    @property
    def user(self) -> str:
        """The user name."""


Verify = Callable[[str, float], Identity]


class AccessPointCore:
    """All sessions of one access point. `verify(token, wall_s)` raises `Refused`. `recorder`: is told of what is captured."""

    def __init__(self, options: AccessPointOptions, verify: Verify, rng: random.Random, recorder: Recorder | None = None) -> None:
        self.hub = Hub()
        self.announcer = Announcer(options.site, self.hub.wanted)
        self.waits = Waits(options.site)
        self.calls = Calls(options.max_calls, options.call_s)
        self.attendance = Attendance()
        self.offloaded = Offloaded(self.hub, options.max_topics_per_message)
        self.journal: Journal | None = None
        self.follows: Follows | None = None
        self.sessions: dict[Session, None] = {}
        self.draining = False
        self.connects = self.evictions = self.skipped = self.paused = 0
        self.said: Counter[str] = Counter()
        self.refusals: Counter[str] = Counter()
        self.disconnects: Counter[str] = Counter()
        self.relay = Relay(self.calls, options.services, self.refusals)
        self._options = options
        self._verify = verify
        self._rng = rng
        self._keep_journal(recorder)
        self._limbo = Limbo([self.announcer])
        self._has_inboxes = "notification" in options.services
        self._sweep: Iterator[Session] = iter(())
        self._sweep_size = 0
        self._limits = {
            "message_bytes": options.max_message_bytes,
            "topics_per_message": options.max_topics_per_message,
            "topics": options.max_topics,
            "messages_per_s": options.max_messages_per_s,
        }

    def _keep_journal(self, recorder: Recorder | None) -> None:
        """For a capture, and for the decision service if there may be one; for nobody else, because it costs time."""
        if recorder is not None or DECIDER in self._options.services:
            self.journal = Journal(self.hub, self._options.site, () if recorder is None else (recorder,))
        if self.journal is not None and DECIDER in self._options.services:
            self.follows = Follows(self.journal.followed)
            self.journal.recorders.append(self.follows)

    # Life of a session.

    def admit(self) -> None:
        """Raises `Refused` if no further connection may be made now."""
        if self.draining:
            raise Refused("going-away")
        if len(self.sessions) >= self._options.max_connections:
            raise Refused("overloaded", f"this access point serves {self._options.max_connections} connections and no more")

    def join(self, session: Session) -> None:
        """A connection stands; it has not said hello yet."""
        self.sessions[session] = None
        self.connects += 1

    def leave(self, session: Session, why: str) -> None:
        """A connection is gone: withdraw its topics and no others (SB-10)."""
        if session not in self.sessions:
            return
        del self.sessions[session]
        if session.state is State.READY:
            self.attendance.leave((session.user, session.client), session.mobile)
            if self.journal is not None:
                self.journal.left(session, self.hub.held(session))
        session.state = State.ENDED
        self.disconnects[why] += 1
        if session.outbox is not None:
            self.resumed(session)
        self._withdraw(self.hub.leave(session))

    def receive(self, session: Session, text: bytes, now_s: float, wall_s: float) -> None:
        """One message. What is wrong is answered with an error; raises `Refused` if the connection must end."""
        try:
            if not session.count(now_s, self._options.max_messages_per_s):
                raise Refused("rate-limited", f"more than {self._options.max_messages_per_s} messages in one second")
            message = messages.parse(text)
            session.expect(message)
            self._act_on(session, message, text, now_s, wall_s)
        except Refused as refused:
            self.refusals[refused.code.name] += 1
            if refused.code.fatal:
                raise
            session.say(messages.error(refused, messages.id_of(text)))

    def _act_on(self, session: Session, message: messages.Message, text: bytes, now_s: float, wall_s: float) -> None:
        self.said[type(message).__name__.lower()] += 1
        match message:
            case messages.Subscribe():
                self._subscribe(session, message, now_s)
            case messages.Unsubscribe():
                self._unsubscribe(session, message, now_s)
            case messages.Ping():
                session.say(messages.pong(int(wall_s * 1000)))
            case messages.Hello():
                self._hello(session, message, now_s, wall_s)
            case _:
                op = type(message).__name__.lower()
                self.relay.ask(session, op, text, message.id, now_s)

    def _hello(self, session: Session, hello: messages.Hello, now_s: float, wall_s: float) -> None:
        user = self._verify(hello.token, wall_s).user
        if hello.user is not None and hello.user != user:
            raise Refused("wrong-user", f"hello says {hello.user!r:.80}, but the token is {user!r}'s")
        session.user, session.client, session.state = user, hello.client, State.READY
        session.mobile = hello.device == "mobile"
        session.id = f"{self._rng.getrandbits(64):016x}"
        self.attendance.arrive((user, hello.client), session.mobile)
        if self.journal is not None:
            self.journal.joined(session)
        session.say(messages.welcome(session.id, self._options.site, user, int(wall_s * 1000), self._limits))
        if self._has_inboxes:
            self._open_inbox(session, now_s)

    def _open_inbox(self, session: Session, now_s: float) -> None:
        """Live notifications from now on, and one pull for the client, so that it need not ask (SB-11).

        The pull waits until the inbox is installed at all sites: what is stored before that is in the answer, what is stored
        after it comes live, and nothing falls between the two.
        """

        def pull(installed: str, missing_sites: list[str]) -> None:
            if session.state is State.READY and self.calls.has("notification"):
                self.relay.ask(session, "pull", FIRST_PULL, None, now_s)

        self._subscribe_all(session, [inbox_topic(session.user)])
        self._when_installed("all", now_s, pull)

    # Subscriptions.

    def _subscribe(self, session: Session, message: messages.Subscribe, now_s: float) -> None:
        limit = self._options.max_topics_per_message
        if len(message.topics) > limit:
            raise Refused("too-many-topics", f"{len(message.topics)} topics in one message; send at most {limit} at a time")
        rejected: list[tuple[str, Code]] = []
        try:
            topics = list(map(parse_followable, message.topics))
            self._want(session, topics)
        except Refused:
            topics, rejected = self._want_what_is_right(session, message.topics)
        self.relay.follow(session, "follow", topics, now_s)

        def answer(installed: str, missing_sites: list[str]) -> None:
            if session.state is State.READY:
                session.say(messages.subscribed(message.id, installed, missing_sites, rejected))
                self.offloaded.subscribed(session, topics)

        self._when_installed(message.wait, now_s, answer)

    def _want(self, session: Session, topics: list[Topic]) -> None:
        """Subscribe to all of `topics`. Raises `Refused`, and nothing is done, if that might be too many."""
        if len(topics) > self._room(session):
            raise Refused("too-many-topics")
        self._subscribe_all(session, topics)

    def _subscribe_all(self, session: Session, topics: list[Topic]) -> None:
        if self.journal is not None:
            self.journal.subscribed(session, [topic for topic in dict.fromkeys(topics) if not self.hub.holds(session, topic)])
        if news := self.hub.subscribe_all(session, topics):
            self.announcer.want(news)

    def _room(self, session: Session) -> int:
        """How many topics a client may still follow; its inbox does not count."""
        return self._options.max_topics + self._has_inboxes - len(session.handles)

    def _want_what_is_right(self, session: Session, uris: list[str]) -> tuple[list[Topic], list[tuple[str, Code]]]:
        """Subscribe to those that are topics, as far as there is room. Returns what is followed now, and what was wrong."""
        rejected: list[tuple[str, Code]] = []
        followed: dict[Topic, None] = {}
        news: list[Topic] = []
        room = self._room(session)
        for uri in uris:
            try:
                topic = parse_followable(uri)
                if topic not in followed and session not in self.hub.topics.get(topic, ()):
                    if len(news) >= room:
                        raise Refused("too-many-topics")
                    news.append(topic)
                followed[topic] = None
            except Refused as refused:
                rejected.append((uri, refused.code))
        self._want(session, news)
        return list(followed), rejected

    def _when_installed(self, wait: str, now_s: float, answer: Answer) -> None:
        self.waits.add(wait, self.announcer.mark(), now_s + self._options.install_s, answer)
        self.waits.advance(self.announcer.reached, now_s)

    def _unsubscribe(self, session: Session, message: messages.Unsubscribe, now_s: float) -> None:
        topics = list(map(parse_followable, message.topics))  # all or nothing: a row that was left must be withdrawn
        if self.journal is not None:
            self.journal.unsubscribed(session, [topic for topic in dict.fromkeys(topics) if self.hub.holds(session, topic)])
        left = [self.hub.unsubscribe(session, topic) for topic in topics]
        self._withdraw([row for row in left if row is not None])
        session.say(messages.unsubscribed(message.id))
        self.relay.follow(session, "unfollow", topics, now_s)

    def _withdraw(self, rows: list[Row]) -> None:
        if rows:
            self.announcer.unwant(row.topic for row in rows)
            self._limbo.add((row.handle, row.topic) for row in rows)

    def advanced(self, now_s: float) -> None:
        """The announcer has made progress: answer who waited for it, free the numbers of withdrawn topics."""
        self.waits.advance(self.announcer.reached, now_s)
        for handle, topic in self._limbo.leave():
            self.hub.release(handle, topic)

    # Slowness, silence, leaving.

    def stopped(self, session: Session) -> None:
        """The client has stopped reading: from now on its events wait."""
        self.paused += 1

    def resumed(self, session: Session) -> None:
        """The client reads again, or is gone."""
        self.paused -= 1
        if session.outbox is not None:
            self.skipped += session.outbox.skipped
            session.outbox = None
            self.offloaded.resumed(session)

    def check_slow(self, session: Session, now_s: float) -> None:
        """Send a client away that keeps too much waiting, or for too long."""
        outbox = session.outbox
        if outbox is None or session.state is State.ENDED:
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
        """Every `period_s`: answers that are due, and a share of all sessions is looked at, each once in half a `ping_s`."""
        self.waits.advance(self.announcer.reached, now_s)
        self.calls.tick(now_s)
        share = 1 + int(self._sweep_size * 2 * period_s / self._options.ping_s)
        seen = 0
        for session in islice(self._sweep, share):
            seen += 1
            self._look_at(session, now_s)
        if seen < share:
            self._sweep_size = len(self.sessions)
            self._sweep = iter(list(self.sessions))

    def _look_at(self, session: Session, now_s: float) -> None:
        silent_s = now_s - session.heard_s
        if session.state is State.ENDED:
            return
        if session.state is State.READY and silent_s > self._options.silent_s:
            session.end(Refused("heartbeat-timeout", f"nothing heard for {silent_s:.0f} s"))
        elif session.state is State.READY and silent_s > self._options.ping_s:
            session.ping()

    def farewell(self, session: Session) -> None:
        """Draining: ask a client to come back elsewhere, each at its own time."""
        session.end(Refused("going-away"), self._rng.randrange(self._options.reconnect_within_ms + 1))
