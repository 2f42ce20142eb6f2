"""Expiry: sessions end when their tokens do, unless they bring others (DPS-27). Pure.

Tokens name a moment of the wall clock. It is taken over into time that never goes back when the token is shown: a clock that leaps
while the session lasts ends nobody's.
"""

from functools import partial
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.every_one import for_every_one

from .bearer import TokenBearer
from .due_seconds import DueSeconds
from .session import Session

# Tokens of very many may end in the same second, and each goodbye costs some microseconds.
ENDED_AT_ONCE: Final = 2_000


class Expiry:
    """The sessions by the second in which their tokens end. `leeway_s` is the clock skew that is forgiven."""

    def __init__(self, leeway_s: float) -> None:
        self._leeway_s = leeway_s
        self._due = DueSeconds[Session]()

    @property
    def waiting(self) -> int:
        """How many seconds are kept in which sessions end, or would have ended."""
        return len(self._due)

    def bear(self, session: Session, bearer: TokenBearer, now_s: float, wall_s: float) -> None:
        """Notes whose token `session` has shown, and expects it to end with this token and no other."""
        self.forget(session)
        session.bearer = bearer
        session.ends_s = int(now_s + bearer.expires_s + self._leeway_s - wall_s) + 1
        self._due.add(session, session.ends_s)

    def forget(self, session: Session) -> None:
        """Expects nothing more of `session`."""
        self._due.remove(session, session.ends_s)

    def tick(self, now_s: float) -> None:
        """Ends the sessions that are due at `now_s`, a bounded number at once; the others are due in the next tick."""
        over = Refused("token-expired", "the token of this session has expired; connect again with a new one, or send refresh in time")
        for_every_one(partial(session.end, over) for session in self._due.take(now_s, ENDED_AT_ONCE))
