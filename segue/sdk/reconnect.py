"""The decision when and where to connect again. Pure: the clock and the generator are arguments."""

from typing import Final

from infra.kernel.backoff import Backoff, Rng
from segue.sdk.errors import ConnectionLost, Refused

FIXED: Final = "; this client has one token and no other: give it a function that fetches one (token=fetch), and it stays connected"


class Reconnect:
    """The decision, after every end of a connection, between the next of `urls` and giving up.

    Rule 1: a code with `reconnect = False` is final, for trying again unchanged cannot help, and so is what an operator says is. The one
    exception is
    `token-expired` of a session that had been welcomed, where `renews_token`: the token is fetched anew for each try.
    Rule 2: the delay of `backoff`, spread by `rng`, grows until a session has lasted `stable_s`. So a server that welcomes clients and
    then throws them out is not hammered.
    Rule 3: a delay that the server asked for is kept. With a code, the server spreads its clients itself. Without one it is the
    `Retry-After` of a handshake, the same for all; then the delay of rule 2 comes on top, so that they do not all come back together.
    """

    def __init__(self, urls: tuple[str, ...], backoff: Backoff, rng: Rng, *, stable_s: float, renews_token: bool) -> None:
        self._urls = urls
        self._backoff = backoff
        self._rng = rng
        self._stable_s = stable_s
        self._renews_token = renews_token
        self._tries = 0
        self._attempt = 0
        self._welcomed_s: float | None = None

    @property
    def url(self) -> str:
        """The address to try now; each end moves on to the next one."""
        return self._urls[self._tries % len(self._urls)]

    def welcomed(self, now_s: float) -> None:
        """Takes note that a session began at `now_s`."""
        self._welcomed_s = now_s

    def ended(self, lost: ConnectionLost, now_s: float) -> float:
        """Returns the seconds to wait before connecting to `url`, which is the next address from now on. Raises Refused (rule 1)."""
        welcomed_s, self._welcomed_s = self._welcomed_s, None
        if lost.code and (lost.is_final or not lost.code.reconnect) and not self._is_renewable(lost, welcomed_s):
            raise Refused(lost.code.name, lost.reason + (FIXED if self._is_fixed_token_over(lost) else ""))
        if welcomed_s is not None and now_s - welcomed_s >= self._stable_s:
            self._attempt = 0
        delay_s = self._backoff.delay_s(self._attempt, self._rng)
        self._attempt += 1
        self._tries += 1
        if lost.retry_after_s is None:
            return delay_s
        return lost.retry_after_s + (0.0 if lost.code else delay_s)

    def _is_fixed_token_over(self, lost: ConnectionLost) -> bool:
        return not self._renews_token and lost.code is not None and lost.code.name == "token-expired"

    def _is_renewable(self, lost: ConnectionLost, welcomed_s: float | None) -> bool:
        return self._renews_token and welcomed_s is not None and lost.code is not None and lost.code.name == "token-expired"
