"""What coming back costs: clients of 60 topics that missed 5 events, alone and ten thousand at once, with recovery and without."""

import sys
from statistics import median
from typing import Final, NamedTuple

import msgspec

from ..micro.reconnecting import ReconnectFigures, ReconnectPlan
from ..plan import GeneratorPlan, Go, Publishing, RunResult, Target
from ..process import spawned
from ..runner import Record, Runner, Start
from ..servers.peers import nats_with_streams
from ..servers.segue import three_processes
from ..shape import WorkloadShape
from ..table import MarkdownTable, spread, verdict

CLIENTS: Final = 10_000
ALONE: Final = 300
MISSED: Final = 5.0
PAIR: Final = WorkloadShape(clients=2, topics=20, mean=10, fixed=True, prefix="pair")
EVENTS_PER_S: Final = 100.0
MOST_ALONE_MS: Final = 50.0
MOST_TIME: Final = 1.3
MOST_OTHERS: Final = 5.0
WITH, WITHOUT = "with recovery", "without"
JETSTREAM, NATS = "nats, ordered consumers", "nats"


class _Server(NamedTuple):
    """A server of the comparison. `plain` is the row that those who recover are compared with; its own where they do not."""

    start: Start
    plain: str


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures ten thousand clients. `--seconds` under 5 makes a tenth of them."""
    clients = CLIENTS if runner.seconds(5) >= 5 else CLIENTS // 10
    return reconnects(runner, WorkloadShape(clients=clients + ALONE, fixed=True), ALONE)


def reconnects(runner: Runner, shape: WorkloadShape, alone: int) -> list[MarkdownTable]:
    """Measures the clients of `shape` with recovery and without in turn, each on a fresh server. `alone` of them come one by one.

    Where NATS is asked for and there, its clients do the same: with recovery they read a stream in memory.
    """
    servers = {WITHOUT: _Server(three_processes, WITHOUT), WITH: _Server(three_processes, WITHOUT)}
    if "nats" in runner.present():
        servers |= {NATS: _Server(nats_with_streams, NATS), JETSTREAM: _Server(nats_with_streams, NATS)}
    found: dict[str, list[ReconnectFigures]] = {who: [] for who in servers}
    others: dict[str, list[float]] = {who: [] for who in servers}
    for run in range(runner.runs):
        for who, (start, plain) in servers.items():
            runner.tell(f"reconnect: {who}, run {run + 1} of {runner.runs}")
            with start(runner.setting) as target:
                figures, idle, beside = _once(runner, target, shape, alone, recovers=who != plain)
            found[who].append(figures)
            others[who].append(beside.p99_ms / max(idle.p99_ms, 1e-3))
            for when, result in (("idle", idle), ("beside", beside)):
                runner.keep(Record(benchmark="reconnect", who=f"{who}, {when}", run=run, result=result))
    head = [
        "clients",
        "alone p50 ms",
        "alone p99 ms",
        "target",
        "all at once s",
        "times without",
        "CPU ms each",
        "told true",
        "missed",
        "replayed",
        "others' p99, times idle",
    ]
    rows = [_row(who, found[who], found[plain], others[who]) for who, (_, plain) in servers.items()]
    text = f"Reconnect: {found[WITH][0].clients:,} clients with 60 topics each, {MISSED:g} events missed"
    notes = ["Broker, aggregator and access point on the server's core, with the limits that are usual; so is NATS."]
    return [MarkdownTable(text, head, rows, notes)]


def _once(
    runner: Runner, target: Target, shape: WorkloadShape, alone: int, *, recovers: bool
) -> tuple[ReconnectFigures, RunResult, RunResult]:
    publishing: Publishing = "single" if target.speaks == "segue" else "tcp"
    pair_plan = GeneratorPlan(target=target, shape=PAIR, publishing=publishing, rate=EVENTS_PER_S, publishers=1)
    plan = ReconnectPlan(target=target, shape=shape, missed=MISSED, alone=alone, recovers=recovers)
    command = [sys.executable, "-m", "bench.micro.reconnecting", msgspec.json.encode(plan).decode()]
    with runner.generating(pair_plan) as pair, spawned(command, runner.setting.generator_core) as herd:
        herd.line()  # all is missed
        idle = pair.run(Go(seconds=runner.seconds(5)))
        herd.say(b"")
        beside = pair.run(Go(seconds=runner.seconds(5)))
        return msgspec.json.decode(herd.line(), type=ReconnectFigures), idle, beside


def _row(who: str, mine: list[ReconnectFigures], plain: list[ReconnectFigures], others: list[float]) -> list[str]:
    recovers, is_ours = mine is not plain, who in (WITH, WITHOUT)
    alone_ms, times = (
        median(each.alone.p99_ms for each in mine),
        median(each.seconds for each in mine) / median(each.seconds for each in plain),
    )
    told = sum(each.recovered for each in mine), sum(each.clients + each.alone.count for each in mine)
    return [
        who,
        spread([each.alone.p50_ms for each in mine], ".1f"),
        spread([each.alone.p99_ms for each in mine], ".1f"),
        verdict(alone_ms, MOST_ALONE_MS) if is_ours else "",
        spread([each.seconds for each in mine], ".1f"),
        (f"{times:.2f}" + (f" ({verdict(times, MOST_TIME)})" if is_ours else "")) if recovers else "",
        spread([each.server_cpu_s / each.clients * 1000 for each in mine], ".2f"),
        f"{told[0]:,} of {told[1]:,}" if recovers else "",
        f"{sum(each.missed for each in mine):,}",
        f"{sum(each.replayed for each in mine):,}" if recovers else "",
        spread(others, ".1f") + (f" ({verdict(median(others), MOST_OTHERS)})" if is_ours else ""),
    ]
