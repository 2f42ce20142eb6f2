"""Connections of users in a simulated life, and what is said to them."""

import asyncio
from typing import Any, Final

from .course import LifeCourse
from .events import topics_of
from .operations import USERS
from .oracle import Follower, Violated
from .returns import check_gap

# Within this time somebody answers, or nobody does.
ANSWERS_S: Final = 5.0


class UserConnections:
    """Connections of users: they come, end, ask something, and hear something, at which the oracle looks."""

    def __init__(self, course: LifeCourse) -> None:
        self._course, self._world, self._oracle = course, course.world, course.oracle
        self._asked = 0

    async def connect(self, who: int, where: int, how: int, *_: int) -> None:
        """Has a user connect who is neither there nor away."""
        name = USERS[who % len(USERS)]
        points = self._course.open_points()
        if ((found := self._course.followers.get(name)) is not None and found.is_there) or not points or name in self._course.away:
            return
        if (follower := await self.come(name, points[where % len(points)])) is not None:
            follower.recovers = how % 4 > 0

    async def come(self, name: str, point: Any) -> Follower | None:
        """Returns a new connection of a user to an access point; None where it does not come about."""
        where = f"{point.site}/{point.node}"
        follower = Follower(name, where, self._world.processes[where])
        self._course.followers[name] = follower
        try:
            async with asyncio.timeout(ANSWERS_S):
                follower.client = await self._world.connect(name, point, lambda message: self._told(follower, message))
                client = follower.client
                await self._course.until(lambda: follower.welcomed or bool(follower.ended) or client.lost, ANSWERS_S)
        except (OSError, TimeoutError):
            self._course.tell(name, "cannot connect")
        if not follower.is_there:
            self._course.followers.pop(name, None)
            return None
        return follower

    def _told(self, follower: Follower, message: dict[str, Any]) -> None:
        self._course.tell(follower.name, str(message))
        match message["op"]:
            case _ if follower.has_left:
                pass  # a connection that is half open may deliver late, beside its successor: nobody is there who takes it
            case "welcome":
                follower.welcomed = True
            case "event":
                try:
                    self._oracle.take(follower, message)
                    follower.came_s[message["payload"]["n"]] = self._world.loop.now_s
                except Violated as violated:
                    self._course.violate(str(violated))
            case "refused" | "lost":
                self.ended(follower, message.get("head", ""))
            case "error" if message.get("id") is None:
                self._given(follower, message.get("point"))
                self.ended(follower, message["code"])
            case "pong":
                self._given(follower, message.get("point"))
            case "gap":
                self._told_gap(follower, message)
            case _ if isinstance(message.get("id"), int):
                follower.answers[message["id"]] = message
                if message["op"] == "subscribed":
                    follower.answered(message["id"], topics_of(message["rejected"]))
                if "recovered" in message:
                    self._recovered(follower, message)
                if message["op"] == "subscribed" and follower.recovers:
                    self._given(follower, message["point"])
        self._course.look()

    def _recovered(self, follower: Follower, message: dict[str, Any]) -> None:
        lost = topics_of(message["lost"])
        try:
            self._oracle.answered(follower, lost)
        except Violated as violated:
            self._course.violate(str(violated))
        follower.whole_since_s.update(dict.fromkeys(lost, self._world.loop.now_s))

    def ended(self, follower: Follower, why: str) -> None:
        """Notes that a connection is over, as far as its user knows."""
        follower.ended = follower.ended or why
        if follower.lost_s is None:
            follower.lost_s = self._world.loop.now_s
            follower.away_s |= dict.fromkeys(follower.followed, follower.lost_s)

    def _given(self, follower: Follower, point: str | None) -> None:
        if point is not None:
            follower.given(point, self._world.loop.now_s)

    def _told_gap(self, follower: Follower, message: dict[str, Any]) -> None:
        topics = topics_of([{"topic": topic} for topic in message["topics"]])
        try:
            check_gap(
                follower,
                topics,
                message["reason"],
                is_calm=not self._course.faults,
                is_apart=self._course.apart_s > self._world.loop.now_s,
                room=self._world.room,
            )
        except Violated as violated:
            self._course.violate(str(violated))
        self._oracle.looked_at["gaps"] += 1
        for topic in topics:
            follower.gaps[topic] += 1
            follower.forget(topic)
            follower.positions.pop(topic, None)
            follower.whole_since_s[topic] = self._world.loop.now_s
        self._given(follower, message["point"])

    async def ask(self, follower: Follower, op: str, **fields: Any) -> dict[str, Any] | None:
        """Returns the answer to a message; None where the connection ends before. Raises Violated where nothing is wrong and none comes."""
        self._asked += 1
        mine = self._asked
        assert follower.client is not None
        if op == "subscribe":
            follower.asked[mine] = {*topics_of([{"topic": topic} for topic in fields["topics"]])}
        follower.client.say({"op": op, "id": mine, **fields})
        await self._course.until(lambda: mine in follower.answers or not follower.is_there, ANSWERS_S)
        if mine not in follower.answers and not self._course.faults and not follower.has_left:
            raise Violated(f"nothing is wrong, and {follower.name} gets no answer to {op}: {follower.ended or 'silence'}")
        return follower.answers.get(mine)

    async def disconnect(self, who: int, how: int, *_: int) -> None:
        """Ends a connection of somebody who is not away then: they begin anew."""
        if (follower := self._course.followers.pop(USERS[who % len(USERS)], None)) is not None and follower.client is not None:
            follower.client.end(kill=how % 2 == 0)
