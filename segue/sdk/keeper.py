"""The keeper of a client's connection: connects, subscribes its topics again, waits, and gives up only when a code says so.

One task owns it all. Everybody else waits for `connected()` or takes `now()`.
"""

import asyncio
import contextlib
import random
from collections.abc import Callable, Iterable, Mapping
from typing import Final

import aiohttp

from infra.kernel.backoff import Rng
from segue.sdk.client_options import ClientOptions
from segue.sdk.client_state import Phase, State
from segue.sdk.connection import ClientConnection, Deliver
from segue.sdk.connector import connector
from segue.sdk.errors import ConnectionLost, Misuse, Refused, Stalled, code_of
from segue.sdk.messages import Installed, Wait, Whom, weakest
from segue.sdk.reconnect import Reconnect
from segue.sdk.recoverer import Recoverer
from segue.sdk.refresher import Refresher
from segue.sdk.token_source import Token, TokensFor, fresh

# What a subscribe says of topics of which no service is to remember that they were followed.
PASSING: Final = {"lasting": False}


class ConnectionKeeper:
    """The keeper of at most one connection at any time, to the addresses in turn. Its `topics` are subscribed at every connect.

    - `urls`, `token`, `options`, `rng`: as in `Client`.
    - `hello`: the fields of the first message, without the token.
    - `deliver`: takes every message that is no answer.
    - `tell`: hears every State.
    - `recoverer`: knows how far the topics have come.
    - `end`: is called once, with the error when no event will come any more; with None after `close`.
    """

    def __init__(
        self,
        urls: tuple[str, ...],
        token: Token,
        hello: Mapping[str, object],
        options: ClientOptions,
        *,
        deliver: Deliver,
        tell: Callable[[State], None],
        end: Callable[[Exception | None], None],
        recoverer: Recoverer,
        rng: Rng | None = None,
        tokens_for: TokensFor | None = None,
    ) -> None:
        self.tokens_for = tokens_for
        self.topics: dict[str, None] = {}
        # Those of them of which no service is to remember that they were followed.
        self.passing: set[str] = set()
        # What is followed because it is of friends; None: friends are not followed.
        self.of_friends: dict[str, None] | None = None
        self._token = token
        self._hello = hello
        self._options = options
        self._deliver = deliver
        self._tell = tell
        self._end = end
        self._recoverer = recoverer
        self._rng = rng = rng or random.Random()
        self._refresher = Refresher(token, options, rng)
        self._reconnect = Reconnect(urls, options.backoff, rng, stable_s=options.stable_s, renews_token=callable(token))
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

    def forget(self, topics: Iterable[str]) -> None:
        """Follows `topics` no longer, also after the next reconnect."""
        gone = list(topics)
        for topic in gone:
            (self.of_friends or {}).pop(topic, None)
        self.unname(gone)

    def unname(self, topics: list[str]) -> None:
        """Follows `topics` by name no longer. What is of friends goes on."""
        for topic in topics:
            self.topics.pop(topic, None)
        self.passing.difference_update(topics)
        self._recoverer.forget(topic for topic in topics if not self.is_followed(topic))

    async def subscribe(self, connection: ClientConnection, topics: Iterable[str], wait: Wait) -> Installed:
        """Subscribes `topics` on `connection`, but those that are followed no more: a call may have waited for the connection.

        Returns and raises as `ClientConnection.subscribe`.
        """
        sorts: tuple[list[str], list[str]] = ([], [])
        for topic in topics:
            if topic in self.topics:
                sorts[topic in self.passing].append(topic)
        lasting = await connection.subscribe(sorts[False], wait, self.tokens_for)
        if not sorts[True]:
            return lasting
        return weakest([lasting, await connection.subscribe(sorts[True], wait, self.tokens_for, fields=PASSING)])

    def is_followed(self, topic: str) -> bool:
        """Returns whether `topic` is followed, for whatever reason."""
        return topic in self.topics or topic in (self.of_friends or ())

    async def follow(self, connection: ClientConnection, wait: Wait, whom: Whom = "friends") -> Installed:
        """Follows friends on `connection`, unless they are followed no more. Returns what is promised; in `rejected` is what nobody could
        allow now.

        Raises ConnectionLost, Refused and Stalled.
        """
        if self.of_friends is None:
            return weakest([])
        return self.settled(await connection.follow(whom, list(self.of_friends), wait, self.tokens_for))

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
            async with aiohttp.ClientSession(connector=connector(self._options.ca_file, self._options.tls)) as http:
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
        hello = {"token": await fresh(self._token), **self._hello}
        connection = await ClientConnection.open(http, url, hello, self._options, self._recoverer)
        self._reconnect.welcomed(asyncio.get_running_loop().time())
        self._connection.set_result(connection)
        reading = asyncio.create_task(connection.run(self._deliver))
        refreshing = asyncio.create_task(self._refresher.keep(connection))
        tasks: list[asyncio.Task[None]] = [reading, refreshing]
        try:
            installed = await self._resubscribe(connection, list(self.topics), follows=self.of_friends is not None)
            self._tell(State(phase=Phase.CONNECTED, url=url, site=connection.welcome.site, installed=installed))
            tasks.append(asyncio.create_task(self._ask_again(connection, installed)))
            await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
            for task in filter(asyncio.Task.done, tasks):
                await task
        finally:
            self._connection = asyncio.get_running_loop().create_future()
            connection.replaced.set()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            self._recoverer.disconnect()

    async def _ask_again(self, connection: ClientConnection, installed: Installed | None) -> None:
        """Subscribes to what nobody could allow at the reconnect, until somebody could."""
        tries = 0
        while installed is not None and (left := [each.topic for each in installed.rejected if self.is_followed(each.topic)]):
            await asyncio.sleep(self._options.backoff.delay_s(tries, self._rng))
            tries += 1
            with contextlib.suppress(ConnectionLost):
                named = [topic for topic in left if topic in self.topics]
                installed = await self._resubscribe(connection, named, follows=len(named) < len(left))

    async def _resubscribe(self, connection: ClientConnection, topics: list[str], *, follows: bool) -> Installed | None:
        try:
            installed = self.settled(await self.subscribe(connection, topics, "local"))
            if follows:
                installed = weakest([installed, await self.follow(connection, "local")])
        except Stalled:
            return None  # the application does not read; the topics are on their way all the same
        except Refused as refused:
            raise ConnectionLost(refused.reason, refused.code) from refused
        return installed

    def settled(self, installed: Installed) -> Installed:
        """Returns `installed` when what was rejected for good is forgotten: asking again would not help."""
        for rejected in installed.rejected:
            code = code_of(rejected.code)
            if code is not None and not code.reconnect:
                self.forget([rejected.topic])
        return installed

    def _finish(self, error: Exception | None) -> None:
        if self._connection.done():
            return
        self._connection.set_exception(error or Misuse("the client is closed; make a new one"))
        self._connection.exception()  # perhaps nobody waits
        self._end(error)
        self._tell(State(phase=Phase.CLOSED, url=self._reconnect.url, reason=str(error or "")))
