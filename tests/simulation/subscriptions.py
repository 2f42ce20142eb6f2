"""Subscriptions of users in a simulated life."""

import asyncio

from .connections import UserConnections
from .course import LifeCourse
from .events import feed
from .operations import TOPICS
from .oracle import Follower, Violated


class UserSubscriptions:
    """Topics that users follow and give up."""

    def __init__(self, course: LifeCourse, connections: UserConnections) -> None:
        self._course, self._world = course, course.world
        self._connections = connections

    async def subscribe(self, who: int, first: int, number: int, *_: int) -> None:
        """Has a user follow one to three topics more."""
        if (follower := self._course.there(who)) is not None:
            topics = {TOPICS[(first + each) % len(TOPICS)] for each in range(1 + number % 3)}
            await self.follow(follower, topics)

    async def follow(self, follower: Follower, topics: set[str]) -> None:
        """Asks for `topics`. Raises Violated where nothing is wrong, and they are not installed everywhere."""
        follower.follows |= topics
        follower.wants |= topics
        recovery = {"recover": True} if follower.recovers else {}
        answer = await self._connections.ask(
            follower, "subscribe", topics=[feed(topic) for topic in sorted(topics)], wait="all", **recovery
        )
        self._course.check()
        if answer is not None and answer.get("installed") == "all":
            follower.installed |= topics & follower.wants
            for topic in topics & follower.wants:
                follower.whole_since_s.setdefault(topic, self._world.loop.now_s)
        elif answer is not None and not self._course.faults:
            raise Violated(f"nothing is wrong, and {follower.name} is told {answer}")

    async def unsubscribe(self, who: int, first: int, *_: int) -> None:
        """Has a user give up one topic."""
        if (follower := self._course.there(who)) is not None:
            await self._give_up(follower, TOPICS[first % len(TOPICS)])

    async def _give_up(self, follower: Follower, topic: str) -> None:
        follower.gives_up(topic)
        if await self._connections.ask(follower, "unsubscribe", topics=[feed(topic)]) is not None:
            follower.has_given_up(topic)

    async def swap(self, who: int, first: int, number: int, how: int, *_: int) -> None:
        """Gives up all that a user follows for something else: rows get new topics, perhaps while events of old ones are under way."""
        if (follower := self._course.there(who)) is None:
            return
        for topic in sorted(follower.wants):
            await self._give_up(follower, topic)
        await asyncio.sleep((0.0, 0.6, 1.2)[how % 3])
        if follower.is_there:
            await self.follow(follower, {TOPICS[(first + each) % len(TOPICS)] for each in range(1 + number % 3)})
