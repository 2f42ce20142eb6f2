"""Private sessions: what is played in one is seen by nobody (AUTH-8), so it goes no further than here. Pure.

The social service remembers it for each device, with the hour at which it ends. A session asks once, before its first act. While that
is not known, nothing is passed on: acts wait in their order, and are refused where nobody can say.
"""

from collections import deque
from collections.abc import Callable
from typing import Final, NamedTuple

import msgspec

from infra.kernel.access import FOREVER_MS, private_until_ms
from infra.kernel.errors import Refused
from infra.kernel.frames import Reply
from infra.kernel.open_calls import refusal_of
from infra.kernel.roles import SOCIAL

from . import messages
from .calls import Calls
from .relay import Relay
from .session import Session, SessionState
from .sessions_by_user import SessionsByUser

# Until the session ends, of which only this session knows: no client and no service can name it.
HERE: Final = FOREVER_MS + 1
# So much of a session may wait for the answer.
MAX_WAITING: Final = 64
MAX_WAITING_BYTES: Final = 64 << 10

_UNTIL: Final = msgspec.msgpack.Decoder(int)


class _Set(msgspec.Struct):
    """The part of the answer to `private` that matters here."""

    until_ms: int


_SET: Final = msgspec.json.Decoder(_Set)


class _Said(NamedTuple):
    message: messages.ActMessage | messages.PrivateMessage
    text: bytes
    now_s: float
    wall_s: float


class PrivateSessions:
    """The acts of all sessions, and whether they are private.

    - `relay`, `calls`: lead to the services.
    - `users`: all sessions, since several may be of one device.
    - `has_social`: whether there is a social service. Without it, a private session is known here alone.
    """

    def __init__(self, relay: Relay, calls: Calls, users: SessionsByUser, *, has_social: bool) -> None:
        self.dropped = 0
        self._relay, self._calls, self._users, self._has_social = relay, calls, users, has_social
        self._waiting: dict[Session, deque[_Said]] = {}
        # Those that wait for an answer which was perhaps given before something changed: it is believed no more.
        self._doubtful: set[Session] = set()

    def joined(self, session: Session, *, is_private: bool) -> None:
        """Notes whether the hello of `session` said that it is private."""
        session.private_until_ms = HERE if is_private else None if self._has_social else 0

    def take(
        self, session: Session, message: messages.ActMessage | messages.PrivateMessage, text: bytes, now_s: float, wall_s: float
    ) -> None:
        """Does what an act or a change of privacy says, in the order of the session. Raises `Refused` if too much of it waits."""
        said = _Said(message, text, now_s, wall_s)
        waiting = self._waiting.get(session)
        if waiting is None:
            waiting = self._waiting[session] = deque((said,))
            self._go_on(session)
        elif len(waiting) >= MAX_WAITING or sum(len(each.text) for each in waiting) + len(text) > MAX_WAITING_BYTES:
            raise Refused("rate-limited", "so many acts of yours wait for an answer; send them more slowly")
        else:
            waiting.append(said)

    def changed(self, user: str) -> None:
        """Notes that devices of `user` are private no longer, or are now: their sessions ask again."""
        for session in self._users.of(user):
            if self._has_social and session.private_until_ms != HERE:
                session.private_until_ms = None
                self._doubt(session)

    def left(self, session: Session) -> None:
        """Forgets what waits of a session that is gone."""
        self._waiting.pop(session, None)
        self._doubtful.discard(session)

    def _doubt(self, session: Session) -> None:
        if session in self._waiting:
            self._doubtful.add(session)

    def _go_on(self, session: Session) -> None:
        """Does what waits, up to the first that needs an answer. Of a session that has ended meanwhile nothing waits."""
        waiting = self._waiting.get(session)
        while waiting:
            said = waiting[0]
            if isinstance(said.message, messages.PrivateMessage):
                if self._has_social:
                    self._ask_social(session, said, "private", said.text, self._was_set)
                    return
                self._set_here(session, said, said.message)
            elif session.private_until_ms is None:
                self._ask_social(session, said, "is-private", b"", self._was_told)
                return
            else:
                self._act(session, said, session.private_until_ms)
            waiting.popleft()
        self._waiting.pop(session, None)

    def _act(self, session: Session, said: _Said, until_ms: int) -> None:
        if said.wall_s * 1000 < until_ms:
            self.dropped += 1
            session.say(messages.ok(said.message.id))
        else:
            self._relay.ask(session, "act", said.text, said.message.id, said.now_s)

    def _set_here(self, session: Session, said: _Said, wanted: messages.PrivateMessage) -> None:
        until_ms = private_until_ms(said.wall_s * 1000, wanted.hours) if wanted.on else 0
        self._note(session, until_ms)
        session.say(messages.private(wanted.id, wanted.on, until_ms))

    def _ask_social(self, session: Session, said: _Said, op: str, body: bytes, take: Callable[[Session, _Said, bytes], None]) -> None:
        def answered(result: Reply | Refused) -> None:
            if session.state is SessionState.READY and session in self._waiting:
                refused = _refusal(op, result)
                if refused is not None:
                    self._refuse(session, said, refused)
                else:
                    take(session, said, result.body if isinstance(result, Reply) else b"")
                self._go_on(session)

        self._doubtful.discard(session)
        try:
            self._calls.call(SOCIAL, op, session.user, session.client, body, said.now_s, answered)
        except Refused as refused:
            answered(refused)

    def _refuse(self, session: Session, said: _Said, refused: Refused) -> None:
        """Fails closed: what may be private is not passed on."""
        self._waiting[session].popleft()
        if isinstance(said.message, messages.ActMessage):
            refused = Refused("unavailable", f"nobody can say now whether you listen in private: {refused.reason}")
        self._relay.refuse(session, said.message.id, refused)

    def _was_told(self, session: Session, said: _Said, body: bytes) -> None:
        try:
            until_ms = _UNTIL.decode(body) if body else 0
        except msgspec.DecodeError:
            self._refuse(session, said, Refused("unavailable", "the social service has answered something else"))
        else:
            session.private_until_ms = None if session in self._doubtful else until_ms

    def _was_set(self, session: Session, said: _Said, body: bytes) -> None:
        self._waiting[session].popleft()
        try:
            until_ms = None if session in self._doubtful else _SET.decode(body).until_ms
        except msgspec.DecodeError:
            until_ms = None
        if until_ms is None:  # it is asked for before the next act
            session.private_until_ms = None
            self.changed(session.user)
        else:
            self._note(session, until_ms)
        session.say(body)

    def _note(self, session: Session, until_ms: int) -> None:
        """Notes it for all sessions of the device."""
        for each in self._users.of(session.user):
            if each.client == session.client:
                each.private_until_ms = until_ms
                self._doubt(each)


def _refusal(op: str, result: Reply | Refused) -> Refused | None:
    """Returns what the social service has against it, if anything. One of an older version knows of no private sessions: there are none."""
    if isinstance(result, Reply) and op == "is-private" and result.code == "unknown-op":
        return None
    return refusal_of(result)
