"""`python -m bench.micro.reconnecting PLAN` drops its clients, lets them miss events, and connects them again.

It prints a line when all is missed, waits for a line, lets the clients come back, and prints what it measured. Some come back one by
one before that, without anybody else.
"""

import asyncio
import os
import random
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import aiohttp
import click
import msgspec

from infra.runtime.event_loop import run
from segue.cli.state import secret_of
from segue.cluster.tokens import service_token, user_token

from ..clients import Clients
from ..dialects.recovering import RecoveringSegue
from ..dialects.segue import Segue
from ..meter import cpu_s
from ..plan import Target
from ..shape import WorkloadShape
from ..workload import GeneratedWorkload
from .latencies import Latencies

HANDSHAKES: Final = 64
BATCH: Final = 500
POINT_S: Final = 10.0


class ReconnectPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a run.

    - `target`: the site.
    - `shape`: the clients and their topics.
    - `missed`: events that each client misses in the mean, at most one on each topic.
    - `alone`: the first so many clients come back one after the other, before all others come at once.
    - `recovers`: whether they ask for what they missed.
    """

    target: Target
    shape: WorkloadShape
    missed: float
    alone: int
    recovers: bool


class ReconnectFigures(msgspec.Struct, frozen=True, kw_only=True):
    """The figures of a run.

    - `alone`: the times of those who came back alone, from the connection to the last of their topics.
    - `clients`, `seconds`, `server_cpu_s`: how many came at once, and what that took.
    - `missed`, `replayed`: the events that all of them missed, and those that they got.
    - `recovered`: how many clients were told that nothing is missing.
    """

    alone: Latencies
    clients: int
    seconds: float
    server_cpu_s: float
    missed: int
    replayed: int
    recovered: int


async def measure(plan: ReconnectPlan) -> ReconnectFigures:
    """Measures those who come back alone, waits for a line on standard input, and measures all others."""
    dialect, workload = Segue(plan.target.state), GeneratedWorkload(plan.shape)
    follows = [[dialect.topic(f"{plan.shape.prefix}{topic}") for topic in sorted(topics)] for topics in workload.follows]
    before = _clients(plan, RecoveringSegue(plan.target.state) if plan.recovers else dialect)
    await before.connect(before.hellos(follows), HANDSHAKES)
    point = await _point(plan.target) if plan.recovers else ""
    before.leave()
    spoken = _spoken(plan, workload)
    await _publish(plan.target, [dialect.topic(f"{plan.shape.prefix}{topic}") for topic in spoken])

    recovering = RecoveringSegue(plan.target.state, point)
    after = _clients(plan, recovering if plan.recovers else dialect)
    hellos = after.hellos(follows)
    alone = [await _connected_ms(after, hello) for hello in hellos[: plan.alone]]
    click.echo("missed")
    await asyncio.to_thread(sys.stdin.readline)
    begun_s, begun_cpu_s = time.monotonic(), sum(map(cpu_s, plan.target.pids))
    await after.connect(hellos[plan.alone :], HANDSHAKES)
    seconds, used_s = time.monotonic() - begun_s, sum(map(cpu_s, plan.target.pids)) - begun_cpu_s
    after.leave()
    return ReconnectFigures(
        alone=Latencies.of(alone),
        clients=len(hellos) - plan.alone,
        seconds=seconds,
        server_cpu_s=used_s,
        missed=sum(len(topics & spoken) for topics in workload.follows),
        replayed=recovering.replayed,
        recovered=recovering.recovered,
    )


def _clients(plan: ReconnectPlan, dialect: Segue) -> Clients:
    return Clients(dialect, plan.target.clients_at, plan.shape.clients, lambda: None, plan.target.ca_file)


def _spoken(plan: ReconnectPlan, workload: GeneratedWorkload) -> set[int]:
    """Returns topics of which each client follows `missed` in the mean."""
    order = list(range(plan.shape.topics))
    random.Random(f"missed {plan.shape.seed}").shuffle(order)
    spoken: set[int] = set()
    left = plan.missed * plan.shape.clients
    for topic in order:
        if left <= 0:
            break
        if workload.fanout[topic]:
            spoken.add(topic)
            left -= workload.fanout[topic]
    return spoken


async def _connected_ms(clients: Clients, hello: bytes) -> float:
    begun_s = time.monotonic()
    await clients.connect([hello], 1)
    return (time.monotonic() - begun_s) * 1000


async def _point(target: Target) -> str:
    """Returns a point of now. Raises TimeoutError."""
    async with asyncio.timeout(POINT_S), aiohttp.ClientSession() as http:
        socket = await http.ws_connect(f"ws://{target.clients_at}/v1/connect", protocols=["segue.v1"])
        token = user_token(secret_of(Path(target.state)), "keeper")
        await _say(socket, {"op": "hello", "token": token, "client": "keeper", "device": "desktop"})
        await _say(socket, {"op": "subscribe", "id": 1, "topics": ["hm://presence/user/keeper/"], "wait": "local", "recover": True})
        while True:
            await _say(socket, {"op": "ping", "point": True})
            while (message := await socket.receive_json())["op"] != "pong":
                pass
            if message.get("point"):
                await socket.close()
                return str(message["point"])


async def _say(socket: aiohttp.ClientWebSocketResponse, message: dict[str, Any]) -> None:
    await socket.send_str(msgspec.json.encode(message).decode())


async def _publish(target: Target, topics: Sequence[str]) -> None:
    """Publishes an event on each of `topics`. Raises `aiohttp.ClientError` for what was refused."""
    headers = {
        "Authorization": f"Bearer {service_token(secret_of(Path(target.state)), 'presence')}",
        "Content-Type": "application/x-ndjson",
    }
    async with aiohttp.ClientSession(headers=headers, raise_for_status=True) as http:
        for start in range(0, len(topics), BATCH):
            some = topics[start : start + BATCH]
            lines = b"\n".join(msgspec.json.encode({"topic": topic, "kind": "play", "payload": {"track": "t" * 100}}) for topic in some)
            async with http.post(f"http://{target.publish_at}/v1/events", data=lines) as response:
                await response.read()


if __name__ == "__main__":
    os.nice(10)  # on one core with the pair, whose waiting for it would be measured, too
    click.echo(msgspec.json.encode(run(measure(msgspec.json.decode(sys.argv[1], type=ReconnectPlan)))))
