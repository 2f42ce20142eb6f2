"""A random story of users who follow, block and hide from each other, on whatever cluster: nobody hears what the table forbids."""

import asyncio
import json
import random
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any, Final

from infra.kernel.access import Listening
from infra.kernel.topics import parse_topic

from .social_desk import SocialDesk
from .social_twin import SocialTwin
from .user import User, feed

USERS: Final = ("ann", "bob", "cid")
DEADLINE_S: Final = 30.0


class AccessStory:
    """The story of `USERS`, told to a real social service by way of `desk` and to a twin, which knows what must follow.

    `client(user)` makes a client of a user, at whatever site.
    """

    def __init__(self, desk: SocialDesk, client: Callable[[str], User], seed: int) -> None:
        self._desk, self._client = desk, client
        self._rng = random.Random(seed)
        self._twin = SocialTwin()
        self._clients: dict[str, User] = {}
        self._stacks: dict[str, AsyncExitStack] = {}
        self._held: dict[str, set[str]] = {user: set() for user in USERS}
        self._private: set[str] = set()
        self._n = 0

    async def tell(self, steps: int) -> None:
        """Plays so many steps, and looks after each at who hears whom."""
        try:
            for user in USERS:
                await self._connect(user)
            for _ in range(steps):
                one, other = self._rng.sample(USERS, 2)
                await self._step(one, other)
                await self._nobody_holds_what_is_forbidden()
                await self._only_those_hear_who_may(self._rng.choice(USERS))
        finally:
            for stack in self._stacks.values():
                await stack.aclose()

    async def _connect(self, user: str) -> None:
        stack = self._stacks[user] = AsyncExitStack()
        self._clients[user] = await stack.enter_async_context(self._client(user))
        self._held[user] = set()  # a private session is of the device, and outlives the connection

    async def _step(self, one: str, other: str) -> None:
        match self._rng.randrange(8):
            case 0 if not {(one, other), (other, one)} & self._twin.blocks:
                self._twin.befriend(one, other)
                await self._desk.befriend(one, other)
            case 1:
                self._twin.unfollow(one, other)
                await self._desk.unfollow(one, other)
            case 2:
                self._twin.block(one, other)
                await self._desk.block(one, other)
            case 3:
                self._twin.unblock(one, other)
                await self._desk.unblock(one, other)
            case 4:
                listening = self._rng.choice(list(Listening))
                self._twin.show(one, listening)
                await self._desk.show(one, listening)
            case 5:
                await self._stacks[one].aclose()
                await self._connect(one)
            case 6:
                on = self._rng.random() < 0.5
                assert (await self._clients[one].ask("private", on=on, **({"hours": 1} if on else {})))["on"] is on
                (self._private.add if on else self._private.discard)(one)
            case 7:
                await self._clients[one].ask("unsubscribe", topics=[feed(other)])
                self._held[one].discard(other)
        await self._follow(one)

    async def _follow(self, user: str) -> None:
        """Subscribes to everybody. Those whom the table forbids are rejected once the news are there."""
        others = [other for other in USERS if other != user]
        allowed = {other for other in others if self._may_see(user, other)}
        async with asyncio.timeout(DEADLINE_S):
            while True:
                rejected = {each["topic"] for each in (await self._clients[user].follow(*others))["rejected"]}
                followed = {other for other in others if feed(other) not in rejected}
                if followed <= allowed:
                    break
        self._held[user] = followed

    def _may_see(self, user: str, other: str) -> bool:
        return self._twin.rule(user, parse_topic(feed(other))) is None

    async def _nobody_holds_what_is_forbidden(self) -> None:
        for user, held in self._held.items():
            for other in [other for other in held if not self._may_see(user, other)]:
                await self._clients[user].until(lambda user=user, other=other: other in self._ended(user))  # type: ignore[misc]
                held.discard(other)

    def _ended(self, user: str) -> set[str]:
        news = [answer for answer in self._clients[user].answers if answer["op"] == "ended"]
        return {each["topic"].split("/")[-2] for answer in news for each in answer["topics"]}

    async def _only_those_hear_who_may(self, speaker: str) -> None:
        self._n += 1
        mark = {"track": str(self._n)}
        assert (await self._clients[speaker].ask("act", kind="play", **mark))["op"] == "ok"
        hear = {user for user in USERS if speaker in self._held[user] and speaker not in self._private}
        for user in hear:
            await self._clients[user].until(lambda user=user: mark in self._payloads(user))  # type: ignore[misc]
        for user, client in self._clients.items():
            await client.fence()
            assert (mark in self._payloads(user)) == (user in hear), (user, speaker)
            last = (await client.ask("last", topics=[feed(speaker)]))["events"]
            assert not last or user == speaker or self._may_see(user, speaker), json.dumps(last)
            client.answers[:] = [answer for answer in client.answers if answer["op"] != "ended"]

    def _payloads(self, user: str) -> list[Any]:
        return [event["payload"] for event in self._clients[user].events]
