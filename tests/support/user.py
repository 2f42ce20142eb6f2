"""A client for tests on the independent `websockets` package: it remembers everything that it was told."""

import asyncio
import json
import ssl
from collections.abc import Callable
from typing import Any, Self

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from .eventually import eventually
from .news import News

RETRY_S = 0.05


class User:
    """A client: `async with User(address, token) as user:` says hello. `events` grows as they arrive. With `tls` it speaks wss."""

    def __init__(self, address: str, token: str, hello: dict[str, Any] | None = None, tls: ssl.SSLContext | None = None) -> None:
        self._url = f"{'ws' if tls is None else 'wss'}://{address}/v1/connect"
        self._tls = tls
        self._hello = {"op": "hello", "token": token, "client": "test", "device": "desktop"} | (hello or {})
        self.events: list[dict[str, Any]] = []
        self.answers: list[dict[str, Any]] = []
        self.closed: tuple[int, str] | None = None
        self.ws: ClientConnection
        self._news = News()
        self._ids = 0

    async def __aenter__(self) -> Self:
        self.ws = await connect(self._url, subprotocols=["segue.v1"], ping_interval=None, compression=None, ssl=self._tls)  # type: ignore[list-item]
        self._reader = asyncio.create_task(self._read())
        await self.ws.send(json.dumps(self._hello))
        self.welcome = await self.answer(lambda m: m["op"] in ("welcome", "error"))
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.ws.close()
        await self._reader

    async def _read(self) -> None:
        try:
            async for text in self.ws:
                message = json.loads(text)
                (self.events if message["op"] == "event" else self.answers).append(message)
                self._news.tell()
        except ConnectionClosed:
            pass
        self.closed = (self.ws.close_code or 0, self.ws.close_reason or "")
        self._news.tell()

    async def until(self, condition: Callable[[], bool]) -> None:
        """Waits until `condition` holds, and looks again at each message. Raises TimeoutError."""
        await self._news.until(condition)

    async def ended(self) -> None:
        """Waits until the connection has ended."""
        await self.until(lambda: self.closed is not None)

    async def answer(self, matches: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """Returns the first answer that matches, now or when it comes, and takes it out."""
        await self.until(lambda: self.closed is not None or any(map(matches, self.answers)))
        found = next(filter(matches, self.answers), None)
        if found is None:
            raise ConnectionError(f"closed with {self.closed}")
        self.answers.remove(found)
        return found

    async def ask(self, op: str, **fields: Any) -> dict[str, Any]:
        """Sends a message with a new id. Returns its answer."""
        self._ids += 1
        mine = self._ids
        await self.ws.send(json.dumps({"op": op, "id": mine, **fields}))
        return await self.answer(lambda m: m.get("id") == mine)

    async def point(self) -> str:
        """Returns a point. It is asked for until there is one: none is given before brokers have said how far they are."""

        async def given() -> str | None:
            await self.ws.send('{"op":"ping","point":true}')
            point: str | None = (await self.answer(lambda m: m["op"] == "pong"))["point"]
            return point

        found: str = await eventually(given, "no point is given", poll_s=RETRY_S)
        return found

    async def pull(self, **fields: Any) -> dict[str, Any]:
        """Asks for notifications, and as clients do once more while the module cannot be reached. Returns the first other answer."""

        async def answered() -> dict[str, Any] | None:
            answer = await self.ask("pull", **fields)
            return None if answer.get("code") == "unavailable" else answer

        found: dict[str, Any] = await eventually(answered, "the notification module cannot be reached", poll_s=RETRY_S)
        return found

    async def follow(self, *users: str, wait: str = "all") -> dict[str, Any]:
        """Subscribes to the feeds of `users`. Returns the answer."""
        return await self.ask("subscribe", topics=[feed(user) for user in users], wait=wait)

    async def has_installed(self, *users: str, wait: str = "all") -> None:
        """Subscribes to the feeds of `users`, and once more where that took longer than an access point waits, until it is installed."""

        async def is_installed() -> bool:
            return bool((await self.follow(*users, wait=wait))["installed"] == wait)

        await eventually(is_installed, f"{users} are not installed: {wait}")

    async def heard(self, number: int) -> list[dict[str, Any]]:
        """Returns the events, as soon as there are `number` of them."""
        await self.until(lambda: len(self.events) >= number)
        return self.events

    def of(self, friend: str) -> list[dict[str, Any]]:
        """Returns the events of the feed of `friend`, without notifications and others that came between."""
        return [event for event in self.events if event["topic"] == feed(friend)]

    async def heard_of(self, friend: str, number: int) -> list[dict[str, Any]]:
        """Returns the events of the feed of `friend`, as soon as there are `number` of them."""
        await self.until(lambda: len(self.of(friend)) >= number)
        return self.of(friend)

    def kill(self) -> None:
        """Breaks the connection without a goodbye. What is on its way is lost."""
        self.ws.transport.abort()

    async def fence(self) -> None:
        """Returns when everything that was sent to this client before has arrived."""
        await self.ws.send('{"op":"ping"}')
        await self.answer(lambda m: m["op"] == "pong")


def feed(user: str) -> str:
    """Returns the topic of the friend feed of `user`."""
    return f"hm://presence/user/{user}/"
