"""A simulated life: operations are played on a world, and what must hold is looked at all the time."""

import asyncio
import logging
import random
from collections import Counter, deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from hashlib import sha256
from typing import Any, Final, NamedTuple

from infra.kernel.errors import Refused
from infra.kernel.ring import POINTS
from infra.kernel.roles import ACCESSPOINT
from infra.kernel.topics import parse_topic
from tests.support import interest_oracle

from .births import hashed_by_birth
from .interest import InterestComparison
from .knobs import turned
from .operations import PLAYLISTS, TOPICS, USERS, Operation
from .oracle import Acceptance, Follower, Position, SimulationOracle, Violated
from .returns import ARRIVES_S, POINT_AGE_S, Return, check_gap, check_return
from .world import SimulatedWorld

# When faults end, everybody agrees within this time (DPS-31).
SETTLES_S: Final = 10.0
# Who is gone without a word is noticed so late that a loss is told within this time.
HANGS_S: Final = 4.0
ANSWERS_S: Final = 5.0
# Within this time heirs have given everybody what a broker that is gone had let out.
INHERITS_S: Final = 6.0
# All is well when it has been for so long: a link that says nothing any more is noticed within 2.5 s.
STEADY_S: Final = 3.0
LOOKS_S: Final = 0.25
# A change of plan makes something move within this time. So often a life looks whether it does.
MOVES_S: Final = 0.25
MOVING_LOOKS_S: Final = 0.004
# So long a broker is down that is restarted: most are back before anybody misses them.
RESTARTS_S: Final = (0.0, 0.05, 0.3, 0.7, 2.0)
# What a broker may be to have of the ring.
SHARES: Final = (0, POINTS // 4, POINTS // 2, POINTS)
# So many publications may be repeated, the last ones.
REPEATABLE: Final = 8
# Who follows a topic, and how often they had given it up before: who gives it up and follows it anew may miss something.
_Followers = dict[Follower, int]


class StoryLine(NamedTuple):
    """Something that happened: when, to whom, and what."""

    now_s: float
    who: str
    what: str

    def __str__(self) -> str:
        return f"{self.now_s:12.6f}  {self.who:12}  {self.what}"


class SimulatedLife:
    """A life of one world. `story`: everything that happened. `faults`: how many things went wrong since all was well.

    A life is calm while there are none. What is promised to those who are calm is stricter.

    - `away`: users whose connection has ended, and who will ask for what they miss.
    - `wrong_s`: when something went wrong for the last time.
    - `changes`: how often each node came or left, or was asked for another plan. `started_s`: when each was started for the last time.
    """

    def __init__(self, seed: int, *, is_varied: bool = False, **shape: int) -> None:
        self.world = SimulatedWorld(seed, is_varied=is_varied, **shape)
        self.oracle = SimulationOracle()
        self.followers: dict[str, Follower] = {}
        self.away: dict[str, Follower] = {}
        self.story: list[StoryLine] = []
        self.faults = 0
        # Nothing has gone wrong in the time before all were there.
        self.wrong_s = -SETTLES_S
        self.changes: Counter[str] = Counter()
        self.started_s: dict[str, float] = {}
        # How many things had gone wrong, and had changed, when a broker died whose heirs had everything.
        self._inherited: tuple[int, int] | None = None
        self._asked = 0
        self._again: set[int] = set()
        # What was accepted while links were cut, and who was told that they follow it; what was the same all the time, if only they were.
        self._owed: list[tuple[str, set[int], _Followers]] = []
        self._lasting: list[Any] = []
        # The last ones that were asked to stop: they close connections that have asked for nothing yet.
        self._leavers: deque[Any] = deque(maxlen=REPEATABLE)
        self._under_way: list[asyncio.Task[None]] = []
        # Nodes that were asked to stop, and have not.
        self._leaving: set[str] = set()
        self._waiting: list[asyncio.Future[None]] = []
        self._lately: deque[tuple[str, list[dict[str, Any]]]] = deque(maxlen=REPEATABLE)
        self._violated: Violated | None = None

    @property
    def digest(self) -> str:
        """The story as one number: two runs of one seed have the same."""
        return sha256("\n".join(map(str, self.story)).encode()).hexdigest()

    def play(self, operations: list[Operation]) -> None:
        """Plays `operations`, and lets all be well in the end. Raises Violated."""
        try:
            with hashed_by_birth(), turned(self.world.knobs), _watched(self):
                self.world.loop.run_until_complete(self._live(operations))
        finally:
            self.world.close()

    async def _live(self, operations: list[Operation]) -> None:
        for name in self.world.options:
            await self.world.start(name)
        await self._settle()
        for operation in operations:
            await asyncio.sleep(operation.after_s)
            self._tell("life", str(operation))
            await self._act(operation)
            self._check()
            self._check_links()
        await self._settle()

    def _tell(self, who: str, what: str) -> None:
        self.story.append(StoryLine(self.world.loop.now_s, who, what))

    def _check(self) -> None:
        if self._violated is not None:
            raise self._violated
        if self.world.loop.failures:
            raise Violated(f"nobody caught this: {self.world.loop.failures[0]}")

    def _check_links(self) -> None:
        """Raises Violated where one node has accepted two links under one name (docs/failure.md: a second process under the same name)."""
        for name, role in self.world.roles.items():
            links = (role.upstream if role.role == ACCESSPOINT else role).links.links
            peers = [link.peer for link in links if link.dialled is None]
            if len({(peer.role, peer.site, peer.node) for peer in peers}) < len(peers):
                names = Counter(f"{peer.role} {peer.site}/{peer.node}" for peer in peers)
                twins = [peer for peer, number in names.items() if number > 1]
                raise Violated(f"{name} has two links of {twins}")

    def violate(self, why: str) -> None:
        """Ends the life with a violation, as soon as its turn comes."""
        self._violated = self._violated or Violated(why)

    # What happens.

    def _act(self, operation: Operation) -> Awaitable[None]:
        act: Callable[..., Awaitable[None]] = getattr(self, f"_{operation.what}")
        return act(*operation.picks)

    async def _connect(self, who: int, where: int, how: int, *_: int) -> None:
        name = USERS[who % len(USERS)]
        points = self._open_points()
        if ((found := self.followers.get(name)) is not None and found.is_there) or not points or name in self.away:
            return
        if (follower := await self._come(name, points[where % len(points)])) is not None:
            follower.recovers = how % 4 > 0

    def _open_points(self, site: str | None = None) -> list[Any]:
        return [each for each in self.world.of("accesspoint", site) if not each.core.draining]

    async def _come(self, name: str, point: Any) -> Follower | None:
        where = f"{point.site}/{point.node}"
        follower = Follower(name, where, self.world.processes[where])
        self.followers[name] = follower
        try:
            async with asyncio.timeout(ANSWERS_S):
                follower.client = await self.world.connect(name, point, lambda message: self._told(follower, message))
                client = follower.client
                await self._until(lambda: follower.welcomed or bool(follower.ended) or client.lost, ANSWERS_S)
        except (OSError, TimeoutError):
            self._tell(name, "cannot connect")
        if not follower.is_there:
            self.followers.pop(name, None)
            return None
        return follower

    def _told(self, follower: Follower, message: dict[str, Any]) -> None:
        self._tell(follower.name, str(message))
        match message["op"]:
            case _ if follower.has_left:
                pass  # a connection that is half open may deliver late, beside its successor: nobody is there who takes it
            case "welcome":
                follower.welcomed = True
            case "event":
                try:
                    self.oracle.take(follower, message)
                    follower.came_s[message["payload"]["n"]] = self.world.loop.now_s
                except Violated as violated:
                    self.violate(str(violated))
            case "refused" | "lost":
                self._ended(follower, message.get("head", ""))
            case "error" if message.get("id") is None:
                self._given(follower, message.get("point"))
                self._ended(follower, message["code"])
            case "pong":
                self._given(follower, message.get("point"))
            case "gap":
                self._told_gap(follower, message)
            case _ if isinstance(message.get("id"), int):
                follower.answers[message["id"]] = message
                if message["op"] == "subscribed" and follower.recovers:
                    follower.position = None
                    self._given(follower, message["point"])
                if "recovered" in message:
                    self._recovered(follower, message)
        self._look()

    def _recovered(self, follower: Follower, message: dict[str, Any]) -> None:
        lost = _topics(message["lost"])
        try:
            self.oracle.answered(follower, lost)
        except Violated as violated:
            self.violate(str(violated))
        follower.whole_since_s.update(dict.fromkeys(lost, self.world.loop.now_s))

    def _ended(self, follower: Follower, why: str) -> None:
        follower.ended = follower.ended or why
        if follower.lost_s is None:
            follower.lost_s = self.world.loop.now_s

    def _given(self, follower: Follower, point: str | None) -> None:
        if point is not None:
            follower.position = Position(point, self.world.loop.now_s)

    def _told_gap(self, follower: Follower, message: dict[str, Any]) -> None:
        topics = _topics([{"topic": topic} for topic in message["topics"]])
        try:
            check_gap(follower, topics, message["reason"], is_calm=not self.faults)
        except Violated as violated:
            self.violate(str(violated))
        self.oracle.looked_at["gaps"] += 1
        follower.position = None
        self._given(follower, message["point"])
        for topic in topics:
            follower.gaps[topic] += 1
            follower.forget(topic)
            follower.whole_since_s[topic] = self.world.loop.now_s

    async def _point(self, who: int, *_: int) -> None:
        """Has a user ask for a point."""
        if (follower := self.followers.get(USERS[who % len(USERS)])) is not None and follower.is_there and follower.client is not None:
            follower.client.say({"op": "ping", "point": True})
            asked_s = self.world.loop.now_s
            await self._until(lambda: not follower.is_there or (follower.position or Position("", -1.0)).now_s >= asked_s, 0.1)

    async def _go_away(self, who: int, how: int, *_: int) -> None:
        """Ends a connection of somebody who will come back: with a goodbye, without one, or between two bytes."""
        name = USERS[who % len(USERS)]
        if (follower := self.followers.get(name)) is None or not follower.recovers or not follower.wants or follower.client is None:
            return
        self.followers.pop(name)
        self.away[name] = follower
        follower.has_left = True
        self._ended(follower, "")
        self._tell(name, "goes away")
        follower.client.leave(("says goodbye", "hangs up", "breaks")[how % 3])

    async def _recover(self, who: int, where: int, said: int, *_: int) -> None:
        """Has somebody who is away come back, at their site or, at times, at another one."""
        names = list(self.away)
        if names:
            await self._return(names[who % len(names)], where, said)

    async def _return(self, name: str, where: int, said: int) -> None:
        was = self.away[name]
        points = self._open_points(was.point.partition("/")[0] if where % 8 else None)
        if not points or (back := await self._come(name, points[where % len(points)])) is None:
            return
        del self.away[name]
        back.recovers = True
        back.go_on_from(was)
        fields: dict[str, Any] = {}
        if was.position is not None and said % 3 != 0:
            fields["point"] = was.position.point
        if said % 3 != 1 and (since := _numbers_of(was)):
            fields["since"] = since
        covered_s = self._covered_s(was, back) if "point" in fields else 0.0
        back.begin_anew({*back.wants} if "since" not in fields else set(), self.oracle.publications, covered_s)
        self.oracle.looked_at["covered"] += len(back.covered)
        if not fields:
            back.whole_since_s.clear()
            await self._follow(back, set(back.wants))
            return
        self._check()
        asked_s = self.world.loop.now_s
        back.asks = {*back.wants}
        answer = await self._ask(
            back, "subscribe", topics=[_feed(topic) for topic in sorted(back.wants)], recover=True, wait="all", **fields
        )
        self._check()
        if answer is None or "recovered" not in answer:
            return
        its = Return(was, back, asked_s, self.wrong_s, self._is_disturbed_since(was), self.faults, self.world.window_s)
        late = check_return(self.oracle, its, answer, set(fields))
        if answer["installed"] == "all":
            back.installed |= back.wants
        for topic, numbers in late.items():
            self._meanwhile(partial(self._arrived, topic, numbers, {back: back.given_up[topic]}))

    def _covered_s(self, was: Follower, back: Follower) -> float:
        """Returns before when everything has come that a point is about, if that can be known: it is as old as a heartbeat at most."""
        is_elsewhere = was.point.partition("/")[0] != back.point.partition("/")[0]
        if was.position is None or is_elsewhere or self._is_disturbed_since(was):
            return 0.0
        return was.position.now_s - POINT_AGE_S

    def _is_disturbed_since(self, was: Follower) -> bool:
        """Tells whether something may have gone wrong since a user had their position: then nobody may know what they missed."""
        began_s = was.position.now_s if was.position is not None else 0.0
        return bool(self.faults) or self.wrong_s + SETTLES_S > began_s

    async def _disconnect(self, who: int, how: int, *_: int) -> None:
        if (follower := self.followers.pop(USERS[who % len(USERS)], None)) is not None and follower.client is not None:
            follower.client.end(kill=how % 2 == 0)

    async def _subscribe(self, who: int, first: int, number: int, *_: int) -> None:
        if (follower := self.followers.get(USERS[who % len(USERS)])) is not None and follower.is_there:
            topics = {TOPICS[(first + each) % len(TOPICS)] for each in range(1 + number % 3)}
            await self._follow(follower, topics)

    async def _follow(self, follower: Follower, topics: set[str]) -> None:
        follower.follows |= topics
        follower.wants |= topics
        recovery = {"recover": True} if follower.recovers else {}
        answer = await self._ask(follower, "subscribe", topics=[_feed(topic) for topic in sorted(topics)], wait="all", **recovery)
        self._check()
        if answer is not None and answer.get("installed") == "all":
            follower.installed |= topics & follower.wants
            for topic in topics & follower.wants:
                follower.whole_since_s.setdefault(topic, self.world.loop.now_s)
        elif answer is not None and not self.faults:
            raise Violated(f"nothing is wrong, and {follower.name} is told {answer}")

    async def _unsubscribe(self, who: int, first: int, *_: int) -> None:
        if (follower := self.followers.get(USERS[who % len(USERS)])) is not None and follower.is_there:
            await self._give_up(follower, TOPICS[first % len(TOPICS)])

    async def _give_up(self, follower: Follower, topic: str) -> None:
        follower.wants.discard(topic)
        follower.installed.discard(topic)
        follower.given_up[topic] += 1
        follower.forget(topic)
        follower.whole_since_s.pop(topic, None)
        if await self._ask(follower, "unsubscribe", topics=[_feed(topic)]) is not None:
            follower.has_given_up(topic)

    async def _swap(self, who: int, first: int, number: int, how: int, *_: int) -> None:
        """Gives up all that a user follows for something else: rows get new topics, perhaps while events of old ones are under way."""
        if (follower := self.followers.get(USERS[who % len(USERS)])) is None or not follower.is_there:
            return
        for topic in sorted(follower.wants):
            await self._give_up(follower, topic)
        await asyncio.sleep((0.0, 0.6, 1.2)[how % 3])
        if follower.is_there:
            await self._follow(follower, {TOPICS[(first + each) % len(TOPICS)] for each in range(1 + number % 3)})

    async def _ask(self, follower: Follower, op: str, **fields: Any) -> dict[str, Any] | None:
        """Returns the answer to a message; None where the connection ends before. Raises Violated where nothing is wrong and none comes."""
        self._asked += 1
        mine = self._asked
        assert follower.client is not None
        follower.client.say({"op": op, "id": mine, **fields})
        await self._until(lambda: mine in follower.answers or not follower.is_there, ANSWERS_S)
        if mine not in follower.answers and not self.faults:
            raise Violated(f"nothing is wrong, and {follower.name} gets no answer to {op}: {follower.ended or 'silence'}")
        return follower.answers.get(mine)

    def _wanted(self) -> list[str]:
        """Returns the topics that somebody follows, or who is away; all where nobody follows any."""
        return sorted({topic for each in [*self.followers.values(), *self.away.values()] for topic in each.wants}) or list(TOPICS)

    async def _publish(self, topic: int, where: int, number: int, lot: int, *_: int) -> None:
        doors = [broker for broker in self.world.of("broker") if broker.ready() is None]
        if not doors:
            return
        among = self._wanted() if lot % 8 else list(TOPICS)
        self._begin_to_publish(doors[where % len(doors)], among[topic % len(among)], 1 + number % 3)

    def _begin_to_publish(self, door: Any, name: str, number: int) -> None:
        numbers = [self.oracle.published(name, door.site) for _ in range(number)]
        events = [{"topic": _feed(name), "kind": "play", "id": f"event-{n}", "payload": {"n": n}} for n in numbers]
        self._lately.append((door.site, events))
        self._meanwhile(partial(self._send, door, events))

    async def _busy(self, topic: int, where: int, number: int, how: int, *_: int) -> None:
        """Has the services of a site, or of all, publish again and again for a while, as the life goes on."""
        among = self._wanted()
        names = [among[(topic + each) % len(among)] for each in range(1 + how % 3)]
        rng = self.world.stream(f"busy {topic} {where} {number} {how}")
        site = self.world.sites[where % len(self.world.sites)] if number % 2 else None
        self._meanwhile(partial(self._publish_on, site, names, 8 + number % 25, rng))

    async def _publish_on(self, site: str | None, names: list[str], number: int, rng: random.Random) -> None:
        limit_s = rng.choice((0.005, 0.02, 0.1))
        for _ in range(number):
            await asyncio.sleep(limit_s * rng.random())
            if doors := [broker for broker in self.world.of("broker", site) if broker.ready() is None]:
                self._begin_to_publish(rng.choice(doors), rng.choice(names), 1)

    async def _repeat(self, where: int, which: int, *_: int) -> None:
        """Publishes again what was published lately, as a service does that got no answer."""
        if not self._lately:
            return
        site, events = self._lately[which % len(self._lately)]
        if doors := [broker for broker in self.world.of("broker", site) if broker.ready() is None]:
            self._repeats(events)
            self._meanwhile(partial(self._send, doors[where % len(doors)], events, again=True))

    def _repeats(self, events: list[dict[str, Any]]) -> None:
        """Notes that events are published again. Where an owner may have died, who knew the ids, they may come twice (DPS-14)."""
        self._again.update(event["payload"]["n"] for event in events)
        if self.faults:
            self.oracle.repeated |= self._again

    async def _send(self, door: Any, events: list[dict[str, Any]], *, again: bool = False) -> None:
        calm, began_s = not self.faults, self.world.loop.now_s
        topics = {topic: _numbers(events, topic) for topic in _topics(events)}
        waiting = {topic: {each: each.given_up[topic] for each in self.followers.values() if topic in each.installed} for topic in topics}
        status, answer = await self._asked_to_take(door, events)
        if status == 503:  # a service repeats it at another broker
            self._repeats(events)
            others = [each for each in self.world.of("broker", door.site) if each.ready() is None]
            for other in others:
                if status == 503:
                    status, answer = await self._asked_to_take(other, events)
        if status == 202 and answer["accepted"] == len(events):
            for event in events:
                self.oracle.accepted.setdefault(event["payload"]["n"], Acceptance(began_s, self.world.loop.now_s))
        if not calm or self.faults:
            if status == 202 and answer["accepted"] == len(events) and not again and self._only_an_owner_died:
                for topic, numbers in topics.items():
                    if topic in PLAYLISTS:
                        await self._arrived_from_heirs(topic, numbers, waiting[topic])
            if status == 202 and answer["accepted"] == len(events) and not again:
                self._owed += ((topic, numbers, waiting[topic]) for topic, numbers in topics.items() if topic in PLAYLISTS)
            return
        if status != 202 or answer["accepted"] != len(events):
            raise Violated(f"nothing is wrong, and a publisher is told {status} {answer}")
        if not again:
            for topic, numbers in topics.items():
                await self._arrived(topic, numbers, waiting[topic])

    async def _asked_to_take(self, door: Any, events: list[dict[str, Any]]) -> tuple[int, dict[str, Any]]:
        """Returns what a broker answers to a publisher: status 0 where nothing comes, and 503 where nobody is there who would take it.

        One that was asked to stop may close a connection on which a request is under way. To a service that is the same as a 503.
        """
        try:
            async with asyncio.timeout(ANSWERS_S):
                status, answer = await self.world.publish(door, events)
        except (OSError, TimeoutError) as error:
            is_gone = isinstance(error, ConnectionRefusedError) or (isinstance(error, ConnectionError) and door in self._leavers)
            status, answer = (503 if is_gone else 0), {"reason": repr(error)}
        self._tell(f"{door.site}/{door.node}", f"answers {status} {answer}")
        return status, answer

    async def _arrived(self, topic: str, numbers: set[int], late: _Followers) -> None:
        """Waits until those who followed a topic, and still do, have its events. Raises Violated where they do not come."""

        def missing() -> list[Follower]:
            return [each for each, times in late.items() if not numbers <= each.got.keys() and _still(each, topic, times)]

        await self._until(lambda: not missing(), ARRIVES_S)
        if (names := [each.name for each in missing()]) and not self.faults:
            raise Violated(f"nothing is wrong, and {names} never got {sorted(numbers)} of {topic}")
        self.oracle.looked_at["promised"] += 1

    async def _until(self, condition: Callable[[], bool], limit_s: float) -> None:
        """Lets the world go on until `condition` holds, or for so long. It is looked at whenever a client has heard something."""
        with suppress(TimeoutError):
            async with asyncio.timeout(limit_s):
                while not condition():
                    heard = self.world.loop.create_future()
                    self._waiting.append(heard)
                    await heard

    def _look(self) -> None:
        """Has everybody who waits for something look whether it is there."""
        waiting, self._waiting = self._waiting, []
        for heard in waiting:
            if not heard.done():
                heard.set_result(None)

    # What goes wrong, and right again.

    def _goes_wrong(self) -> None:
        self.faults += 1
        self.wrong_s = self.world.loop.now_s
        self.oracle.is_calm = False
        self.oracle.repeated |= self._again
        for follower in self.followers.values():
            follower.covered.clear()

    def _node(self, pick: int, roles: tuple[str, ...] = ()) -> str | None:
        """Returns a node that may go, of some roles or of any: another one stays at its site, and is ready."""
        names = [name for name, each in self.world.roles.items() if (not roles or each.role in roles) and self._has_peer(name)]
        return names[pick % len(names)] if names else None

    def _has_peer(self, name: str) -> bool:
        role = self.world.roles[name]
        return any(each is not role and each.ready() is None for each in self.world.of(role.role, role.site))

    async def _kill(self, pick: int, *_: int) -> None:
        self._end(pick, power=False)

    async def _kill_broker(self, pick: int, *_: int) -> None:
        self._end(pick, power=False, roles=("broker",))

    async def _power_broker(self, pick: int, *_: int) -> None:
        self._end(pick, power=True, roles=("broker",))

    async def _power(self, pick: int, *_: int) -> None:
        self._end(pick, power=True)

    def _end(self, pick: int, *, power: bool, roles: tuple[str, ...] = ()) -> None:
        if (name := self._node(pick, roles)) is not None:
            self._end_node(name, power=power)

    def _end_node(self, name: str, *, power: bool) -> None:
        owned = self._owned_by(self.world.roles[name]) if not self.faults else set()
        has_heirs = bool(owned) and self._has_whole_heirs(name.partition("/")[0])
        self._goes_wrong()
        if has_heirs:
            self._inherited = self.faults, self.changes.total()
        self._tell(name, "is gone without a word" if power else "is killed")
        self.world.kill(name, power=power)
        if has_heirs:
            self._meanwhile(self._hear_of_nothing)
        elif owned:
            self._meanwhile(partial(self._hear_of_gaps, name, owned, HANGS_S if power else ARRIVES_S))

    async def _restart(self, pick: int, how: int, pause: int, *_: int) -> None:
        """Ends a broker at once, and starts it again soon, also where it is the only one of its site."""
        brokers = [name for name, each in self.world.roles.items() if each.role == "broker"]
        if brokers:
            name = brokers[pick % len(brokers)]
            self._end_node(name, power=how % 4 == 0)
            self.world.down.pop(name)  # nobody else starts it
            self._meanwhile(partial(self._comes_again, name, RESTARTS_S[pause % len(RESTARTS_S)]))

    async def _comes_again(self, name: str, pause_s: float) -> None:
        await asyncio.sleep(pause_s)
        await self._starts(name)

    def _has_whole_heirs(self, site: str) -> bool:
        """Tells whether every heir has everything, so that nothing is lost with one broker. Events of other sites may be."""
        brokers = self.world.of("broker", site)
        return (
            self.world.has_copies and len(self.world.sites) == 1 and len(brokers) > 1 and not any(each.heirs.uncopied for each in brokers)
        )

    @property
    def _only_an_owner_died(self) -> bool:
        """Whether all was well but for one broker that is gone, whose heirs had everything."""
        return self._inherited == (self.faults, self.changes.total())

    async def _hear_of_nothing(self) -> None:
        """Raises Violated where somebody is told that something may be missing though heirs have everything (DPS-18)."""
        before = {each: Counter(each.gaps) for each in self.followers.values()}

        def told() -> list[str]:
            return [each.name for each, gaps in before.items() if each.gaps - gaps]

        await self._until(lambda: not self._only_an_owner_died or bool(told()), INHERITS_S)
        if self._only_an_owner_died:
            if names := told():
                raise Violated(f"a broker is dead whose heirs have everything, and {names} hear that something may be missing")
            self.oracle.looked_at["inherited"] += 1

    async def _arrived_from_heirs(self, topic: str, numbers: set[int], late: _Followers) -> None:
        """Raises Violated where those who follow a topic do not get what was accepted though only an owner died (DPS-18)."""

        def missing() -> list[str]:
            return [each.name for each, times in late.items() if not numbers <= each.got.keys() and _still(each, topic, times)]

        await self._until(lambda: not self._only_an_owner_died or not missing(), INHERITS_S)
        if self._only_an_owner_died:
            if names := missing():
                raise Violated(f"a broker is dead whose heirs have everything, and {names} never got {sorted(numbers)} of {topic}")
            self.oracle.looked_at["inherited events"] += 1

    def _owned_by(self, role: Any) -> set[str]:
        """Returns the topics that a broker owns, none where something is moving, or about to: somebody was asked to stop."""
        is_to_move = any(name.startswith(f"{role.site}/") for name in self._leaving)
        if role.role != "broker" or is_to_move or self.world.unsettled():
            return set()
        return {topic for topic in TOPICS if role.ring.owner(parse_topic(_feed(topic))) == role.node}

    async def _hear_of_gaps(self, name: str, owned: set[str], within_s: float) -> None:
        """Waits until those are told whose topics the broker `name` `owned` that is dead, however soon it is started again (DPS-8).

        Raises Violated where they are not `within_s`, also after that start, or where others are, while nothing else goes wrong.
        """
        site, undisturbed = name.partition("/")[0], self._beside(name)
        before = {each: Counter(each.gaps) for each in self.followers.values()}
        concerned = [
            (each, topic, each.given_up[topic])
            for each in before
            if each.recovers and each.is_there and each.point.startswith(f"{site}/")
            for topic in owned & each.installed
        ]

        def untold() -> list[tuple[str, str]]:
            return [
                (each.name, topic)
                for each, topic, times in concerned
                if _still(each, topic, times) and each.gaps[topic] == before[each][topic]
            ]

        def is_over() -> bool:
            return self._beside(name) != undisturbed or not untold()

        died_s = self.world.loop.now_s
        await self._until(is_over, within_s)
        if (started_s := self.started_s.get(name, 0.0)) > died_s:
            await self._until(is_over, started_s + within_s - self.world.loop.now_s)
        if self._beside(name) != undisturbed:
            return
        if missing := untold():
            raise Violated(f"a broker is dead, and who may lack something did not hear of that: {missing}")
        for each, gaps in before.items():
            if others := sorted((each.gaps - gaps).keys() - owned):
                raise Violated(f"{each.name} hears that something of {others} may be missing, which the dead broker did not own")
        self.oracle.looked_at["owners lost"] += bool(concerned)
        self.oracle.looked_at["owners lost for a moment"] += bool(concerned) and started_s > died_s

    def _beside(self, name: str) -> tuple[int, int]:
        """Returns how much has gone wrong, and has changed, but that the node `name` came or left."""
        return self.faults, self.changes.total() - self.changes[name]

    async def _leave(self, pick: int, *_: int) -> None:
        # Access points do not promise that nothing is lost when they are asked to stop, so in a calm life they are not.
        name = self._node(pick, () if self.faults else ("broker", "aggregator"))
        if name is None:
            return
        self._tell(name, "is asked to stop")
        self._leaving.add(name)
        self._meanwhile(partial(self._leaves, name))

    async def _leaves(self, name: str) -> None:
        self.changes[name] += 1
        self._leavers.append(self.world.roles[name])
        try:
            await self.world.leave(name)
        finally:
            self._leaving.discard(name)
        self.changes[name] += 1
        self._tell(name, "has stopped")

    def _meanwhile(self, work: Callable[[], Awaitable[None]]) -> None:
        """Has something happen while the life goes on."""
        self._under_way.append(asyncio.create_task(self._guarded(work)))

    async def _guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except Violated as violated:
            self.violate(str(violated))

    async def _start(self, pick: int, *_: int) -> None:
        if self.world.down:
            name = list(self.world.down)[pick % len(self.world.down)]
            await self._starts(name)

    async def _starts(self, name: str) -> None:
        self._tell(name, "is started")
        self.changes[name] += 1
        self.started_s[name] = self.world.loop.now_s
        await self.world.start(name)

    async def _plan(self, where: int, one: int, other: int, how: int, *_: int) -> None:
        """Has a broker do what an operator asks of it: change the shares of the ring at its site, or leave them where they are by now."""
        if brokers := self.world.of("broker"):
            await self._plan_at(brokers[where % len(brokers)], one, other, how)

    async def _plan_at(self, broker: Any, one: int, other: int, how: int) -> None:
        goal = broker.view().goal_of
        slots = list(goal)
        if not slots:
            return
        wanted = {slots[one % len(slots)]: SHARES[how % len(SHARES)], slots[other % len(slots)]: POINTS}

        async def asked() -> None:
            with suppress(Refused):
                _ = broker.ring_keeper.aim(goal, wanted) if how % 5 else broker.ring_keeper.stop()

        self.changes[broker.site] += 1
        self._tell(f"{broker.site}/{broker.node}", f"is asked for {wanted}" if how % 5 else "is asked to leave the ring where it is")
        await self.world.within(self.world.processes[f"{broker.site}/{broker.node}"], asked)

    async def _replan(self, where: int, one: int, other: int, how: int, *_: int) -> None:
        """Has an operator plan the ring, and then otherwise while topics are on their way. Some are away for that moment."""
        some = [place for place in range(len(USERS)) if how >> place & 1]
        for who in some:
            await self._point(who)
            await self._go_away(who, other)
        await self._plan(where, one, other, how)
        await self._plan_while_topics_move(where, other, one, how // len(SHARES))
        for name in [USERS[who] for who in some if USERS[who] in self.away]:
            await self._return(name, where | 1, how // len(SHARES))

    async def _plan_while_topics_move(self, where: int, one: int, other: int, how: int) -> None:
        until_s = self.world.loop.now_s + MOVES_S
        while self.world.loop.now_s < until_s:
            await asyncio.sleep(MOVING_LOOKS_S)
            if moving := [broker for broker in self.world.of("broker") if not broker.moves.is_over]:
                await self._plan_at(moving[where % len(moving)], one, other, how)
                return

    async def _cut(self, one: int, other: int, how: int, *_: int) -> None:
        for pair in self._pairs(one, other, how):
            self.world.internet.cut(*pair)

    async def _cut_one_way(self, one: int, other: int, how: int, *_: int) -> None:
        for pair in self._pairs(one, other, how)[:1]:
            self.world.internet.cut(*pair)

    def _pairs(self, one: int, other: int, how: int) -> list[tuple[str, str]]:
        """Returns two nodes, or two sites, both ways."""
        names = list(self.world.sites) if how % 3 == 0 else list(self.world.options)
        source, target = names[one % len(names)], names[other % len(names)]
        if source == target:
            return []
        self._goes_wrong()
        self._tell(source, f"does not reach {target}")
        return [(source, target), (target, source)]

    async def _heal(self, *_: int) -> None:
        if self.world.internet.cuts or self.world.internet.slow:
            self._goes_wrong()
            self.world.internet.heal()

    async def _snap(self, pick: int, which: int, *_: int) -> None:
        processes = list(self.world.processes.values())
        transports = list(processes[pick % len(processes)].transports) if processes else []
        if transports:
            self._goes_wrong()
            transport = transports[which % len(transports)]
            self._tell(transport.process.name, f"loses its connection with {transport.peer.process.name}")
            transport.snap()

    async def _slow(self, one: int, other: int, how: int, *_: int) -> None:
        for pair in self._pairs(one, other, how):
            self.world.internet.slow[pair] = 50.0

    async def _stall(self, pick: int, how: int, *_: int) -> None:
        names = list(self.world.processes)
        name = names[pick % len(names)]
        self._goes_wrong()
        self._tell(name, "stands still")
        process, until_s = self.world.processes[name], self.world.loop.now_s + (0.2, 1.0, 5.0, 10.0)[how % 4]
        process.stalled_until_s = max(process.stalled_until_s, until_s)

    async def _clock(self, pick: int, how: int, *_: int) -> None:
        names = list(self.world.processes)
        process = self.world.processes[names[pick % len(names)]]
        process.offset_s += (-3600.0, -5.0, 5.0, 3600.0)[how % 4]
        self._tell(process.name, f"has a clock that is off by {process.offset_s:g} s")

    # When all is well again.

    async def _settle(self, *_: int) -> None:
        """Ends all faults, waits until everybody agrees, lets clients come back, and looks whether everything arrives (DPS-31)."""
        self.world.internet.heal()
        while self._under_way:  # what is on its way may begin something new
            under_way, self._under_way = self._under_way, []
            await asyncio.wait(under_way)
            self._check()
        if self.faults:
            self.wrong_s = self.world.loop.now_s
        for name in list(self.world.down):
            await self._starts(name)
        await self._agree()
        self._check_owed()
        self.faults = 0
        self._again.clear()
        self._lately.clear()  # owners may have died since, who knew its ids
        await self._come_back()
        await self._agree(0.0, ARRIVES_S)
        self.oracle.looked_at["interest"] += 1
        self._lasting = self._what_lasts()
        for site in self.world.sites:
            for of_service in (PLAYLISTS.issuperset, PLAYLISTS.isdisjoint):
                wanted = [each for each in self._wanted() if of_service({each})]
                events = [{"topic": _feed(each), "kind": "play", "payload": {"n": self.oracle.published(each, site)}} for each in wanted]
                if events:
                    await self._send(self.world.of("broker", site)[0], events)
        self._check()

    def _what_lasts(self) -> list[Any]:
        """Returns what does not change while nothing but links to brokers is cut, for less time than windows are long."""
        brokers = self.world.of("broker")
        return [
            *self.world.roles.values(),
            *((broker.mesh.era() or object(), broker.core.laggards.lost) for broker in brokers),
            *(point.upstream.source.link for point in self.world.of("accesspoint")),
            *(each.links.drops for each in [*brokers, *self.world.of("aggregator")]),
        ]

    def _check_owed(self) -> None:
        """Looks whether those who were behind cut links have got everything (DPS-10). Raises Violated where they have not."""
        owed, self._owed = self._owed, []
        if self._lasting != self._what_lasts():
            return
        for topic, numbers, followers in owed:
            for follower, times in followers.items():
                if _still(follower, topic, times) and not numbers <= follower.got.keys():
                    raise Violated(f"only links were cut, and {follower.name} never got {sorted(numbers - follower.got.keys())} of {topic}")
                self.oracle.looked_at["resumed"] += 1

    async def _agree(self, steady_s: float = STEADY_S, within_s: float = SETTLES_S) -> None:
        """Waits until all has been well for so long. Raises Violated where it is not within a time after everybody can go on."""
        now_s = well_since_s = self.world.loop.now_s
        deadline_s = within_s + max([now_s, *(each.stalled_until_s for each in self.world.loop.processes)])
        comparison = InterestComparison()
        while (why := self._amiss(comparison)) or self.world.loop.now_s < well_since_s + steady_s:
            if self.world.loop.now_s > deadline_s + (0.0 if why else steady_s):
                raise Violated(f"faults have ended {within_s:g} s ago, and not all is well: {why}")
            await asyncio.sleep(LOOKS_S)
            self._check()
            if why:
                well_since_s = self.world.loop.now_s

    def _amiss(self, comparison: InterestComparison) -> str:
        """Returns what nodes do not agree about; empty if there is nothing."""
        still = [name for name, each in self.world.processes.items() if each.stalled_until_s > self.world.loop.now_s]
        return ", ".join(still + self.world.unsettled()) or self._odd_interest(comparison) or self._uninstalled() or self._pointless()

    def _odd_interest(self, comparison: InterestComparison) -> str:
        """Returns who holds interest that nobody has, or lacks what somebody has; empty if all is exact."""
        rings = {site: self.world.of("broker", site)[0].ring for site in self.world.sites}
        implied = interest_oracle.implied(self.world.of("accesspoint"), self.world.of("broker"), rings, lambda one, other: False)
        held = interest_oracle.held(self.world.of("aggregator"), self.world.of("broker"))
        return comparison.odd(implied=implied, held=held)

    def _uninstalled(self) -> str:
        """Returns which access point has not heard from a site that all it wants is installed there; empty if there is none."""
        for point in self.world.of("accesspoint"):
            announcer = point.core.announcer
            for site in self.world.sites:
                if announcer.reached.get(site, 0) < announcer.mark():
                    return f"{point.site}/{point.node} does not know what {site} has installed"
        return ""

    def _pointless(self) -> str:
        """Returns a client that is given no point, or one that says nothing, though nothing is on its way to it; empty if there is none."""
        for point in self.world.of("accesspoint"):
            recoveries = point.core.recoveries
            for session in point.core.sessions:
                if session.follows_with_recovery and session.outbox is None and not (recoveries.own.stamps and recoveries.point(session)):
                    return f"{session.user} at {point.site}/{point.node} has no point"
        return ""

    async def _come_back(self) -> None:
        for name, follower in list(self.followers.items()):
            follower.installed.clear()
            if follower.is_there and self.world.processes.get(follower.point) is follower.process:
                await self._follow(follower, set(follower.wants))
                continue
            site = follower.point.partition("/")[0]
            if follower.client is not None:
                follower.client.end(kill=True)
            back = await self._come(name, self.world.of("accesspoint", site)[0])
            if back is None:
                raise Violated(f"nothing is wrong, and {name} cannot connect")
            back.recovers = follower.recovers
            await self._follow(back, set(follower.wants))
        for where, name in enumerate(list(self.away), 1):
            await self._return(name, where, said=2)
            if name in self.away:
                raise Violated(f"nothing is wrong, and {name} cannot come back")


class _watched(logging.Handler):  # noqa: N801 - it reads as what it does
    """Records of errors, which are violations, for as long as the block runs."""

    def __init__(self, life: SimulatedLife) -> None:
        super().__init__(logging.ERROR)
        self._life = life

    def __enter__(self) -> None:
        logging.getLogger().addHandler(self)

    def __exit__(self, *_: object) -> None:
        logging.getLogger().removeHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        self._life.violate(f"an error was logged: {record.getMessage()}")


def _still(follower: Follower, topic: str, times: int) -> bool:
    """Returns whether a user has followed a topic since they had given it up for so many `times`."""
    return follower.is_there and topic in follower.installed and follower.given_up[topic] == times


def _feed(topic: str) -> str:
    """Returns a topic of one of the two kinds that are recorded: of playlists all events are kept, of users the latest."""
    return f"hm://playlist/user/ann/playlist/{topic}/" if topic in PLAYLISTS else f"hm://presence/user/{topic}/"


def _numbers_of(follower: Follower) -> dict[str, dict[str, list[int]]]:
    """Returns the last number of each topic and site that a user has, as clients say it."""
    since: dict[str, dict[str, list[int]]] = {}
    for (topic, site), life in follower.lives.items():
        if topic in follower.wants:
            since.setdefault(_feed(topic), {})[site] = [life[2], follower.last[life]]
    return since


def _topics(events: list[dict[str, Any]]) -> list[str]:
    return sorted({event["topic"].split("/")[-2] for event in events})


def _numbers(events: list[dict[str, Any]], topic: str) -> set[int]:
    return {event["payload"]["n"] for event in events if event["topic"] == _feed(topic)}
