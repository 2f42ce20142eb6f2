"""Catching up: sessions for which the way of live notifications was broken for a while get what they have not seen. Pure.

What was stored meanwhile may have gone live to nobody, and for a quiet user nothing else would show the gap. So when their inboxes
are installed anew, there is one pull for each session, as at hello. Until something breaks that costs nothing.
"""

from collections import deque
from collections.abc import Collection
from math import ceil
from typing import Final

from infra.kernel.backoff import Backoff, Rng

from .options import AccessPointOptions
from .session import Session, SessionState

# So many a second disturb nobody: a small access point need not take its time.
CALM_PER_S: Final = 50
RETRY: Final = Backoff(base_s=0.5, cap_s=10.0)


class CatchUp:
    """The rounds through `sessions`, each spread over `catch_up_s`, or over more with more than `catch_up_per_s` pulls a second.

    A round that has begun ends before the next one begins.
    """

    def __init__(self, options: AccessPointOptions, sessions: Collection[Session], rng: Rng) -> None:
        self.pulls = 0
        self._spread_s, self._most_per_s = options.catch_up_s, options.catch_up_per_s
        self._sessions, self._rng = sessions, rng
        self._is_wanted = self._has_failed = False
        self._left: deque[Session] = deque()
        self._failed: dict[Session, None] = {}
        self._per_s = 0.0
        self._attempts = 0
        self._not_before_s = 0.0

    def want(self) -> None:
        """Begins a round soon: whoever is here now may have missed something."""
        self._is_wanted = True

    def due(self, now_s: float, period_s: float) -> list[Session]:
        """Returns the sessions to pull for now; is called every `period_s`."""
        # Once for all that failed since the last look: the pause grows with the attempts, not with the sessions.
        if self._has_failed and now_s >= self._not_before_s:
            self._not_before_s = now_s + RETRY.delay_s(self._attempts, self._rng)
            self._attempts += 1
        self._has_failed = False
        if now_s < self._not_before_s:
            return []
        if not self._left:
            self._begin_round()
        share = min(len(self._left), ceil(self._per_s * period_s))
        now = [session for _ in range(share) if (session := self._left.popleft()).state is SessionState.READY]
        self.pulls += len(now)
        return now

    def _begin_round(self) -> None:
        """Takes all sessions, or those alone for which it failed."""
        self._left.extend(self._sessions if self._is_wanted else self._failed)
        self._is_wanted = False
        self._failed.clear()
        self._per_s = min(max(len(self._left) / self._spread_s, CALM_PER_S), self._most_per_s)

    def succeeded(self) -> None:
        """Notes that a pull was answered."""
        self._attempts = 0

    def failed(self, session: Session) -> None:
        """Notes that a pull was not answered: it is made again, after a time that grows and counts from when that is known."""
        self._failed[session] = None
        self._has_failed = True
