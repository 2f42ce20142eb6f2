"""The crowd: each user is a `segue.Client` on a WebSocket of its own, who follows friends, plays and listens."""

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
from segue.sdk.messages import Ended

from .show import Show

T = TypeVar("T")

# So many handshakes and subscriptions are under way at a time. They keep a core busy, and each is still quick.
AT_ONCE: Final = 64
INSTALL_S: Final = 30.0
# Each user's WebSocket has both its ends here; the rest is for links, doors, files and a browser.
FILES_PER_USER: Final = 2
OTHER_FILES: Final = 200
# The field of the payload that tells which play an event is; the engine's own id is made later, by the presence service.
MARK: Final = "mark"

Heard = Callable[[str, str, float], None]


class CrowdError(SegueError):
    """Users who could not do what the demo needs. The message says who, what and why."""


class Crowd:
    """The crowd: `async with Crowd(doors, token, heard) as crowd:`. Leaving disconnects everybody.

    - `doors`: the URL for each user.
    - `token`: makes a token for a user.
    - `heard`: is called with the user, the mark and the time of each arrival, in seconds of `time.perf_counter`. It may be exchanged.

    `ended` has each user who was told that they may not see a topic any more, with the topic.

    `AT_ONCE` users do a step at a time; `one_done` is called for each.
    """

    def __init__(self, doors: Mapping[str, str], token: Callable[[str], str], heard: Heard) -> None:
        self.reconnects = 0
        self._clients = {
            user: Client(url, partial(token, user), client="demo", on_state=self._told, on_ended=partial(self._end, user))
            for user, url in doors.items()
        }
        self.heard = heard
        self.ended: set[tuple[str, str]] = set()
        self._listeners: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.disconnect()

    async def gather(self, follows: Mapping[str, Collection[str]], show: Show) -> None:
        """Connects everybody and subscribes them as `follows` says, in two steps of `show`. Raises as `connect` and `follow`."""
        with show.phase("connect", len(self._clients)) as phase:
            await self.connect(phase.one_done)
            phase.outcome = f"{len(self._clients):,} users, each on a WebSocket of its own"
        with show.phase("follow", len(self._clients)) as phase:
            await self.follow(follows, phase.one_done)
            phase.outcome = f"{sum(map(len, follows.values())):,} subscriptions, installed at every site"

    async def connect(self, one_done: Callable[[], None]) -> None:
        """Connects everybody. Raises Refused and ConnectionLost."""

        async def one(user: str) -> None:
            await self._clients[user].__aenter__()
            self._listeners.append(asyncio.create_task(self._listen(user), name=f"{user} listens"))
            one_done()

        await for_each(self._clients, one)

    async def follow(self, follows: Mapping[str, Iterable[str]], one_done: Callable[[], None]) -> None:
        """Subscribes each user to the users whom they follow. Returns when every site holds every subscription. Raises CrowdError."""

        async def one(user: str) -> None:
            await self._install(user, [topic_of(friend) for friend in follows[user]])
            one_done()

        await for_each(self._clients, one)

    async def play(self, user: str, mark: str, **fields: Any) -> None:
        """Has `user` play something, which `fields` describe and `mark` names. Raises what `Client.act` raises."""
        await self._clients[user].act("play", **fields, **{MARK: mark})

    async def may_follow(self, user: str, owner: str) -> bool:
        """Has `user` try to follow `owner`; returns whether they may. Raises what `Client.subscribe` raises."""
        return not (await self._clients[user].subscribe([topic_of(owner)])).rejected

    async def set_private(self, user: str) -> None:
        """Begins a private session of `user`. Raises what `Client.set_private` raises."""
        await self._clients[user].set_private(True)

    async def leave(self, user: str) -> None:
        """Disconnects `user`. May be called twice."""
        await self._clients[user].close()

    def offloaded(self, user: str) -> frozenset[str]:
        """Returns the topics that `user` follows and that are out of real time, as far as the user was told."""
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
        with suppress(SegueError):  # a client that is turned away for good misses its events, and they are counted as lost
            async for event in self._clients[user]:
                self.heard(user, str(event.payload.get(MARK)), perf_counter())

    async def _install(self, user: str, topics: list[str]) -> None:
        try:
            async with asyncio.timeout(INSTALL_S):
                while (installed := await self._clients[user].subscribe(topics, wait="all")).installed != "all":
                    pass
        except TimeoutError:
            raise CrowdError(f"what {user} follows was not installed at every site within {INSTALL_S:g} s; try fewer --users") from None
        if installed.rejected:
            raise CrowdError(f"{user} may not follow {installed.rejected[0].topic}: {installed.rejected[0].code}")

    def _end(self, user: str, news: Ended) -> None:
        self.ended.update((user, each.topic) for each in news.topics)

    def _told(self, state: State) -> None:
        self.reconnects += state.phase is Phase.WAITING


def topic_of(user: str) -> str:
    """Returns the topic on which the plays of `user` are published."""
    return format_topic(user_topic(user))


def need_files(users: int) -> None:
    """Raises ConfigError where so many users cannot be connected."""
    need_open_files(users * FILES_PER_USER + OTHER_FILES)


async def end_each(users: Iterable[T], end: Callable[[T], Awaitable[None]]) -> None:
    """Calls `end` for each of `users`, `AT_ONCE` at a time, even if it fails for some. Raises as `raise_all`."""
    errors: list[Exception] = []

    async def one(user: T) -> None:
        try:
            await end(user)
        except Exception as error:
            errors.append(error)

    await for_each(users, one)
    raise_all(errors)


async def for_each(users: Iterable[T], step: Callable[[T], Awaitable[None]]) -> None:
    """Calls `step` for each of `users`, `AT_ONCE` at a time. The first that fails cancels the others, and is raised."""
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
