"""Absences of users in a simulated life: they go away, come back, and hear what they missed."""

from functools import partial
from typing import Any

from .arrivals import EventArrivals
from .connections import UserConnections
from .course import SETTLES_S, LifeCourse
from .events import feed
from .operations import USERS
from .oracle import Follower, Position
from .returns import POINT_AGE_S, Return, check_return
from .subscriptions import UserSubscriptions


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
            await self._course.until(lambda: not follower.is_there or (follower.position or Position("", -1.0)).now_s >= asked_s, 0.1)

    async def go_away(self, who: int, how: int, *_: int) -> None:
        """Ends a connection of somebody who will come back: with a goodbye, without one, or between two bytes."""
        name = USERS[who % len(USERS)]
        if (follower := self._course.followers.get(name)) is None or not follower.recovers or not follower.wants or follower.client is None:
            return
        self._course.followers.pop(name)
        self._course.away[name] = follower
        follower.has_left = True
        self._connections.ended(follower, "")
        self._course.tell(name, "goes away")
        follower.client.leave(("says goodbye", "hangs up", "breaks")[how % 3])

    async def recover(self, who: int, where: int, said: int, *_: int) -> None:
        """Has somebody who is away come back, at their site or, at times, at another one."""
        names = list(self._course.away)
        if names:
            await self.come_back(names[who % len(names)], where, said)

    async def come_back(self, name: str, where: int, said: int) -> None:
        """Has a user who is away come back, if an access point takes them. Raises Violated where what they are told is not true."""
        was = self._course.away[name]
        points = self._course.open_points(was.point.partition("/")[0] if where % 8 else None)
        if not points or (back := await self._connections.come(name, points[where % len(points)])) is None:
            return
        del self._course.away[name]
        back.recovers = True
        back.go_on_from(was)
        with_point = was.with_point if said % 3 != 0 else set()
        since = _numbers_of(was) if said % 3 != 1 else {}
        covered_s = self._covered_s(was, back) if with_point else 0.0
        back.begin_anew({*back.wants} if not since else set(), self._oracle.publications, covered_s)
        self._oracle.looked_at["covered"] += len(back.covered)
        # A point is about what was followed when it was given. With it, nobody would tell of a loss of what was asked for since.
        if with_point and was.position is not None:
            await self._ask(was, back, with_point, {"point": was.position.point}, since)
        if back.is_there and (rest := back.wants - with_point):
            await self._ask(was, back, rest, {}, since)

    async def _ask(self, was: Follower, back: Follower, topics: set[str], point: dict[str, str], since: dict[str, Any]) -> None:
        """Has a user ask for what they missed of `topics`. Raises Violated where what they are told is not true.

        - `was`, `back`: the connection that ended, and the new one.
        - `point`: what they say of a point; nothing where they say none. `since`: the numbers that they say, by topic.
        """
        numbers = {uri: since[uri] for uri in map(feed, topics) if uri in since}
        fields: dict[str, Any] = point | ({"since": numbers} if numbers else {})
        if not fields:
            for topic in topics:
                back.whole_since_s.pop(topic, None)
            await self._subscriptions.follow(back, topics)
            return
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
                asked_s,
                self._course.wrong_s,
                self._is_disturbed_since(was),
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

    def _covered_s(self, was: Follower, back: Follower) -> float:
        """Returns before when everything has come that a point is about, if that can be known: it is as old as a heartbeat at most."""
        is_elsewhere = was.point.partition("/")[0] != back.point.partition("/")[0]
        if was.position is None or is_elsewhere or self._is_disturbed_since(was):
            return 0.0
        return was.position.now_s - POINT_AGE_S

    def _is_disturbed_since(self, was: Follower) -> bool:
        """Tells whether something may have gone wrong since a user had their position: then nobody may know what they missed."""
        began_s = was.position.now_s if was.position is not None else 0.0
        return bool(self._course.faults) or self._course.wrong_s + SETTLES_S > began_s


def _numbers_of(follower: Follower) -> dict[str, dict[str, list[int]]]:
    """Returns the last number of each topic and site that a user has, as clients say it."""
    since: dict[str, dict[str, list[int]]] = {}
    for (topic, site), life in follower.lives.items():
        if topic in follower.wants:
            since.setdefault(feed(topic), {})[site] = [life[2], follower.last[life]]
    return since
