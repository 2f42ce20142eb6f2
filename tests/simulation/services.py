"""Services of a simulated life, which publish."""

import asyncio
import random
from collections import deque
from functools import partial
from typing import Any, Final

from .arrivals import EventArrivals, Followers
from .connections import ANSWERS_S
from .course import LifeCourse
from .deaths import NodeDeaths
from .events import feed, numbers_of, topics_of
from .operations import PLAYLISTS, TOPICS
from .oracle import Acceptance, Violated

# So many publications may be repeated, the last ones.
REPEATABLE: Final = 8


class SimulatedServices:
    """Services that publish at brokers, and repeat themselves. What is accepted has to arrive."""

    def __init__(self, course: LifeCourse, deaths: NodeDeaths, arrivals: EventArrivals) -> None:
        self._course, self._world, self._oracle = course, course.world, course.oracle
        self._deaths, self._arrivals = deaths, arrivals
        self._lately: deque[tuple[str, list[dict[str, Any]]]] = deque(maxlen=REPEATABLE)

    async def publish(self, topic: int, where: int, number: int, lot: int, *_: int) -> None:
        """Has a service publish one to three events at a broker."""
        doors = [broker for broker in self._world.of("broker") if broker.ready() is None]
        if not doors:
            return
        among = self._course.wanted() if lot % 8 else list(TOPICS)
        self._begin_to_publish(doors[where % len(doors)], among[topic % len(among)], 1 + number % 3)

    def _begin_to_publish(self, door: Any, name: str, number: int) -> None:
        numbers = [self._oracle.published(name, door.site) for _ in range(number)]
        events = [{"topic": feed(name), "kind": "play", "id": f"event-{n}", "payload": {"n": n}} for n in numbers]
        self._lately.append((door.site, events))
        self._course.meanwhile(partial(self.send, door, events))

    def forget(self) -> None:
        """Has nothing of before published again."""
        self._lately.clear()

    async def busy(self, topic: int, where: int, number: int, how: int, *_: int) -> None:
        """Has the services of a site, or of all, publish again and again for a while, as the life goes on."""
        among = self._course.wanted()
        names = [among[(topic + each) % len(among)] for each in range(1 + how % 3)]
        rng = self._world.stream(f"busy {topic} {where} {number} {how}")
        site = self._world.sites[where % len(self._world.sites)] if number % 2 else None
        self._course.meanwhile(partial(self._publish_on, site, names, 8 + number % 25, rng))

    async def _publish_on(self, site: str | None, names: list[str], number: int, rng: random.Random) -> None:
        limit_s = rng.choice((0.005, 0.02, 0.1))
        for _ in range(number):
            await asyncio.sleep(limit_s * rng.random())
            if doors := [broker for broker in self._world.of("broker", site) if broker.ready() is None]:
                self._begin_to_publish(rng.choice(doors), rng.choice(names), 1)

    async def repeat(self, where: int, which: int, *_: int) -> None:
        """Publishes again what was published lately, as a service does that got no answer."""
        if not self._lately:
            return
        site, events = self._lately[which % len(self._lately)]
        if doors := [broker for broker in self._world.of("broker", site) if broker.ready() is None]:
            self._repeats(events)
            self._course.meanwhile(partial(self.send, doors[where % len(doors)], events, again=True))

    def _repeats(self, events: list[dict[str, Any]]) -> None:
        """Notes that events are published again. Where an owner may have died, who knew the ids, they may come twice (DPS-14)."""
        self._course.again.update(event["payload"]["n"] for event in events)
        if self._course.faults:
            self._oracle.repeated |= self._course.again

    async def send(self, door: Any, events: list[dict[str, Any]], *, again: bool = False) -> None:
        """Publishes events at a broker, and waits until all is there that is promised then. Raises Violated where it is not."""
        calm, began_s = not self._course.faults, self._world.loop.now_s
        topics = {topic: numbers_of(events, topic) for topic in topics_of(events)}
        followers = self._course.followers.values()
        waiting = {topic: {each: each.given_up[topic] for each in followers if topic in each.installed} for topic in topics}
        status, answer = await self._asked_of_all(door, events)
        is_accepted = status == 202 and answer["accepted"] == len(events)
        if is_accepted:
            for event in events:
                self._oracle.accepted.setdefault(event["payload"]["n"], Acceptance(began_s, self._world.loop.now_s))
        if not calm or self._course.faults:
            if is_accepted and not again:
                await self._look_for(topics, waiting)
        elif not is_accepted:
            raise Violated(f"nothing is wrong, and a publisher is told {status} {answer}")
        elif not again:
            for topic, numbers in topics.items():
                await self._arrivals.arrived(topic, numbers, waiting[topic])

    async def _asked_of_all(self, door: Any, events: list[dict[str, Any]]) -> tuple[int, dict[str, Any]]:
        """Returns what a broker answers, or another one of its site where nobody is there who would take it, as services go on."""
        status, answer = await self._asked_to_take(door, events)
        if status == 503:
            self._repeats(events)
            others = [each for each in self._world.of("broker", door.site) if each.ready() is None]
            for other in others:
                if status == 503:
                    status, answer = await self._asked_to_take(other, events)
        return status, answer

    async def _look_for(self, topics: dict[str, set[int]], waiting: dict[str, Followers]) -> None:
        """Looks whether what was accepted while something was wrong arrives, as far as that is promised. Raises Violated."""
        if self._deaths.only_an_owner_died:
            for topic, numbers in topics.items():
                if topic in PLAYLISTS:
                    await self._deaths.arrived_from_heirs(topic, numbers, waiting[topic])
        self._arrivals.owe(topics, waiting)

    async def _asked_to_take(self, door: Any, events: list[dict[str, Any]]) -> tuple[int, dict[str, Any]]:
        """Returns what a broker answers to a publisher: status 0 where nothing comes, and 503 where nobody is there who would take it.

        One that was asked to stop may close a connection on which a request is under way. To a service that is the same as a 503.
        """
        try:
            async with asyncio.timeout(ANSWERS_S):
                status, answer = await self._world.publish(door, events)
        except (OSError, TimeoutError) as error:
            is_gone = isinstance(error, ConnectionRefusedError) or (isinstance(error, ConnectionError) and door in self._course.leavers)
            status, answer = (503 if is_gone else 0), {"reason": repr(error)}
        self._course.tell(f"{door.site}/{door.node}", f"answers {status} {answer}")
        return status, answer
