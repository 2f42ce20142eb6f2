"""Online users of the stored path: WebSocket clients that note when each event comes, and that can ask."""

import asyncio
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final, Self

import aiohttp
import msgspec

from segue.cli.state import secret_of
from segue.cluster.tokens import user_token

from ..clock import now_us
from ..plan import Target
from ..servers.stored import StoredSite

PATIENCE_S: Final = 30.0


class Message(msgspec.Struct, frozen=True):
    """The fields that all messages of an access point have, and what a subscribe could not have."""

    op: str
    id: str | int | None = None
    rejected: list[msgspec.Raw] = []


_DECODE: Final = msgspec.json.Decoder(Message).decode


class Listeners:
    """Users who are all connected within `async with Listeners(target, names) as users:`.

    - `target`: the site.
    - `names`: the users.
    - `follows`: topics that each of them subscribes to.

    `arrivals[event]` are the moments (microseconds) at which copies of an event came. `copies` counts the copies of all events.
    """

    def __init__(self, target: StoredSite | Target, names: Sequence[str], follows: Sequence[str] = ()) -> None:
        self.names = list(names)
        self.arrivals: dict[str, list[int]] = defaultdict(list)
        self.copies = 0
        self._target, self._follows = target, list(follows)
        self._secret = secret_of(Path(target.state))
        self._sockets: list[aiohttp.ClientWebSocketResponse] = []
        self._readers: list[asyncio.Task[None]] = []
        self._asked: dict[int, asyncio.Future[int]] = {}
        self._n = 0

    async def __aenter__(self) -> Self:
        self._http = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
        for name in self.names:
            socket = await self._http.ws_connect(f"ws://{self._target.clients_at}/v1/connect", protocols=["segue.v1"], max_msg_size=0)
            self._sockets.append(socket)
            self._readers.append(asyncio.create_task(self._read(socket), name=f"reads for {name}"))
            token = user_token(self._secret, name)
            await self._send(socket, {"op": "hello", "token": token, "client": name, "device": "desktop"})
        if self._follows:
            await asyncio.gather(*(self.ask(n, "subscribe", topics=self._follows, wait="local") for n in range(len(self.names))))
        return self

    async def __aexit__(self, *exc: object) -> None:
        for socket in self._sockets:
            await socket.close()
        await asyncio.gather(*self._readers)
        await self._http.close()

    async def ask(self, listener: int, op: str, **fields: Any) -> int:
        """Sends a message as one of them and returns when the response came (microseconds). Raises TimeoutError.

        - `listener`: the place of the user in `names`.
        - `op`, `fields`: the message.
        """
        self._n += 1
        n, answer = self._n, asyncio.get_running_loop().create_future()
        self._asked[n] = answer
        await self._send(self._sockets[listener], {"op": op, "id": n, **fields})
        async with asyncio.timeout(PATIENCE_S):
            at_us: int = await answer
        return at_us

    async def heard(self, number: int) -> None:
        """Waits until so many copies came in all. Raises TimeoutError."""
        await until(lambda: self.copies >= number)

    async def online(self, tell: Callable[[str, list[str]], Awaitable[None]]) -> None:
        """Waits until each of them gets live copies: before, presence may not know them yet. Raises TimeoutError.

        `tell(id, followers)` sends a notice.
        """
        async with asyncio.timeout(PATIENCE_S):
            tries = 0
            while len(self.arrivals[f"online-{tries}"]) < len(self.names):
                tries += 1
                await tell(f"online-{tries}", self.names)
                await asyncio.sleep(0.5)

    async def _send(self, socket: aiohttp.ClientWebSocketResponse, message: dict[str, Any]) -> None:
        await socket.send_str(msgspec.json.encode(message).decode())

    async def _read(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        async for frame in socket:
            at_us = now_us()
            message = _DECODE(frame.data)
            if message.rejected:
                raise ConnectionError(frame.data)
            match message.op, message.id:
                case "event", str(event):
                    self.arrivals[event].append(at_us)
                    self.copies += 1
                case "error", _:
                    raise ConnectionError(frame.data)
                case _, int(n):
                    self._asked.pop(n).set_result(at_us)


async def until(condition: Callable[[], bool], patience_s: float = PATIENCE_S) -> None:
    """Waits until `condition` holds. Raises TimeoutError after `patience_s`."""
    async with asyncio.timeout(patience_s):
        while not condition():  # noqa: ASYNC110 - what is waited for happens in another process
            await asyncio.sleep(0.02)
