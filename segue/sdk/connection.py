"""One connection to an access point, from hello to its end. It knows nothing of reconnecting.

One task, `run`, reads; any task may call. Answers find their callers by id, pongs by their order.
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any, Final, Self, TypeVar

import aiohttp

from segue.sdk.client_options import ClientOptions
from segue.sdk.errors import ConnectionLost, ProtocolError, Refused, SegueError, Stalled, code_of, refusal
from segue.sdk.messages import (
    Answer,
    Event,
    Gap,
    Installed,
    News,
    Ok,
    Pong,
    Private,
    Problem,
    Refreshed,
    Subscribed,
    Unsubscribed,
    Wait,
    Welcome,
    Whom,
    topic_batches,
    weakest,
)
from segue.sdk.notification_messages import History, LastEvents, Marks, NotificationPage, Pulled
from segue.sdk.recoverer import Recoverer
from segue.sdk.token_source import TokensFor, fresh_for
from segue.sdk.wire import WebSocketWire

# Servers take no more of these at once.
SUBSCRIBES_AT_ONCE: Final = 8

_LOG: Final = logging.getLogger("segue.sdk.client")
_A = TypeVar("_A", bound=Answer)

Deliver = Callable[[Event | Pulled | News, int], Awaitable[None]]


class ClientConnection:
    """A connection that has been welcomed. `open` makes it; calls are answered while `run` runs.

    `recoverer` says what to ask for of topics, and hears what is answered. `replaced` is set by the owner when it has put another
    connection in the place of this one.
    """

    def __init__(self, wire: WebSocketWire, welcome: Welcome, heartbeat_s: float, recoverer: Recoverer) -> None:
        self.url = wire.url
        self.welcome = welcome
        self.replaced = asyncio.Event()
        self._wire = wire
        self._heartbeat_s = heartbeat_s
        self._recoverer = recoverer
        recoverer.connect(welcome)
        self._lost: ConnectionLost | None = None
        self._next_id = 1
        self._subscribing = asyncio.Semaphore(SUBSCRIBES_AT_ONCE)
        self._calls: dict[int, asyncio.Future[Any]] = {}
        self._pongs: deque[asyncio.Future[int]] = deque()
        self._frames_read = 0
        self._is_delivering = False

    @classmethod
    async def open(cls, http: aiohttp.ClientSession, url: str, hello: dict[str, Any], options: ClientOptions, recoverer: Recoverer) -> Self:
        """Connects to `url` and says `hello`, a message of these fields. Returns the connection when it is welcomed.

        - `http`, `options`: what opens it, and how long it may take.
        - `recoverer`: that of the client.

        Raises ConnectionLost, with the code if the server gave one. Cancelling it closes the socket.
        """
        try:
            async with asyncio.timeout(options.answer_timeout_s):
                wire = await WebSocketWire.open(http, url, options)
                try:
                    await wire.send({"op": "hello", **hello})
                    return cls(wire, _welcome(await wire.receive(), url), options.heartbeat_s, recoverer)
                except BaseException:
                    await wire.close()
                    raise
        except TimeoutError as error:
            raise ConnectionLost(f"{url} did not welcome us within {options.answer_timeout_s:g} s") from error

    async def run(self, deliver: Deliver) -> None:
        """Reads until the connection ends, which it raises as ConnectionLost. Calls that still wait raise the same.

        `deliver(message, size_bytes)` gets every event, all news, and the pull that the access point makes at hello. It may take
        its time; meanwhile nothing is read. Cancelling `run` closes the socket.
        """
        reading = asyncio.create_task(self._read_loop(deliver))
        heartbeat = asyncio.create_task(self._heartbeat_loop())
        try:
            await asyncio.wait((reading, heartbeat), return_when=asyncio.FIRST_COMPLETED)
            await (reading if reading.done() else heartbeat)
        except ConnectionLost as lost:
            self._lost = lost
            raise
        finally:
            self._lost = self._lost or ConnectionLost("the client was closed")
            self._fail_calls(self._lost)
            for task in (reading, heartbeat):
                task.cancel()
            await asyncio.gather(reading, heartbeat, return_exceptions=True)
            await self._wire.close()

    async def subscribe(
        self, topics: Iterable[str], wait: Wait, tokens_for: TokensFor | None = None, *, fields: Mapping[str, object] = {}
    ) -> Installed:
        """Subscribes `topics`, in as many messages as it takes; `wait` says for which sites. Returns what all of them promise.

        - `tokens_for(topics)`: makes the tokens that go with each message.
        - `fields`: what else each message says.

        Raises ConnectionLost, Refused, Stalled, and what `tokens_for` raises; all messages are answered then, so nothing is subscribed
        behind it.
        """

        async def one(batch: list[str]) -> Subscribed:
            tokens = await fresh_for(batch, tokens_for)
            if self._lost is not None:
                raise self._lost
            call_id = self._next_id  # no await between this and the call
            message = {**self._recoverer.ask(call_id, batch, wait), **({"tokens": tokens} if tokens else {}), **fields}
            try:
                return await self.call(Subscribed, message)
            except Refused as refused:
                if not self._recoverer.refused(call_id, refused):
                    raise
            return await one(batch)

        async def in_turn(batch: list[str]) -> Subscribed:
            async with self._subscribing if self._recoverer.is_offered else contextlib.nullcontext():
                return await one(batch)

        found = await asyncio.gather(*map(in_turn, list(self._recoverer.batches(topics))), return_exceptions=True)
        return weakest(_answered(each) for each in found)

    async def follow(self, whom: Whom, topics: Iterable[str], wait: Wait, tokens_for: TokensFor | None = None) -> Installed:
        """Follows all of `whom`. What was missed comes of `topics`, those of theirs that were followed before; the others are new.

        Returns and raises as `subscribe`.
        """
        known = await self.subscribe(topics, wait, tokens_for, fields={"follow": whom})
        message: dict[str, Any] = {"op": "subscribe", "topics": [], "wait": wait, "follow": whom}
        if self._recoverer.is_offered:
            message["recover"] = True
        return weakest([known, await self.call(Subscribed, message)])

    async def unfollow(self, whom: Whom) -> None:
        """Follows `whom` no longer. Raises as `unsubscribe`."""
        await self.call(Unsubscribed, {"op": "unsubscribe", "topics": [], "follow": whom})

    async def unsubscribe(self, topics: Iterable[str], *, fields: Mapping[str, object] = {}) -> None:
        """Unsubscribes `topics`; no event of theirs comes after it. `fields` is what else it says.

        Raises ConnectionLost, Refused and Stalled.
        """
        for batch in self._batches(topics):
            await self.call(Unsubscribed, {"op": "unsubscribe", "topics": batch, **fields})

    async def act(self, fields: dict[str, Any]) -> None:
        """Sends an action of the user, with `fields`, to presence. Raises ConnectionLost, Refused and Stalled."""
        await self.call(Ok, {"op": "act", **fields})

    async def refresh(self, token: str) -> int:
        """Brings another token of the same user. Returns when it expires, in ms since 1970 by the server's clock.

        Raises ConnectionLost, Refused and Stalled.
        """
        return (await self.call(Refreshed, {"op": "refresh", "token": token})).expires_ms

    async def ping(self) -> int:
        """Returns the server's clock, in ms since 1970. Raises ConnectionLost and Stalled."""
        return await (await self._send_ping())

    async def call(self, expected: type[_A], message: dict[str, Any]) -> _A:
        """Sends `message` under an id of its own. Returns its answer, which is an `expected`.

        Raises ConnectionLost, Refused and Stalled, and ProtocolError for an answer of another kind.
        """
        call_id, self._next_id = self._next_id, self._next_id + 1
        answer = self._calls[call_id] = asyncio.get_running_loop().create_future()
        try:
            await self._send({**message, "id": call_id})
            found = await answer
        finally:
            self._calls.pop(call_id, None)
        if not isinstance(found, expected):
            raise ProtocolError(f"{self.url} answered {message['op']} with {type(found).__name__.lower()}")
        return found

    def _batches(self, topics: Iterable[str]) -> Iterator[list[str]]:
        return topic_batches(topics, self.welcome.limits)

    async def _send_ping(self) -> asyncio.Future[int]:
        pong: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._pongs.append(pong)  # no await between this and the write, so the order here is the order on the wire
        await self._send({"op": "ping"} | ({"point": True} if self._recoverer.is_offered else {}))
        return pong

    async def _send(self, message: dict[str, Any]) -> None:
        if self._lost is not None:
            raise self._lost
        await self._wire.send(message)

    async def _read_loop(self, deliver: Deliver) -> None:
        while True:
            message, size_bytes = await self._wire.receive()
            self._frames_read += 1
            if isinstance(message, Event):
                self._is_delivering = True
                await deliver(message, size_bytes)
                self._is_delivering = False
            elif isinstance(message, Subscribed):
                await self._take_subscribed(message, deliver)
            elif isinstance(message, Gap):
                self._recoverer.miss(message)
                await deliver(message, size_bytes)
            elif isinstance(message, News) or (isinstance(message, Pulled) and message.id is None):
                await deliver(message, size_bytes)
            else:
                self._take(message)

    async def _take_subscribed(self, message: Subscribed, deliver: Deliver) -> None:
        answer, gaps = self._recoverer.answered(message)
        _settle(self._calls.get(answer.id), answer)
        for gap in gaps:
            await deliver(gap, 0)

    def _take(self, answer: Answer) -> None:
        match answer:
            case Pong():
                self._recoverer.reach(answer.point)
                _settle(self._pongs.popleft() if self._pongs else None, answer.time_ms)
            case Refreshed() | Unsubscribed() | Ok() | Pulled() | NotificationPage() | Marks() | History() | LastEvents() | Private():
                _settle(self._calls.get(answer.id) if answer.id is not None else None, answer)
            case Problem():
                self._take_problem(answer)
            case Welcome():
                raise ConnectionLost(f"{self.url} sent a second welcome")

    def _take_problem(self, problem: Problem) -> None:
        code = code_of(problem.code, problem.number)
        if code is not None and code.fatal:
            self._recoverer.reach(problem.point)
            raise _loss(problem)
        call = self._calls.get(problem.id) if problem.id is not None else None
        if call is None:
            passes = code is not None and code.reconnect  # such as the pull at hello, which is made again
            _LOG.log(
                logging.INFO if passes else logging.WARNING,
                "the server complains about something that nobody waits for: %s: %s",
                problem.code,
                problem.reason,
            )
        elif not call.done():
            call.set_exception(refusal(problem.code, problem.reason))

    async def _heartbeat_loop(self) -> None:
        """Raises ConnectionLost when nothing is heard any more.

        While the application does not take its events, nothing is read, which is no fault of the server. Then only a socket that cannot
        be written to counts as lost. Calls fail meanwhile, for their answers stand behind those events.
        """
        while True:
            frames_before = self._frames_read
            broken: ConnectionLost | None = None
            try:
                await self._send_ping()
            except ConnectionLost as lost:
                broken = lost  # the reader, if it still reads, finds out more: a code
            await asyncio.sleep(self._heartbeat_s)
            if self._frames_read != frames_before:
                continue
            if broken or not self._is_delivering:
                raise broken or ConnectionLost(f"nothing was heard from {self.url} for {self._heartbeat_s:g} s")
            self._fail_calls(Stalled(f"no event was taken for {self._heartbeat_s:g} s; iterate over the client in a task of its own"))

    def _fail_calls(self, error: SegueError) -> None:
        for call in [*self._calls.values(), *self._pongs]:
            if not call.done():
                call.set_exception(error)
                call.exception()  # a caller that was cancelled, or the heartbeat, will not fetch it


def _answered(found: Subscribed | BaseException) -> Subscribed:
    if isinstance(found, BaseException):
        raise found
    return found


def _settle(call: asyncio.Future[Any] | None, result: object) -> None:
    if call is not None and not call.done():
        call.set_result(result)


def _loss(problem: Problem) -> ConnectionLost:
    retry_after_s = None if problem.reconnect_in_ms is None else max(0, problem.reconnect_in_ms) / 1000
    return ConnectionLost(
        problem.reason or problem.code, code_of(problem.code, problem.number), retry_after_s, is_final=problem.reconnect is False
    )


def _welcome(first: tuple[Answer | Event, int], url: str) -> Welcome:
    match first[0]:
        case Welcome() as welcome:
            return welcome
        case Problem() as problem:
            raise _loss(problem)
        case other:
            raise ConnectionLost(f"{url} answered hello with {type(other).__name__.lower()} instead of welcome")
