"""The end of a certificate that a process shows, at its doors or on its links: the log warns before it comes (DPS-23, DPS-24)."""

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Final

from .logs import Logger
from .loops import Loops

DAY_S: Final = 86_400.0
WATCH_S: Final = 6 * 3600.0


class CertificateEnd:
    """The end of one certificate.

    - `of`: what shows it, for the log: "doors" or "links".
    - `expires_s`: returns when it ends, in Unix time. A renewed one ends later.
    - `warn_days`: so many days before, the log begins to warn.
    - `log`: is told.
    """

    def __init__(self, of: str, expires_s: Callable[[], float], warn_days: float, log: Logger) -> None:
        self._of, self._expires_s = of, expires_s
        self._warn_days, self._log = warn_days, log

    def check(self, wall_s: float) -> None:
        """Logs a warning if the certificate ends in less than `warn_days` from `wall_s`, and an error if it has ended."""
        expires_s = self._expires_s()
        days, until = (expires_s - wall_s) / DAY_S, str(datetime.fromtimestamp(expires_s, UTC))
        if days <= 0:
            self._log.error("the certificate has ended; others refuse to connect", of=self._of, valid_until=until)
        elif days < self._warn_days:
            what = "the certificate ends soon; renew its files, then send SIGHUP"
            self._log.warning(what, of=self._of, days=round(days, 1), valid_until=until)


@asynccontextmanager
async def watched(log: Logger, *ends: CertificateEnd | None, wall: Callable[[], float] = time.time) -> AsyncIterator[None]:
    """Looks at the `ends` that there are now, and every few hours while the block runs. `wall`: Unix time in seconds."""
    loops = Loops(log)
    for end in ends:
        if end is not None:
            loops.every(WATCH_S, lambda end=end: end.check(wall()), "end of a certificate", at_once=True)  # type: ignore[misc]
    try:
        yield
    finally:
        await loops.close()
