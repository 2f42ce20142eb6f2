"""`python -m bench.micro.reconnecting PLAN` drops its clients, lets them miss events, and connects them again.

It prints a line when all is missed, and waits for one. Then it lets the clients come back, and prints a line when they are there. With the
next line that it gets, all leave at once, and it prints what it measured. Some come back one by one before that, without anybody else.
"""

import asyncio
import os
import random
import sys
import time
from typing import Final

import click
import msgspec

from infra.runtime.event_loop import run

from ..clients import Clients
from ..dialects import Dialect
from ..meter import cpu_s
from ..plan import Target
from ..shape import WorkloadShape
from ..workload import GeneratedWorkload
from .latencies import Latencies
from .returning import Returning
from .returning_nats import ReturningToNats
from .returning_segue import ReturningToSegue

HANDSHAKES: Final = 64


class ReconnectPlan(msgspec.Struct, frozen=True, kw_only=True):
    """The plan of a run.

    - `target`: the site, or a NATS with JetStream.
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
    """Measures those who come back alone, waits for a line on standard input, and measures all others. They leave with the next line."""
    server: Returning = ReturningToSegue(plan.target) if plan.target.speaks == "segue" else ReturningToNats(plan.target)
    plain, workload = server.plain(), GeneratedWorkload(plan.shape)
    topics = [plain.topic(f"{plan.shape.prefix}{number}") for number in range(plan.shape.topics)]
    follows = [[topics[number] for number in sorted(numbers)] for numbers in workload.follows]
    before = _clients(plan, server.staying() if plan.recovers else plain)
    await before.connect(before.hellos(follows), HANDSHAKES)
    await server.mark()
    before.leave()
    spoken = _spoken(plan, workload)
    await server.publish([topics[number] for number in spoken])

    recovering = server.recovering()
    after = _clients(plan, recovering if plan.recovers else plain)
    hellos = after.hellos(follows)
    alone = [await _connected_ms(after, hello) for hello in hellos[: plan.alone]]
    click.echo("missed")
    await _line()
    begun_s, begun_cpu_s = time.monotonic(), sum(map(cpu_s, plan.target.pids))
    await after.connect(hellos[plan.alone :], HANDSHAKES)
    seconds, used_s = time.monotonic() - begun_s, sum(map(cpu_s, plan.target.pids)) - begun_cpu_s
    click.echo("back")
    await _line()
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


async def _line() -> None:
    await asyncio.to_thread(sys.stdin.readline)


def _clients(plan: ReconnectPlan, dialect: Dialect) -> Clients:
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


if __name__ == "__main__":
    os.nice(10)  # on one core with the pair, whose waiting for it would be measured, too
    click.echo(msgspec.json.encode(run(measure(msgspec.json.decode(sys.argv[1], type=ReconnectPlan)))))
