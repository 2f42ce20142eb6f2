"""Slow clients: their events wait, and whoever keeps too much waiting, or for too long, is sent away. Pure."""

from infra.kernel.errors import Refused

from .offload_notices import OffloadNotices
from .options import AccessPointOptions
from .session import Session, SessionState


class SlowClients:
    """The clients that do not read as fast as they are told.

    - `paused`: how many do not read now.
    - `skipped`: how many of their events were replaced by newer ones.
    - `evictions`: how many were sent away.
    """

    def __init__(self, options: AccessPointOptions, offload_notices: OffloadNotices) -> None:
        self.paused = self.skipped = self.evictions = 0
        self._options, self._offload_notices = options, offload_notices

    def stopped(self, session: Session) -> None:
        """Notes that a client has stopped reading: from now on its events wait."""
        self.paused += 1

    def resumed(self, session: Session) -> None:
        """Notes that a client reads again, or is gone."""
        self.paused -= 1
        if session.outbox is not None:
            self.skipped += session.outbox.skipped
            session.outbox = None
            self._offload_notices.resumed(session)

    def check(self, session: Session, now_s: float) -> None:
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
