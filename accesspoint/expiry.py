"""Expiry: sessions end when their tokens do, unless they bring others (DPS-27). Pure.

Sessions wait in buckets, one for each second, and a heap has the seconds. A session that comes, goes or brings another token costs the
same however many others there are, and nothing of it stays behind. No session has a timer of its own.

Tokens name a moment of the wall clock. It is taken over into time that never goes back when the token is shown: a clock that leaps
while the session lasts ends nobody's.
"""

from functools import partial
from heapq import heapify, heappop, heappush
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.every_one import for_every_one

from .bearer import TokenBearer
from .session import Session

# Tokens of very many may end in the same second, and each goodbye costs some microseconds.
ENDED_AT_ONCE: Final = 2_000
_SPARE: Final = 64


class Expiry:
    """The sessions by the second in which their tokens end. `leeway_s` is the clock skew that is forgiven."""

    def __init__(self, leeway_s: float) -> None:
        self._leeway_s = leeway_s
        # Tokens that live for days mostly end in seconds of their own, and a dict for each would cost more than all the rest.
        self._buckets: dict[int, Session | dict[Session, None]] = {}
        self._seconds: list[int] = []  # a heap of the keys; a second whose bucket is gone may be there, or be there twice

    @property
    def waiting(self) -> int:
        """How many seconds are kept in which sessions end, or would have ended."""
        return len(self._seconds)

    def bear(self, session: Session, bearer: TokenBearer, now_s: float, wall_s: float) -> None:
        """Notes whose token `session` has shown, and expects it to end with this token and no other."""
        self.forget(session)
        session.bearer = bearer
        session.ends_s = int(now_s + bearer.expires_s + self._leeway_s - wall_s) + 1
        bucket = self._buckets.get(session.ends_s)
        if bucket is None:
            self._buckets[session.ends_s] = session
            heappush(self._seconds, session.ends_s)
        elif isinstance(bucket, dict):
            bucket[session] = None
        else:
            self._buckets[session.ends_s] = {bucket: None, session: None}

    def forget(self, session: Session) -> None:
        """Expects nothing more of `session`."""
        bucket = self._buckets.get(session.ends_s)
        if isinstance(bucket, dict):
            bucket.pop(session, None)
            if bucket:
                return
        elif bucket is not session:
            return
        del self._buckets[session.ends_s]
        if len(self._seconds) > 2 * len(self._buckets) + _SPARE:
            # Most of the heap are seconds of sessions that are gone: rebuilding costs less than what has come and gone meanwhile.
            self._seconds = list(self._buckets)
            heapify(self._seconds)

    def tick(self, now_s: float) -> None:
        """Ends the sessions that are due at `now_s`, a bounded number at once; the others are due in the next tick."""
        over = Refused("token-expired", "the token of this session has expired; connect again with a new one, or send refresh in time")
        for_every_one(partial(session.end, over) for session in self._take(now_s))

    def _take(self, now_s: float) -> list[Session]:
        """Removes and returns sessions that are due, `ENDED_AT_ONCE` at most."""
        taken: list[Session] = []
        while self._seconds and self._seconds[0] <= now_s and len(taken) < ENDED_AT_ONCE:
            bucket = self._buckets.get(self._seconds[0])
            if isinstance(bucket, dict) and bucket:
                taken.append(bucket.popitem()[0])
                continue
            if isinstance(bucket, Session):
                taken.append(bucket)
            self._buckets.pop(heappop(self._seconds), None)
        return taken
