"""The client SDK: follow topics over WebSocket and stay connected (design 4.1).

    async with segue.Client("ws://127.0.0.1:7700", token) as client:
        await client.subscribe("hm://presence/user/bob/")
        async for event in client:
            print(event.kind, event.payload)

Concurrency: one background task connects, reads and connects again; any task may call; one task at a time iterates.
Cancelling any await is safe: it stops the waiting, and takes neither an event nor an answer from anybody else.
"""

import contextlib
import logging
from collections.abc import Callable, Iterable
from types import TracebackType
from typing import Any, Final, Self

from infra.kernel.backoff import Rng
from segue.address import doors
from segue.client_options import ClientOptions
from segue.client_state import State
from segue.errors import ConnectionLost, Misuse, Refused
from segue.inbox import Inbox
from segue.keeper import Keeper
from segue.messages import Device, Event, Installed, Wait
from segue.token_source import Token

_LOG: Final = logging.getLogger("segue.client")


class Client:
    """A connection to Segue that comes back by itself, with all its topics.

    `urls`: one access point, or several that are tried in turn. `token`: a JWT, or a function (plain or async) that is
    asked for one at every connect; what it raises ends the client, except ConnectionLost, which means try again later.
    `client` names this device, `device` its class. `on_state` hears every State; what it raises is logged.

    Real time means at most once: what is published while the client is away is not sent later. A code that forbids
    reconnecting (a bad token, say) ends the client, and everything that waits raises it as Refused.
    """

    def __init__(
        self,
        urls: str | Iterable[str],
        token: Token,
        *,
        client: str = "python",
        device: Device = "desktop",
        user: str | None = None,
        on_state: Callable[[State], None] | None = None,
        options: ClientOptions | None = None,
        rng: Rng | None = None,
    ) -> None:
        options = options or ClientOptions()
        self._on_state = on_state
        self._inbox = Inbox(options.inbox_bytes)
        self._is_iterated = False
        self._keeper = Keeper(
            doors(urls, schemes=("ws", "wss"), path="/v1/connect"),
            token,
            {"client": client, "device": device} | ({} if user is None else {"user": user}),
            options,
            deliver=self._inbox.put,
            tell=self._tell,
            end=lambda error: self._inbox.end(error or StopAsyncIteration()),
            rng=rng,
        )

    async def __aenter__(self) -> Self:
        """Connects. Raises Refused, or ConnectionLost if no access point welcomes us within `open_timeout_s`."""
        await self._keeper.start()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.close()

    async def close(self) -> None:
        """Disconnects for good. Events that have arrived can still be taken, then iteration ends. May be called twice."""
        await self._keeper.close()

    async def subscribe(self, topics: str | Iterable[str], wait: Wait = "local") -> Installed:
        """Follows the topics from now on, over every reconnect, and returns once the subscription is installed.

        Waits for a connection, and asks again if it breaks. Topics in `rejected` are not followed. Raises Refused (then
        none of the new topics is followed), Stalled. Cancelling stops the waiting only; unsubscribe to stop following.
        """
        wanted, followed = _listed(topics), self._keeper.topics
        new = [topic for topic in wanted if topic not in followed]
        followed.update(dict.fromkeys(wanted))
        try:
            installed = await self._install(wanted, wait)
        except Refused:
            await self.unsubscribe(new)  # a part, sent in a message of its own, may have been accepted
            raise
        for rejected in installed.rejected:
            followed.pop(rejected.topic, None)
        return installed

    async def unsubscribe(self, topics: str | Iterable[str]) -> None:
        """Stops following the topics: none of their events arrives after it returns. Raises Refused, Stalled."""
        unwanted = _listed(topics)
        for topic in unwanted:
            self._keeper.topics.pop(topic, None)
        with contextlib.suppress(ConnectionLost):  # the access point forgot them together with the connection
            await self._keeper.now().unsubscribe(unwanted)

    async def act(self, kind: str, **fields: Any) -> None:
        """Tells the friends what this user does: `act("play", artist="Björk")`. At most once: it is never kept for later.

        Raises ConnectionLost when there is no connection, or it breaks before the answer (the act was then done or not),
        Refused, Stalled.
        """
        if reserved := fields.keys() & {"op", "id"}:
            raise Misuse(f"{', '.join(sorted(reserved))}: a name of the protocol; call this field of the act something else")
        await self._keeper.now().act({"kind": kind, **fields})

    async def ping(self) -> int:
        """The clock of the access point, in ms since 1970. Raises ConnectionLost, Stalled."""
        return await self._keeper.now().ping()

    def __aiter__(self) -> Self:
        """The events as they come. Break and iterate again as often as you like, in one task at a time."""
        return self

    async def __anext__(self) -> Event:
        """The next event. Raises Refused when the server forbids coming back. Cancelling it takes no event."""
        if not self._keeper.is_started:
            raise Misuse("not connected; write `async with segue.Client(...) as client:`")
        if self._is_iterated:
            raise Misuse("two tasks iterate over one client, so each event would reach only one of them; use one client each")
        self._is_iterated = True
        try:
            return await self._inbox.get()
        finally:
            self._is_iterated = False

    async def _install(self, topics: list[str], wait: Wait) -> Installed:
        while True:
            connection = await self._keeper.connected()
            try:
                return await connection.subscribe(topics, wait)
            except ConnectionLost:
                await connection.replaced.wait()

    def _tell(self, state: State) -> None:
        if self._on_state is not None:
            try:
                self._on_state(state)
            except Exception:
                _LOG.exception("on_state failed")


def _listed(topics: str | Iterable[str]) -> list[str]:
    return [topics] if isinstance(topics, str) else list(dict.fromkeys(topics))
