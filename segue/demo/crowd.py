"""The crowd: each user a `segue.Client` on a WebSocket of its own, following friends, playing and listening."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import Any, Final, Self, TypeVar

from infra.kernel.errors import SegueError
from infra.kernel.every_one import raise_all
from infra.kernel.topics import format_topic, user_topic
from infra.runtime.ending import end_all
from infra.runtime.open_files import need_open_files
from segue.sdk.client import Client
from segue.sdk.client_state import Phase, State

from .show import Show

T = TypeVar("T")

# Handshakes and subscriptions under way at any time: enough to keep a core busy, few enough that each is quick.
AT_ONCE: Final = 64
INSTALL_S: Final = 30.0
# Each user's WebSocket has both its ends here; the rest is for links, doors, files and a browser.
FILES_PER_USER: Final = 2
OTHER_FILES: Final = 200
# The field of the payload that tells which play an event is; the engine's own id is made later, by the presence service.
MARK: Final = "mark"

Heard = Callable[[str, str, float], None]


class CrowdError(SegueError):
    """The users could not do what the demo needs. The message says who, what and why."""


class Crowd:
    """`async with Crowd(doors, token, heard) as crowd:`; leaving disconnects everybody.

    `doors` has the URL of each user, `token` makes a token for a user, `heard(user, mark, at_s)` takes each arrival, in
    seconds of `time.perf_counter`. Each step is taken by `AT_ONCE` users at a time and calls `one_done` for each of them.
    """

    def __init__(self, doors: Mapping[str, str], token: Callable[[str], str], heard: Heard) -> None:
        self.reconnects = 0
        self._clients = {user: Client(url, token(user), client="demo", on_state=self._told) for user, url in doors.items()}
        self._heard = heard
        self._listeners: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.disconnect()

    async def gather(self, follows: Mapping[str, Collection[str]], show: Show) -> None:
        """Connects everybody and subscribes them, each a step of `show`. Raises as `connect` and `follow` do."""
        with show.phase("connect", len(self._clients)) as phase:
            await self.connect(phase.one_done)
            phase.outcome = f"{len(self._clients):,} users, each on a WebSocket of its own"
        with show.phase("follow", len(self._clients)) as phase:
            await self.follow(follows, phase.one_done)
            phase.outcome = f"{sum(map(len, follows.values())):,} subscriptions, installed at every site"

    async def connect(self, one_done: Callable[[], None]) -> None:
        """Connects everybody. Raises Refused, ConnectionLost."""

        async def one(user: str) -> None:
            await self._clients[user].__aenter__()
            self._listeners.append(asyncio.create_task(self._listen(user), name=f"{user} listens"))
            one_done()

        await for_each(self._clients, one)

    async def follow(self, follows: Mapping[str, Iterable[str]], one_done: Callable[[], None]) -> None:
        """Subscribes everybody to those whom they follow; returns when every site holds every subscription. Raises CrowdError."""

        async def one(user: str) -> None:
            await self._install(user, [topic_of(friend) for friend in follows[user]])
            one_done()

        await for_each(self._clients, one)

    async def play(self, user: str, mark: str, **fields: Any) -> None:
        """`user` plays something. Raises what `Client.act` raises."""
        await self._clients[user].act("play", **fields, **{MARK: mark})

    def offloaded(self, user: str) -> frozenset[str]:
        """The topics of those whom `user` follows that are out of real time, as far as he was told."""
        return self._clients[user].offloaded

    async def fence(self) -> None:
        """Returns when everything that access points had for the connected users has arrived."""

        async def one(user: str) -> None:
            with suppress(SegueError):
                await self._clients[user].ping()

        await for_each(self._clients, one)

    async def disconnect(self) -> None:
        """Closes all connections; what had arrived is heard before it returns. May be called twice."""

        async def one(user: str) -> None:
            await self._clients[user].close()

        await end_all(partial(end_each, self._clients, one), lambda: asyncio.gather(*self._listeners))

    async def _listen(self, user: str) -> None:
        with suppress(SegueError):  # turned away for good: what it misses is lost, and counted so
            async for event in self._clients[user]:
                self._heard(user, str(event.payload.get(MARK)), perf_counter())

    async def _install(self, user: str, topics: list[str]) -> None:
        try:
            async with asyncio.timeout(INSTALL_S):
                while (installed := await self._clients[user].subscribe(topics, wait="all")).installed != "all":
                    pass
        except TimeoutError:
            raise CrowdError(f"what {user} follows was not installed at every site within {INSTALL_S:g} s; try fewer --users") from None
        if installed.rejected:
            raise CrowdError(f"{user} may not follow {installed.rejected[0].topic}: {installed.rejected[0].code}")

    def _told(self, state: State) -> None:
        self.reconnects += state.phase is Phase.WAITING


def topic_of(user: str) -> str:
    """The topic on which `user`'s plays are published."""
    return format_topic(user_topic(user))


def need_files(users: int) -> None:
    """Raises ConfigError where so many users cannot be connected."""
    need_open_files(users * FILES_PER_USER + OTHER_FILES)


async def end_each(users: Iterable[T], end: Callable[[T], Awaitable[None]]) -> None:
    """Ends something of each of `users`, `AT_ONCE` at a time, also where that fails for some. Raises as `raise_all`."""
    errors: list[Exception] = []

    async def one(user: T) -> None:
        try:
            await end(user)
        except Exception as error:
            errors.append(error)

    await for_each(users, one)
    raise_all(errors)


async def for_each(users: Iterable[T], step: Callable[[T], Awaitable[None]]) -> None:
    """Takes a step for each of `users`, `AT_ONCE` at a time. The first that fails cancels those under way, and is raised."""
    waiting = iter(list(users))

    async def worker() -> None:
        for user in waiting:
            await step(user)

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(AT_ONCE):
                group.create_task(worker())
    except ExceptionGroup as failures:
        raise failures.exceptions[0] from failures
