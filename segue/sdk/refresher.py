"""The refresher: brings another token before the one of a session expires, so that the session goes on (DPS-27)."""

import asyncio
import logging
from typing import Final

from infra.kernel.backoff import Rng
from segue.sdk.client_options import ClientOptions
from segue.sdk.connection import ClientConnection
from segue.sdk.errors import ConnectionLost, Refused, Stalled
from segue.sdk.token_source import Token, fresh

# Clients that came in the same second, after a node died for example, must not all ask for tokens in the same second.
JITTER: Final = 0.1
AGAIN_S: Final = 1.0
MOST_S: Final = 7 * 86_400.0

_LOG: Final = logging.getLogger("segue.sdk.client")


def refresh_delay_s(life_s: float, refresh_at: float, rng: Rng) -> float:
    """Returns how long to wait until the token, which has `life_s` left, is replaced: a part `refresh_at` of that, or a little less."""
    return min(max(life_s, 0.0) * refresh_at * (1 - JITTER * rng.random()), MOST_S)


class Refresher:
    """The refresher of a client's connections. `token` is the source of tokens; one that is a text cannot be refreshed."""

    def __init__(self, token: Token, options: ClientOptions, rng: Rng) -> None:
        self._token, self._options, self._rng = token, options, rng

    async def keep(self, connection: ClientConnection) -> None:
        """Refreshes the token of `connection`, again and again, until it is cancelled or there is nothing to refresh.

        Raises what the token function raises, except ConnectionLost, which means: try again later. A refusal that ends the connection
        is told by who reads it.
        """
        welcome = connection.welcome
        if not callable(self._token) or welcome.expires_ms is None:
            return
        clock = asyncio.get_running_loop().time
        # The server's clock, as it was at the welcome: the one here may be wrong by hours.
        server_s = welcome.time_ms / 1000 - clock()
        delay_s, failures = self._delay_s((welcome.expires_ms - welcome.time_ms) / 1000), 0
        while True:
            await asyncio.sleep(delay_s)
            expires_ms = await self._refresh(connection)
            if expires_ms is None:
                delay_s, failures = AGAIN_S + self._options.backoff.delay_s(failures, self._rng), failures + 1
            else:
                # A source that gives the same token again is asked more and more often, but never without a pause.
                delay_s, failures = max(AGAIN_S, self._delay_s(expires_ms / 1000 - server_s - clock())), 0

    def _delay_s(self, life_s: float) -> float:
        return refresh_delay_s(life_s, self._options.refresh_at, self._rng)

    async def _refresh(self, connection: ClientConnection) -> int | None:
        """Returns when the new token expires, None where there is none yet."""
        try:
            return await connection.refresh(await fresh(self._token))
        except (ConnectionLost, Refused, Stalled) as trouble:
            _LOG.info("the token could not be refreshed now; it is tried again: %s", trouble)
            return None
