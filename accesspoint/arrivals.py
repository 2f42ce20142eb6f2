"""Arrivals: what a connection has to say before it is a session, and what a session shows later to stay one. Pure.

After a start nobody is let in before it is known whose tokens are revoked. Hellos wait for that, as they do for the hook: as long as a
hello may take, and then the client is told to come back.
"""

from collections import Counter
from functools import partial
from typing import Protocol

from infra.kernel.errors import Refused
from infra.kernel.every_one import for_every_one

from . import messages
from .attendance import Attendance
from .authorization.gatekeeper import Gatekeeper
from .authorization.hook_arbiter import HookArbiter
from .bearer import TokenBearer, Verify
from .expiry import Expiry
from .inboxes import Inboxes
from .journal import Journal
from .keeping import Keeping
from .options import AccessPointOptions
from .session import Session, SessionState
from .sessions_by_user import SessionsByUser


class IdSource(Protocol):
    """The part of a random generator that makes ids; `random.Random` has it."""

    def getrandbits(self, bits: int, /) -> int:
        """Returns a number of so many random bits."""


class Arrivals:
    """The hellos of one access point, and the tokens that sessions show.

    - `verify(token, wall_s)`: returns who shows a token. Raises `Refused`.
    - `rng`: makes the ids of sessions.
    - `hook`: is asked who may come in, if it is there to be asked that.
    - `gatekeeper`, `expiry`, `attendance`, `journal`, `inboxes`: are told who has come in.
    - `refusals`: counts whom it sends away, by code.
    - `keeping`: what they are told that is kept.
    """

    def __init__(
        self,
        options: AccessPointOptions,
        verify: Verify,
        rng: IdSource,
        *,
        hook: HookArbiter | None,
        users: SessionsByUser,
        gatekeeper: Gatekeeper,
        expiry: Expiry,
        attendance: Attendance,
        journal: Journal | None,
        inboxes: Inboxes,
        refusals: Counter[str],
        keeping: Keeping,
    ) -> None:
        self.ready: dict[str, Session] = {}
        """Those that have come in, by id."""
        self.strangers: dict[Session, None] = {}
        """Those that have not come in, the oldest first."""
        self._is_held = False
        self._held: dict[Session, messages.HelloMessage] = {}
        self._options, self._verify, self._rng = options, verify, rng
        self._hook = hook if hook is not None and hook.asks_connect else None
        self._users, self._gatekeeper, self._expiry, self._attendance = users, gatekeeper, expiry, attendance
        self._journal, self._inboxes, self._refusals, self._keeping = journal, inboxes, refusals, keeping
        self._limits = {
            "message_bytes": options.max_message_bytes,
            "topics_per_message": options.max_topics_per_message,
            "topics": options.max_topics,
            "messages_per_s": options.max_messages_per_s,
            "bytes_per_s": options.max_bytes_per_s,
            "topics_per_s": options.max_topics_per_s,
        }

    def wait(self, session: Session) -> None:
        """Lets a connection wait that has not said hello yet. If too many do, the oldest is sent away."""
        self.strangers[session] = None
        if len(self.strangers) > self._options.max_unfinished:
            # Whoever means to come in says hello at once, so it is not a newcomer who goes.
            oldest = next(iter(self.strangers))
            self._refusals["overloaded"] += 1
            oldest.end(Refused("overloaded", f"{self._options.max_unfinished} connections have not said hello, and yours is the oldest"))

    def left(self, session: Session) -> None:
        """Forgets a connection that is gone."""
        self.strangers.pop(session, None)
        self.ready.pop(session.id, None)
        self._held.pop(session, None)

    def hold(self) -> None:
        """Has whoever says hello wait, until `release` is called. At most as many do as may be without a hello."""
        self._is_held = True

    def release(self, now_s: float, wall_s: float) -> None:
        """Lets in those who waited, and everybody from now on, unless their tokens turn out to be revoked.

        - `now_s`: time that never goes back; `wall_s`: Unix time.

        Raises what went wrong with some when all had their turn.
        """
        self._is_held = False
        held, self._held = self._held, {}
        for_every_one(partial(self._greet_again, session, hello, now_s, wall_s) for session, hello in held.items())

    def hello(self, session: Session, hello: messages.HelloMessage, now_s: float, wall_s: float) -> None:
        """Lets `session` in, or does so when it is known who is revoked, and when the hook allows it. Raises `Refused`.

        - `now_s`: time that never goes back; `wall_s`: Unix time.
        """
        bearer = self._verified(session, hello, now_s, wall_s)
        if self._is_held:
            session.state = SessionState.ASKING
            self._held[session] = hello
        elif self._hook is not None:
            self._ask(self._hook, session, hello, bearer, now_s, wall_s)
        else:
            self._come_in(session, hello, bearer, now_s, wall_s)

    def _greet_again(self, session: Session, hello: messages.HelloMessage, now_s: float, wall_s: float) -> None:
        if session.state is not SessionState.ASKING:
            return  # letting in another one has ended it
        if self._hook is None:
            self._decided(session, hello, None, now_s, wall_s)
            return
        try:
            self._ask(self._hook, session, hello, self._verified(session, hello, now_s, wall_s), now_s, wall_s)
        except Refused as why:
            self._refuse(session, why)

    def _ask(
        self, hook: HookArbiter, session: Session, hello: messages.HelloMessage, bearer: TokenBearer, now_s: float, wall_s: float
    ) -> None:
        session.state = SessionState.ASKING

        def decided(refused: Refused | None, decided_s: float) -> None:
            if session.state is SessionState.ASKING:  # else it has gone meanwhile
                self._decided(session, hello, refused, decided_s, wall_s + max(0.0, decided_s - now_s))

        hook.connect(bearer.user, hello.client, hello.device, decided)

    def refresh(self, session: Session, message: messages.RefreshMessage, now_s: float, wall_s: float) -> None:
        """Takes another token of the same user. What it does not allow any more ends. Raises `Refused`."""
        bearer = self._shown(session, message.token, now_s, wall_s)
        if bearer.user != session.user:
            raise Refused("wrong-user", f"this session is {session.user!r}'s, but the token is {bearer.user!r}'s")
        self._expiry.bear(session, bearer, now_s, wall_s)
        self._gatekeeper.narrowed(session)
        session.say(messages.refreshed(message.id, session.expires_s))

    def _shown(self, session: Session, token: str, now_s: float, wall_s: float) -> TokenBearer:
        return session.place.check_token(partial(self._verify, token, wall_s), now_s)

    def _verified(self, session: Session, hello: messages.HelloMessage, now_s: float, wall_s: float) -> TokenBearer:
        bearer = self._shown(session, hello.token, now_s, wall_s)
        if hello.user is not None and hello.user != bearer.user:
            raise Refused("wrong-user", f"hello says {hello.user!r:.80}, but the token is {bearer.user!r}'s")
        return bearer

    def _decided(self, session: Session, hello: messages.HelloMessage, refused: Refused | None, now_s: float, wall_s: float) -> None:
        """Lets in a session whose hello waited for an answer, or ends it."""
        try:
            if refused is not None:
                raise refused
            # Once more: meanwhile the token may have been revoked.
            self._come_in(session, hello, self._verified(session, hello, now_s, wall_s), now_s, wall_s)
        except Refused as why:
            self._refuse(session, why)
        else:
            session.let_in()

    def _refuse(self, session: Session, why: Refused) -> None:
        self._refusals[why.code.name] += 1
        session.end(why)

    def _come_in(self, session: Session, hello: messages.HelloMessage, bearer: TokenBearer, now_s: float, wall_s: float) -> None:
        self._check_connections(bearer.user)
        self.strangers.pop(session, None)
        session.user, session.client, session.state = bearer.user, hello.client, SessionState.READY
        session.mobile = hello.device == "mobile"
        session.id = f"{self._rng.getrandbits(64):016x}"
        session.since_s = wall_s
        self.ready[session.id] = session
        self._expiry.bear(session, bearer, now_s, wall_s)
        self._gatekeeper.joined(session, hello)
        self._attendance.arrive((session.user, hello.client), session.mobile)
        if self._journal is not None:
            self._journal.joined(session)
        session.say(
            messages.welcome(
                session.id, self._options.site, session.user, int(wall_s * 1000), session.expires_s, self._limits, self._keeping.kinds
            )
        )
        self._inboxes.open(session, now_s)

    def _check_connections(self, user: str) -> None:
        """Raises `Refused` if `user` has as many connections as a user may have."""
        most = self._options.max_connections_per_user
        if self._users.count(user) >= most:
            raise Refused("overloaded", f"this user has {most} connections here, and may not have more; close one first")
