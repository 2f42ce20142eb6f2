"""An access point that plays a script: it speaks segue.v1, answers as told, and misbehaves on demand."""

import asyncio
import json
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from aiohttp import WSMsgType, web

from segue.demo.loopback import Loopback
from tests.support.inbox_model import INBOX, InboxModel

Message = dict[str, Any]
Answer = Callable[[Message], Message | None]

DEADLINE_S = 30.0
TIME_MS = 1_700_000_000_000


def welcome(_: Message) -> Message:
    """Returns the answer to a hello."""
    return {"op": "welcome", "session": "s1", "site": "sto", "user": "alice", "time_ms": TIME_MS, "limits": {"topics_per_message": 3}}


def subscribed(message: Message) -> Message:
    """Returns the answer to a subscribe, which is installed as far as was asked."""
    return {"op": "subscribed", "id": message["id"], "installed": message["wait"], "missing_sites": [], "rejected": []}


def error(code: str, number: int, **fields: Any) -> Message:
    """Returns an error with this code; `fields` are others than usual."""
    return {"op": "error", "id": None, "code": code, "number": number, "reason": f"because of {code}", **fields}


def event(topic: str, seq: int, **fields: Any) -> Message:
    """Returns the event `seq` on `topic`; `fields` are others than usual."""
    default = {"site": "sto", "epoch": 7, "seq": seq, "ts": TIME_MS, "id": f"e{seq}", "kind": "play", "payload": {"artist": "Björk"}}
    return {"op": "event", "topic": topic, **default, **fields}


class Peer:
    """A client, as the server sees it."""

    def __init__(self, socket: web.WebSocketResponse, request: web.Request, hello: Message) -> None:
        self.hello = hello
        self.ops: list[str] = []
        self.origin = request.headers.get("Origin")
        self._socket = socket
        self._request = request
        self._said: asyncio.Queue[Message] = asyncio.Queue()
        self._is_over = asyncio.Event()
        self._has_closed = False

    async def heard(self, op: str) -> Message:
        """Returns the next message with this op; others are passed over."""
        async with asyncio.timeout(DEADLINE_S):
            while True:
                message = await self._said.get()
                if message["op"] == op:
                    return message

    async def next(self) -> Message:
        """Returns the next message, whatever its op."""
        async with asyncio.timeout(DEADLINE_S):
            return await self._said.get()

    def waiting(self) -> list[str]:
        """Returns the ops of the messages that nobody has asked for."""
        return [self._said.get_nowait()["op"] for _ in range(self._said.qsize())]

    async def gone(self) -> None:
        """Waits until the client has closed."""
        await self._is_over.wait()

    async def send(self, message: Message | bytes | str) -> None:
        """Sends a message, or a binary frame, or a text as it is."""
        if isinstance(message, bytes):
            await self._socket.send_bytes(message)
        else:
            await self._socket.send_str(message if isinstance(message, str) else json.dumps(message))

    async def fail(self, code: str, number: int, **fields: Any) -> None:
        """Sends a fatal error, and closes."""
        await self.send(error(code, number, **fields))
        await self.close(number)

    async def close(self, number: int) -> None:
        """Closes with a code, and says nothing before. Returns when the client has closed, too.

        The frame is sent by itself, and what the client says until its own close is read. A connection that is given up while something
        of the client is unread is reset, and what was said last does not arrive.
        """
        if not self.is_gone:
            self._has_closed = True
            await self._socket.send_frame(number.to_bytes(2, "big"), WSMsgType.CLOSE)
            async with asyncio.timeout(DEADLINE_S):
                await self._is_over.wait()

    def drop(self) -> None:
        """Cuts the TCP connection without a word."""
        if self._request.transport is not None:
            self._request.transport.abort()

    @property
    def is_gone(self) -> bool:
        """Whether its connection has ended."""
        return self._request.transport is None or self._request.transport.is_closing() or self._socket.closed

    @property
    def unsent_bytes(self) -> int:
        """What the client has not taken yet, beyond the kernel's buffers."""
        assert self._request.transport is not None
        return self._request.transport.get_write_buffer_size()

    async def answer(self, message: Message) -> None:
        """Sends a message, unless it was closed before: then nothing more may be said."""
        if not self._has_closed:
            await self.send(message)

    def end(self) -> None:
        """Takes note that the client says nothing more. A connection that was closed here ends without a second close."""
        self._is_over.set()
        if self._has_closed and self._request.transport is not None:
            self._request.transport.close()

    def note(self, message: Message) -> None:
        """Takes a message of the client. `ops` keeps the ops of all messages; `heard` gives them out."""
        self.ops.append(message["op"])
        self._said.put_nowait(message)


class ScriptedServer:
    """A server on a free port of the loopback. `answers` has a function for each op; None in place of an answer is silence.

    With an `inbox` it has a notification module, too. It pulls at hello, answers the ops that are not in `answers`, and tells all clients
    what is read or changed.
    """

    def __init__(self, inbox: InboxModel | None = None) -> None:
        self.inbox = inbox
        self.answers: dict[str, Answer] = {
            "hello": welcome,
            "subscribe": subscribed,
            "unsubscribe": lambda message: {"op": "unsubscribed", "id": message["id"]},
            "act": lambda message: {"op": "ok", "id": message["id"]},
            "ping": lambda _: {"op": "pong", "time_ms": TIME_MS},
        }
        self.protocols: tuple[str, ...] = ("segue.v1",)
        self.refuse_with: int | None = None
        self.refuse_headers: dict[str, str] = {}
        self.url = ""
        self.pulls_at_hello = True
        self._told = 0
        self._peers: asyncio.Queue[Peer] = asyncio.Queue()
        self._all: list[Peer] = []
        self._server = Loopback(web.get("/v1/connect", self._connect))

    async def __aenter__(self) -> Self:
        await self._server.__aenter__()
        self.url = f"ws://{self._server.address}/v1/connect"
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for peer in self._all:
            peer.drop()
        await self._server.__aexit__()

    async def next_peer(self) -> Peer:
        """Returns the next client that has said hello."""
        async with asyncio.timeout(DEADLINE_S):
            return await self._peers.get()

    async def publish(self, *, rings: bool = True, **fields: Any) -> Message:
        """Stores a notification and sends its live copy to all clients."""
        assert self.inbox is not None
        item = self.inbox.store(rings=rings, **fields)
        await self.tell("notification", item)
        return item

    async def tell(self, kind: str, payload: Message) -> None:
        """Sends an event of the user's inbox to all clients that are still there."""
        self._told += 1
        for peer in self._all:
            if not peer.is_gone:
                await peer.send(event(INBOX, self._told, kind=kind, payload=payload, id=payload.get("id", f"m{self._told}")))

    async def _answer(self, message: Message, peer: Peer) -> Message | None:
        op = message["op"]
        if op in self.answers:
            return self.answers[op](message)
        if self.inbox is None:
            return error("unavailable", 4300, id=message["id"])
        answer: Message = getattr(self.inbox, op)(peer.hello["client"], message)
        await self.tell_news()
        return answer

    async def tell_news(self) -> None:
        """Tells all clients what was read or changed."""
        assert self.inbox is not None
        while self.inbox.news:
            await self.tell("marks", self.inbox.news.pop(0))

    async def _connect(self, request: web.Request) -> web.StreamResponse:
        if self.refuse_with is not None:
            return web.Response(status=self.refuse_with, headers=self.refuse_headers)
        socket = web.WebSocketResponse(protocols=self.protocols, autoclose=False)
        await socket.prepare(request)
        peer: Peer | None = None
        try:
            async for frame in socket:
                if frame.type is not WSMsgType.TEXT:
                    break
                message = json.loads(frame.data)
                if message["op"] == "hello":
                    peer = Peer(socket, request, message)
                    self._all.append(peer)
                assert peer is not None
                if message["op"] not in ("hello", "ping"):
                    peer.note(message)
                answer = await self._answer(message, peer)
                if answer is not None:
                    await peer.answer(answer)
                if message["op"] == "hello":
                    if self.inbox is not None and self.pulls_at_hello:
                        await peer.send(self.inbox.pull(message["client"], {}))
                    self._peers.put_nowait(peer)
        finally:
            if peer is not None:
                peer.end()
            await socket.close()
        return socket
