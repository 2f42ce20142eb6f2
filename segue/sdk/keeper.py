"""The keeper of a client's connection: connects, subscribes its topics again, waits, and gives up only when a code says so.

One task owns it all. Everybody else waits for `connected()` or takes `now()`.
"""

import asyncio
import random
from collections.abc import Callable

import aiohttp

from infra.kernel.backoff import Rng
from segue.sdk.client_options import ClientOptions
from segue.sdk.client_state import Phase, State
from segue.sdk.connection import ClientConnection, Deliver
from segue.sdk.errors import ConnectionLost, Misuse, Refused, Stalled, code_of
from segue.sdk.messages import Installed
from segue.sdk.reconnect import Reconnect
from segue.sdk.token_source import Token, fresh


class ConnectionKeeper:
    """The keeper of at most one connection at any time, to the addresses in turn. Its `topics` are subscribed at every connect.

    - `urls`, `token`, `options`, `rng`: as in `Client`.
    - `hello`: the fields of the first message, without the token.
    - `deliver`: takes every message that is no answer.
    - `tell`: hears every State.
    - `end`: is called once, with the error when no event will come any more; with None after `close`.
    """

    def __init__(
        self,
        urls: tuple[str, ...],
        token: Token,
        hello: dict[str, str],
        options: ClientOptions,
        *,
        deliver: Deliver,
        tell: Callable[[State], None],
        end: Callable[[Exception | None], None],
        rng: Rng | None = None,
    ) -> None:
        self.topics: dict[str, None] = {}
        self._token = token
        self._hello = hello
        self._options = options
        self._deliver = deliver
        self._tell = tell
        self._end = end
        self._reconnect = Reconnect(urls, options.backoff, rng or random.Random(), stable_s=options.stable_s, renews_token=callable(token))
        self._task: asyncio.Task[None] | None = None
        self._lost: ConnectionLost | None = None
        self._connection: asyncio.Future[ClientConnection]

    @property
    def is_started(self) -> bool:
        """Whether `start` was called."""
        return self._task is not None

    async def start(self) -> None:
        """Connects. Raises Refused, and ConnectionLost if no access point welcomes the client in time. Cancelling it closes everything."""
        if self._task is not None:
            raise Misuse("a Client is entered once; make a new one to connect again")
        self._connection = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._keep_connected())
        try:
            async with asyncio.timeout(self._options.open_timeout_s):
                await self.connected()
        except TimeoutError:
            await self.close()
            raise ConnectionLost(f"no access point welcomed us within {self._options.open_timeout_s:g} s: {self._lost}") from self._lost
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        """Disconnects for good. Every call that waits raises Misuse. May be called twice."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._finish(None)

    async def connected(self) -> ClientConnection:
        """Returns the connection, as soon as there is one. Raises what ended the client."""
        self._check_started()
        return await asyncio.shield(self._connection)

    def now(self) -> ClientConnection:
        """Returns the connection. Raises ConnectionLost when there is none at this moment, and what ended the client."""
        self._check_started()
        if not self._connection.done():
            raise ConnectionLost("not connected at the moment") from self._lost
        return self._connection.result()

    def _check_started(self) -> None:
        if self._task is None:
            raise Misuse("not connected; write `async with segue.Client(...) as client:`")

    async def _keep_connected(self) -> None:
        try:
            async with aiohttp.ClientSession() as http:
                while True:
                    try:
                        await self._live(http)
                    except ConnectionLost as lost:
                        self._lost = lost
                        await self._pause(lost)
        except Exception as error:  # a refusal, an error of the token function, a defect: the application must see it
            self._finish(error)

    async def _pause(self, lost: ConnectionLost) -> None:
        delay_s = self._reconnect.ended(lost, asyncio.get_running_loop().time())
        self._tell(State(phase=Phase.WAITING, url=self._reconnect.url, reason=str(lost), retry_in_s=delay_s))
        await asyncio.sleep(delay_s)

    async def _live(self, http: aiohttp.ClientSession) -> None:
        """Lives through one connection, from its first try to its end. Raises ConnectionLost."""
        url = self._reconnect.url
        self._tell(State(phase=Phase.CONNECTING, url=url))
        connection = await ClientConnection.open(http, url, {"token": await fresh(self._token), **self._hello}, self._options)
        self._reconnect.welcomed(asyncio.get_running_loop().time())
        self._connection.set_result(connection)
        reading = asyncio.create_task(connection.run(self._deliver))
        try:
            installed = await self._resubscribe(connection)
            self._tell(State(phase=Phase.CONNECTED, url=url, site=connection.welcome.site, installed=installed))
            await reading
        finally:
            self._connection = asyncio.get_running_loop().create_future()
            connection.replaced.set()
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)

    async def _resubscribe(self, connection: ClientConnection) -> Installed | None:
        try:
            installed = await connection.subscribe(list(self.topics), "local")
        except Stalled:
            return None  # the application does not read; the topics are on their way all the same
        except Refused as refused:
            raise ConnectionLost(refused.reason, refused.code) from refused
        for rejected in installed.rejected:
            code = code_of(rejected.code)
            if code is not None and not code.reconnect:  # asking again would not help
                self.topics.pop(rejected.topic, None)
        return installed

    def _finish(self, error: Exception | None) -> None:
        if self._connection.done():
            return
        self._connection.set_exception(error or Misuse("the client is closed; make a new one"))
        self._connection.exception()  # perhaps nobody waits
        self._end(error)
        self._tell(State(phase=Phase.CLOSED, url=self._reconnect.url, reason=str(error or "")))
