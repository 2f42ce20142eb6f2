"""Silence: clients of which nothing was heard for some time are asked for a sign of life, and ended if they give none. Pure."""

from collections.abc import Collection, Iterator
from functools import partial
from itertools import islice

from infra.kernel.errors import Refused
from infra.kernel.every_one import for_every_one

from .options import AccessPointOptions
from .session import Session, SessionState


class Silence:
    """A round through `sessions`, a few at a time, so that very many of them hold up nobody."""

    def __init__(self, options: AccessPointOptions, sessions: Collection[Session]) -> None:
        self._ping_s, self._silent_s = options.ping_s, options.silent_s
        self._sessions = sessions
        self._sweep: Iterator[Session] = iter(())
        self._sweep_size = 0

    def tick(self, now_s: float, period_s: float) -> None:
        """Looks at a share of all, so that it is each one's turn once in half a `ping_s`; is called every `period_s`."""
        share = 1 + int(self._sweep_size * 2 * period_s / self._ping_s)
        turn = list(islice(self._sweep, share))
        if len(turn) < share:
            # The round is over. A copy, since sessions come and go during the next one.
            self._sweep_size = len(self._sessions)
            self._sweep = iter(list(self._sessions))
        ready = (session for session in turn if session.state is SessionState.READY)
        for_every_one(partial(self._look_at, session, now_s - session.heard_s) for session in ready)

    def _look_at(self, session: Session, silent_s: float) -> None:
        if silent_s > self._silent_s:
            session.end(Refused("heartbeat-timeout", f"nothing heard for {silent_s:.0f} s"))
        elif silent_s > self._ping_s:
            session.ping()
