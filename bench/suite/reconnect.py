"""What coming back costs: clients of 60 topics that missed 5 events, alone and ten thousand at once, with recovery and without."""

import sys
from statistics import median
from typing import Final

import msgspec

from ..micro.reconnecting import ReconnectFigures, ReconnectPlan
from ..plan import GeneratorPlan, Go, RunResult
from ..process import spawned
from ..runner import Record, Runner
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


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures ten thousand clients. `--seconds` under 5 makes a tenth of them."""
    clients = CLIENTS if runner.seconds(5) >= 5 else CLIENTS // 10
    return reconnects(runner, WorkloadShape(clients=clients + ALONE, fixed=True), ALONE)


def reconnects(runner: Runner, shape: WorkloadShape, alone: int) -> list[MarkdownTable]:
    """Measures the clients of `shape` with recovery and without in turn, each on a fresh site. `alone` of them come one by one."""
    found: dict[str, list[ReconnectFigures]] = {WITHOUT: [], WITH: []}
    others: dict[str, list[float]] = {WITHOUT: [], WITH: []}
    for run in range(runner.runs):
        for who in found:
            runner.tell(f"reconnect: {who}, run {run + 1} of {runner.runs}")
            figures, idle, beside = _once(runner, shape, alone, recovers=who == WITH)
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
    plain_s = median(each.seconds for each in found[WITHOUT])
    rows = [_row(who, mine, plain_s, others[who]) for who, mine in found.items()]
    text = f"Reconnect: {found[WITH][0].clients:,} clients with 60 topics each, {MISSED:g} events missed"
    return [MarkdownTable(text, head, rows, ["Broker, aggregator and access point on the server's core, with the limits that are usual."])]


def _once(runner: Runner, shape: WorkloadShape, alone: int, *, recovers: bool) -> tuple[ReconnectFigures, RunResult, RunResult]:
    with three_processes(runner.setting) as target:
        pair_plan = GeneratorPlan(target=target, shape=PAIR, publishing="single", rate=EVENTS_PER_S, publishers=1)
        plan = ReconnectPlan(target=target, shape=shape, missed=MISSED, alone=alone, recovers=recovers)
        command = [sys.executable, "-m", "bench.micro.reconnecting", msgspec.json.encode(plan).decode()]
        with runner.generating(pair_plan) as pair, spawned(command, runner.setting.generator_core) as herd:
            herd.line()  # all is missed
            idle = pair.run(Go(seconds=runner.seconds(5)))
            herd.say(b"")
            beside = pair.run(Go(seconds=runner.seconds(5)))
            return msgspec.json.decode(herd.line(), type=ReconnectFigures), idle, beside


def _row(who: str, mine: list[ReconnectFigures], plain_s: float, others: list[float]) -> list[str]:
    times = median(each.seconds for each in mine) / plain_s
    told = sum(each.recovered for each in mine), sum(each.clients + each.alone.count for each in mine)
    return [
        who,
        spread([each.alone.p50_ms for each in mine], ".1f"),
        spread([each.alone.p99_ms for each in mine], ".1f"),
        verdict(median(each.alone.p99_ms for each in mine), MOST_ALONE_MS),
        spread([each.seconds for each in mine], ".1f"),
        f"{times:.2f} ({verdict(times, MOST_TIME)})" if who == WITH else "",
        spread([each.server_cpu_s / each.clients * 1000 for each in mine], ".2f"),
        f"{told[0]:,} of {told[1]:,}" if who == WITH else "",
        f"{sum(each.missed for each in mine):,}",
        f"{sum(each.replayed for each in mine):,}" if who == WITH else "",
        f"{spread(others, '.1f')} ({verdict(median(others), MOST_OTHERS)})",
    ]
