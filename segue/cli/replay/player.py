"""The player of a script against access points and brokers: each user is a client, and one publisher publishes all."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import Final, Self

from infra.kernel.errors import SegueError
from infra.kernel.every_one import raise_all
from infra.runtime.ending import end_all, end_tasks
from segue.sdk.client import Client
from segue.sdk.client_options import ClientOptions
from segue.sdk.errors import ConnectionLost
from segue.sdk.outage import Outage
from segue.sdk.publication import Publication
from segue.sdk.publisher import Publisher

from .ledger import ReplayLedger
from .script import ScriptStep

INSTALL_S: Final = 30.0
# So many steps of users may be under way, and so many publications may wait for the broker. Beyond it the script waits, and is late.
MOST_UNDER_WAY: Final = 256
MOST_WAITING: Final = 2_000
POLL_S: Final = 0.05
_LOG: Final = logging.getLogger("segue.cli.replay")


class TracePlayer:
    """A player: `async with TracePlayer(...) as player: await player.play(script, speed); await player.drain(seconds)`.

    - `urls`: the access points.
    - `publisher`: publishes what the script publishes.
    - `token`: makes a token for a user.
    - `ledger`: takes note of all that is sent and received.
    - `run`: begins the ids of this replay's events, which tells them from those of others.
    - `options`: of every client.

    `failures` counts the steps that an access point refused or broke off, `rejected` the publications that no broker accepted. The last
    step was late by `late_s`; `elapsed_s` of the script have been played. Leaving disconnects everybody.
    """

    def __init__(
        self,
        urls: Sequence[str],
        publisher: Publisher,
        token: Callable[[str], str],
        ledger: ReplayLedger,
        run: str,
        options: ClientOptions | None = None,
    ) -> None:
        self.late_s = self.elapsed_s = 0.0
        self.failures = self.rejected = 0
        self.failure = ""
        self._urls, self._publisher, self._token, self._ledger, self._run = urls, publisher, token, ledger, run
        self._options = options
        self._outage = Outage(_LOG.warning)  # one for all users, for they lose the same access points
        self._clients: dict[str, Client] = {}
        self._listeners: dict[str, asyncio.Task[None]] = {}
        self._turns: dict[str, asyncio.Task[None]] = {}
        self._waiting: asyncio.Queue[ScriptStep | None] = asyncio.Queue(MOST_WAITING)
        self._publishing: asyncio.Task[None] | None = None
        self._defect: BaseException | None = None

    async def __aenter__(self) -> Self:
        self._publishing = asyncio.create_task(self._publish(), name="replay publishes")
        return self

    async def __aexit__(self, *exc: object) -> None:
        await end_tasks(*self._turns.values(), self._publishing)
        ended = await asyncio.gather(*(self._disconnect(user) for user in list(self._clients)), return_exceptions=True)
        raise_all([error for error in ended if isinstance(error, Exception)])

    async def play(self, script: Iterable[ScriptStep], speed: float) -> None:
        """Does each step of `script` at its time, `speed` times faster. Time begins to run when all who are there from the start are there.

        Raises ConnectionLost if no broker accepts publications any more. Cancelling it stops between two steps.
        """
        start_s = None
        for step in script:
            if start_s is None and (step.at_s > 0 or step.what == "publish"):
                await self._settled()
                start_s = perf_counter()
            if start_s is not None:
                due_s = start_s + step.at_s / speed
                await asyncio.sleep(max(0.0, due_s - perf_counter()))
                self.late_s = perf_counter() - due_s
                self.elapsed_s = step.at_s
            await self._take(step)

    async def drain(self, seconds: float) -> None:
        """Waits until everything was published and has arrived, at most for `seconds`. Raises ConnectionLost as `play`."""
        assert self._publishing is not None
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._waiting.put(None)
                await asyncio.shield(self._publishing)
                await self._settled()
                while self._ledger.missing:  # noqa: ASYNC110 - a ledger has no events
                    await asyncio.sleep(POLL_S)
                await asyncio.gather(*(self._fence(client) for client in self._clients.values()))

    async def _take(self, step: ScriptStep) -> None:
        if self._defect is not None:
            raise self._defect
        if step.what == "publish":
            if self._publishing is not None and self._publishing.done():
                await self._publishing  # says why it ended
            await self._waiting.put(step)
            return
        while len(self._turns) >= MOST_UNDER_WAY:
            await asyncio.wait(self._turns.values(), return_when=asyncio.FIRST_COMPLETED)
        before = self._turns.get(step.user)
        turn = asyncio.create_task(self._in_turn(before, step), name=f"replay: {step.what} {step.user}")
        self._turns[step.user] = turn
        turn.add_done_callback(lambda done: self._over(step.user, done))

    def _over(self, user: str, turn: asyncio.Task[None]) -> None:
        if self._turns.get(user) is turn:
            del self._turns[user]
        if not turn.cancelled() and (defect := turn.exception()) is not None:
            self._defect = defect

    async def _settled(self) -> None:
        while self._turns:
            await asyncio.wait(self._turns.values())

    async def _in_turn(self, before: asyncio.Task[None] | None, step: ScriptStep) -> None:
        """Does `step` after the step `before` of the same user."""
        if before is not None:
            await asyncio.wait({before})
        try:
            async with asyncio.timeout(INSTALL_S):
                await self._step(step)
        except SegueError as error:
            self._failed(step, str(error))
        except TimeoutError:
            self._failed(step, f"no answer within {INSTALL_S:g} s")

    def _failed(self, step: ScriptStep, why: str) -> None:
        self.failures += 1
        self.failure = f"{step.user} could not {step.what}: {why}"

    def _step(self, step: ScriptStep) -> Awaitable[None]:
        match step.what:
            case "connect":
                return self._connect(step.user)
            case "subscribe":
                return self._subscribe(step.user, step.topics)
            case "unsubscribe":
                return self._unsubscribe(step.user, step.topics)
            case _:
                return self._disconnect(step.user)

    async def _connect(self, user: str) -> None:
        client = Client(self._urls, partial(self._token, user), client="replay", on_state=self._outage, options=self._options)
        await client.__aenter__()
        self._clients[user] = client
        self._listeners[user] = asyncio.create_task(self._listen(user, client), name=f"{user} listens")

    async def _subscribe(self, user: str, topics: Sequence[str]) -> None:
        client = self._connected(user)
        self._ledger.subscribing(user, topics)
        installed = await client.subscribe(topics, wait="all")
        while installed.installed != "all":
            installed = await client.subscribe(topics, wait="all")
        refused = {each.topic for each in installed.rejected}
        self._ledger.installed(user, [topic for topic in topics if topic not in refused])

    async def _unsubscribe(self, user: str, topics: Sequence[str]) -> None:
        client = self._connected(user)
        self._ledger.unsubscribing(user, topics)
        await client.unsubscribe(topics)
        self._ledger.unsubscribed(user, topics)

    def _connected(self, user: str) -> Client:
        if user not in self._clients:
            raise ConnectionLost("is not connected")
        return self._clients[user]

    async def _disconnect(self, user: str) -> None:
        client, listener = self._clients.pop(user, None), self._listeners.pop(user, None)
        if client is not None and listener is not None:
            await end_all(client.close, lambda: listener)

    async def _listen(self, user: str, client: Client) -> None:
        with suppress(SegueError):  # a client that is turned away for good misses its events, and they are counted as missing
            async for event in client:
                if event.id.startswith(self._run):
                    self._ledger.received(user, event.id, perf_counter())

    async def _fence(self, client: Client) -> None:
        with suppress(SegueError):
            await client.ping()

    async def _publish(self) -> None:
        result = await self._publisher.publish_many(self._said())
        self.rejected = len(result.rejected)
        for rejection in result.rejected:
            self._ledger.rejected(self._id(rejection.index))
            self.failure = f"a publication was rejected: {rejection.code}: {rejection.reason}"

    async def _said(self) -> AsyncIterator[Publication]:
        number = 0
        while (step := await self._waiting.get()) is not None:
            event = self._id(number)
            self._ledger.sent(event, step.topics[0], perf_counter())
            yield Publication(step.topics[0], step.kind, {}, event)
            number += 1

    def _id(self, number: int) -> str:
        return f"{self._run}-{number}"
