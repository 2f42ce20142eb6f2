"""`python -m bench.micro.installing PLAN` has followers follow topics anew while these go on, and prints what they missed.

Two sites share the process. All is published at the first. A follower follows a topic of its own somewhere, leaves, and follows it anew
at an access point of the second site.
"""

import asyncio
import itertools
import random
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final, Literal

import aiohttp
import click
import msgspec

from infra.kernel.roles import NOTIFICATION
from infra.runtime.ending import end_tasks
from infra.runtime.event_loop import run
from infra.runtime.issuing import issue
from infra.runtime.logs import configure
from infra.runtime.wire.memory import MemoryNetwork
from segue.drill.local_nodes import LocalNodes
from segue.drill.nodes import SHAPE

from ..late_links import LateLinks
from .latencies import Latencies

FIRST, SECOND = SHAPE.sites
AWAY_S: Final = 0.3
SEEN: Final = 2
TOKEN_S: Final = 3600.0
ANSWER_S: Final = 20.0


class InstallingPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a run.

    - `one_way_s`: how long a frame takes to the other site.
    - `begins_at`: the site where followers follow first: "first" or "second". `stays`: whether somebody else follows at the second site.
    - `wait`: for what a follower waits: "local" or "all" sites.
    - `recovers`: whether they say what they had.
    - `followers`: how many there are, each with a topic of its own; `every_s`: how long after another they come.
    - `events_per_s`: how many a topic has. `after_s`: how long each follows.
    """

    one_way_s: float
    begins_at: Literal["first", "second"]
    stays: bool
    wait: Literal["local", "all"]
    recovers: bool
    followers: int
    every_s: float = 0.05
    events_per_s: float = 20.0
    after_s: float = 1.0


class InstallingFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a run.

    - `answers`: how long followers waited for the answer.
    - `recovered`: how many were told that nothing is missing.
    - `away`, `installing`, `after`: events that never came, by when they were published: before the follower asked, before the answer
      came, and behind it. `twice`: events that came again.
    - `frames`: what all links carried meanwhile, without deliveries and heartbeats.
    """

    answers: Latencies
    recovered: int
    away: int
    installing: int
    after: int
    twice: int
    frames: int


class _Topic:
    """A topic and its follower.

    - `sent_s`: when each event was published. `heard`: how often each came. `last`: the position of the last one, by site.
    - `left_at`, `over_at`: the events between these two numbers are those that are to come.
    - `asked_s`, `answered_s`: when the follower followed it anew, and when that was answered.
    """

    def __init__(self, number: int) -> None:
        self.name = f"hm://playlist/user/u{number}/playlist/p/"
        self.sent_s: list[float] = []
        self.heard: Counter[int] = Counter()
        self.last: dict[str, list[int]] = {}
        self.left_at = self.over_at = 0
        self.asked_s = self.answered_s = 0.0

    def note(self, message: dict[str, Any]) -> None:
        """Takes a message; notes it if it is an event."""
        if message["op"] != "event":
            return
        self.heard[message["payload"]["n"]] += 1
        self.last[message["site"]] = [message["epoch"], message["seq"]]

    def missed_s(self) -> list[float]:
        """Returns when what never came was published."""
        return [self.sent_s[n] for n in range(self.left_at, self.over_at) if not self.heard[n]]


class _World:
    """Two sites, whose clock of publishing runs, and their followers."""

    def __init__(self, plan: InstallingPlan, nodes: LocalNodes, http: aiohttp.ClientSession) -> None:
        self._plan, self._nodes, self._http = plan, nodes, http
        self.topics = [_Topic(number) for number in range(plan.followers)]
        self.is_over = False
        self.recovered = 0

    async def stay(self, follows: asyncio.Event) -> None:
        """Follows all topics at the second site, until it is cancelled. Sets `follows` when it does."""
        async with self._door(SECOND, len(self.topics)) as socket:
            topics = [topic.name for topic in self.topics]
            await _say(socket, {"op": "subscribe", "id": 1, "topics": topics, "wait": "all"})
            async for message in socket:
                if message.json()["op"] == "subscribed":
                    follows.set()

    async def publish(self) -> None:
        """Publishes an event on each topic at each turn. Raises `aiohttp.ClientError` for what is refused."""
        headers = {"Authorization": f"Bearer {self._token(service=NOTIFICATION)}", "Content-Type": "application/x-ndjson"}
        door = self._nodes.doors("broker", FIRST)[0]  # one broker keeps the order of a topic
        for turn in itertools.count():
            if self.is_over:
                return
            lines = [{"topic": topic.name, "kind": "said", "payload": {"n": turn}} for topic in self.topics]
            now_s = time.monotonic()
            for topic in self.topics:
                topic.sent_s.append(now_s)
            body = b"\n".join(map(msgspec.json.encode, lines))
            async with self._http.post(f"http://{door}/v1/events", data=body, headers=headers) as answer:
                answer.raise_for_status()
                await answer.read()
            await asyncio.sleep(1 / self._plan.events_per_s)

    async def come_and_go(self, topic: _Topic, number: int) -> None:
        """Follows a topic, leaves, and follows it anew at another access point. Raises TimeoutError."""
        await asyncio.sleep(self._plan.every_s * number)
        site = FIRST if self._plan.begins_at == "first" else SECOND
        async with asyncio.timeout(ANSWER_S), self._door(site, number) as socket:
            await _say(socket, {"op": "subscribe", "id": 1, "topics": [topic.name], "wait": "all"})
            while len(topic.heard) < SEEN:
                topic.note(await socket.receive_json())
        topic.left_at = max(topic.heard) + 1
        await asyncio.sleep(AWAY_S)
        asked = {"recover": True, "since": {topic.name: topic.last}} if self._plan.recovers else {}
        async with self._door(SECOND, number + 1) as socket:
            topic.asked_s = time.monotonic()
            await _say(socket, {"op": "subscribe", "id": 1, "topics": [topic.name], "wait": self._plan.wait, **asked})
            async with asyncio.timeout(ANSWER_S):
                while (message := await socket.receive_json())["op"] != "subscribed":
                    topic.note(message)
            topic.answered_s = time.monotonic()
            self.recovered += message.get("recovered", False)
            await self._listen(topic, socket)

    async def _listen(self, topic: _Topic, socket: aiohttp.ClientWebSocketResponse) -> None:
        """Takes what comes for a while, and then all that was published until that moment: what does not come in order never does."""
        with suppress(TimeoutError):
            async with asyncio.timeout(self._plan.after_s):
                while True:
                    topic.note(await socket.receive_json())
        topic.over_at = len(topic.sent_s)
        with suppress(TimeoutError):
            async with asyncio.timeout(ANSWER_S):
                while topic.over_at - 1 not in topic.heard:
                    topic.note(await socket.receive_json())

    @asynccontextmanager
    async def _door(self, site: str, number: int) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
        """Yields a session at an access point of a site."""
        doors = self._nodes.doors("accesspoint", site)
        async with self._http.ws_connect(f"ws://{doors[number % len(doors)]}/v1/connect", protocols=["segue.v1"]) as socket:
            await _say(socket, {"op": "hello", "token": self._token(user=f"f{number}"), "client": "f", "device": "desktop"})
            yield socket

    def _token(self, *, user: str | None = None, service: str | None = None) -> str:
        return issue(self._nodes.secret, user=user, service=service, ttl_s=TOKEN_S, now_s=time.time())

    def figures(self, frames: Counter[str]) -> InstallingFigures:
        """Returns what came of it. `frames`: what links carried meanwhile."""
        missed = [(topic, sent_s) for topic in self.topics for sent_s in topic.missed_s()]
        return InstallingFigures(
            answers=Latencies.of((topic.answered_s - topic.asked_s) * 1000 for topic in self.topics),
            recovered=self.recovered,
            away=sum(sent_s < topic.asked_s for topic, sent_s in missed),
            installing=sum(topic.asked_s <= sent_s < topic.answered_s for topic, sent_s in missed),
            after=sum(topic.answered_s <= sent_s for topic, sent_s in missed),
            twice=sum(count - 1 for topic in self.topics for count in topic.heard.values()),
            frames=sum(count for name, count in frames.items() if name not in ("Deliver", "Heartbeat")),
        )


async def measure(plan: InstallingPlan) -> InstallingFigures:
    """Lets all followers come and go. Raises what the sites refuse, and TimeoutError."""
    nodes = LocalNodes(random.Random(1), SHAPE)
    links = nodes.links = LateLinks(MemoryNetwork(), plan.one_way_s)
    async with nodes, aiohttp.ClientSession() as http:
        await nodes.ready()
        world = _World(plan, nodes, http)
        follows = asyncio.Event()
        staying = [asyncio.create_task(world.stay(follows))] if plan.stays else []
        if plan.stays:
            async with asyncio.timeout(ANSWER_S):
                await follows.wait()
        publishing = asyncio.create_task(world.publish())
        before = Counter(links.frames)
        await asyncio.gather(*(world.come_and_go(topic, number) for number, topic in enumerate(world.topics)))
        world.is_over = True
        await publishing
        await end_tasks(*staying)
        return world.figures(links.frames - before)


async def _say(socket: aiohttp.ClientWebSocketResponse, message: dict[str, Any]) -> None:
    await socket.send_str(msgspec.json.encode(message).decode())


if __name__ == "__main__":
    configure("console", "error")
    click.echo(msgspec.json.encode(run(measure(msgspec.json.decode(sys.argv[1], type=InstallingPlan)))))
