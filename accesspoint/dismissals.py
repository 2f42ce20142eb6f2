"""Dismissals: the sessions that end because a token was revoked or a user banned. Pure.

Most news are about a user, whose sessions are found at once. A token is looked for in all sessions: a portion of them in each turn of
the loop, so that events of others come in between.
"""

from collections.abc import Collection, Sequence
from functools import partial
from typing import Final

from infra.kernel.every_one import for_every_one
from infra.kernel.revocations import Ban, Entry, Revocation, Revocations

from .hub import SLICE
from .session import Session, SessionState
from .sessions_by_user import SessionsByUser
from .soon import Soon, in_slices

# To look at a session takes a tenth of a microsecond, so this is well under a millisecond.
PORTION: Final = 4096


class Dismissals:
    """The dismissals at one access point. `sessions` and `users` are who is here; `soon(step)` has a step called in the next turn."""

    def __init__(self, sessions: Collection[Session], users: SessionsByUser, soon: Soon) -> None:
        self._sessions, self._users, self._soon = sessions, users, soon
        self._tokens: set[str] = set()  # that the next round looks for
        self._is_looking = False

    def heard(self, news: Sequence[Entry], known: Revocations, wall_s: float) -> None:
        """Ends whom the `news` are about, if all that is `known` refuses them at the Unix time `wall_s`.

        No session is a service's, so what is revoked of services ends none here.
        """
        found: list[Session] = []
        for entry in news:
            match entry:
                case Ban(user=user) | Revocation(kind="user", name=user):
                    found += self._users.of(user)
                case Revocation(kind="token", name=token):
                    self._tokens.add(token)
        steps = [partial(self._end, found, known, wall_s)]
        if not self._is_looking:
            steps.append(partial(self._begin, known, wall_s))
        for_every_one(steps)

    def _begin(self, known: Revocations, wall_s: float) -> None:
        """Begins a round for the tokens of which was heard since the last one began, if there are any."""
        tokens, self._tokens = self._tokens, set()
        self._is_looking = bool(tokens)
        if tokens:
            self._look(list(self._sessions), tokens, known, wall_s)

    def _look(self, left: list[Session], tokens: set[str], known: Revocations, wall_s: float) -> None:
        now = left[-PORTION:]
        del left[-PORTION:]
        further = partial(self._look, left, tokens, known, wall_s) if left else partial(self._begin, known, wall_s)
        self._soon(further)
        self._end([session for session in now if session.token_id in tokens], known, wall_s)

    def _end(self, found: list[Session], known: Revocations, wall_s: float) -> None:
        in_slices(found, SLICE, self._soon, partial(_end_refused, known, wall_s))


def _end_refused(known: Revocations, wall_s: float, session: Session) -> None:
    if session.state is not SessionState.READY:
        return
    refused = known.user_refusal(session.user, session.token_id, session.issued_s, wall_s)
    if refused is not None:
        session.end(refused)
