"""Absences of users in a simulated life: they go away, come back, and hear what they missed."""

import asyncio
from functools import partial
from typing import Any, Final

from .arrivals import EventArrivals
from .connections import UserConnections
from .course import SETTLES_S, LifeCourse
from .events import feed
from .operations import USERS
from .oracle import Follower, Position
from .returns import POINT_AGE_S, Return, check_return
from .subscriptions import UserSubscriptions

# So long after they have come back somebody loses the connection again: most of them before they are answered.
FLICKERS_S: Final = (0.001, 0.003, 0.01, 0.1)


class UserAbsences:
    """Users who go away and come back, with a point, with numbers, or with both."""

    def __init__(self, course: LifeCourse, connections: UserConnections, subscriptions: UserSubscriptions, arrivals: EventArrivals) -> None:
        self._course, self._world, self._oracle = course, course.world, course.oracle
        self._connections, self._subscriptions, self._arrivals = connections, subscriptions, arrivals

    async def point(self, who: int, *_: int) -> None:
        """Has a user ask for a point."""
        if (follower := self._course.there(who)) is not None and follower.client is not None:
            follower.client.say({"op": "ping", "point": True})
            asked_s = self._world.loop.now_s
            await self._course.until(lambda: not follower.is_there or follower.pointed_s >= asked_s, 0.1)

    async def go_away(self, who: int, how: int, *_: int) -> None:
        """Ends a connection of somebody who will come back: with a goodbye, without one, or between two bytes."""
        name = USERS[who % len(USERS)]
        if (follower := self._course.followers.get(name)) is None or not follower.recovers or not follower.wants or follower.client is None:
            return
        self._leave(follower, ("says goodbye", "hangs up", "breaks")[how % 3])

    def _leave(self, follower: Follower, how: str) -> None:
        self._course.followers.pop(follower.name)
        self._course.away[follower.name] = follower
        follower.has_left = True
        self._connections.ended(follower, "left")
        self._course.tell(follower.name, "goes away")
        if follower.client is not None:
            follower.client.leave(how)
        self._course.look()

    async def flicker(self, who: int, where: int, said: int, how: int) -> None:
        """Has somebody who is away come back, and lose that connection a moment later, perhaps before they are answered."""
        names = list(self._course.away)
        if names:
            await self.come_back(names[who % len(names)], where, said, breaks_s=FLICKERS_S[how % len(FLICKERS_S)])

    async def _breaks(self, follower: Follower, after_s: float) -> None:
        await asyncio.sleep(after_s)
        if follower.is_there and follower.wants and self._course.followers.get(follower.name) is follower:
            self._leave(follower, "breaks")

    async def recover(self, who: int, where: int, said: int, *_: int) -> None:
        """Has somebody who is away come back, at their site or, at times, at another one."""
        names = list(self._course.away)
        if names:
            await self.come_back(names[who % len(names)], where, said)

    async def come_back(self, name: str, where: int, said: int, breaks_s: float | None = None) -> None:
        """Has a user who is away come back, if an access point takes them. Raises Violated where what they are told is not true.

        - `where`, `said`: which access point, and whether they say points and numbers.
        - `breaks_s`: so long after they have asked their connection breaks; None: it does not.
        """
        was = self._course.away[name]
        points = self._course.open_points(was.point.partition("/")[0] if where % 8 else None)
        if not points or (back := await self._connections.come(name, points[where % len(points)])) is None:
            return
        del self._course.away[name]
        back.recovers = True
        back.go_on_from(was)
        positions = {topic: was.positions.get(topic) for topic in sorted(back.wants)}
        since = _numbers_of(was) if said % 3 != 1 else {}
        covered_s = {topic: self._covered_s(position, back) for topic, position in positions.items()} if said % 3 else {}
        back.begin_anew({*back.wants} if not since else set(), self._oracle.publications, covered_s)
        self._oracle.looked_at["covered"] += len(back.covered)
        if breaks_s is not None:
            self._course.meanwhile(partial(self._breaks, back, breaks_s))
        # A point is about what was followed when it was given. With another one, nobody would tell of what was lost.
        for position in dict.fromkeys(positions.values()) if said % 3 else [None]:
            topics = {topic for topic in positions if not said % 3 or positions[topic] == position}
            if back.is_there:
                await self._ask(was, back, topics, position, since)

    async def _ask(self, was: Follower, back: Follower, topics: set[str], position: Position | None, since: dict[str, Any]) -> None:
        """Has a user ask for what they missed of `topics`. Raises Violated where what they are told is not true.

        - `was`, `back`: the connection that ended, and the new one.
        - `position`: the point that they say; None where they say none. `since`: the numbers that they say, by topic.
        """
        numbers = {uri: since[uri] for uri in map(feed, topics) if uri in since}
        fields: dict[str, Any] = ({"point": position.point} if position is not None else {}) | ({"since": numbers} if numbers else {})
        if not fields:
            for topic in topics:
                back.whole_since_s.pop(topic, None)
                back.away_s.pop(topic, None)
            await self._subscriptions.follow(back, topics)
            return
        oldest = min((was.positions[topic] for topic in topics if topic in was.positions), key=lambda each: each.now_s, default=None)
        self._course.check()
        asked_s = self._world.loop.now_s
        back.asks = {*topics}
        answer = await self._connections.ask(
            back, "subscribe", topics=[feed(topic) for topic in sorted(topics)], recover=True, wait="all", **fields
        )
        self._course.check()
        if answer is not None and "recovered" in answer:
            its = Return(
                was,
                back,
                frozenset(topics),
                oldest,
                asked_s,
                self._course.wrong_s,
                self._is_disturbed_since(oldest),
                self._course.faults,
                self._world.window_s,
                self._course.apart_s,
                self._world.room,
            )
            self._look_at(its, answer, set(fields))

    def _look_at(self, its: Return, answer: dict[str, Any], said: set[str]) -> None:
        late, back = check_return(self._oracle, its, answer, said), its.back
        if answer["installed"] == "all":
            back.installed |= its.topics & back.wants
        for topic, numbers in late.items():
            self._course.meanwhile(partial(self._arrivals.arrived, topic, numbers, {back: back.given_up[topic]}))

    def _covered_s(self, position: Position | None, back: Follower) -> float:
        """Returns before when everything has come that a point is about, if that can be known: it is as old as a heartbeat at most."""
        if position is None or position.site != back.point.partition("/")[0] or self._is_disturbed_since(position):
            return 0.0
        return position.now_s - POINT_AGE_S

    def _is_disturbed_since(self, position: Position | None) -> bool:
        """Tells whether something may have gone wrong since a user had their point: then nobody may know what they missed."""
        began_s = position.now_s if position is not None else 0.0
        return bool(self._course.faults) or self._course.wrong_s + SETTLES_S > began_s


def _numbers_of(follower: Follower) -> dict[str, dict[str, list[int]]]:
    """Returns the last number of each topic and site that a user has, as clients say it."""
    since: dict[str, dict[str, list[int]]] = {}
    for (topic, site), life in follower.lives.items():
        if topic in follower.wants and (topic, site) not in follower.firsts:
            since.setdefault(feed(topic), {})[site] = [life[2], follower.last[life]]
    return since
