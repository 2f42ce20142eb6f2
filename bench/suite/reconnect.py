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
from ..table import Columns, MarkdownTable, of_columns, spread, verdict

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


class _Pair(NamedTuple):
    """Others at a server: `idle`, `beside` those who come, and as all of these are `leaving` at once."""

    idle: RunResult
    beside: RunResult
    leaving: RunResult


class _MeasuredServer(NamedTuple):
    """The `runs` of those who came to a server, and those of `plain`, which they are compared with. `pairs`: the others there."""

    who: str
    runs: list[ReconnectFigures]
    plain: list[ReconnectFigures]
    pairs: list[_Pair]

    @property
    def recovers(self) -> bool:
        """Whether they get what they missed."""
        return self.runs is not self.plain

    @property
    def told(self) -> str:
        """How many were told that nothing is missing."""
        return f"{sum(each.recovered for each in self.runs):,} of {sum(each.clients + each.alone.count for each in self.runs):,}"

    @property
    def times(self) -> float:
        """How many times longer it took than without recovery."""
        return median(each.seconds for each in self.runs) / median(each.seconds for each in self.plain)

    @property
    def others(self) -> list[float]:
        """How many times longer than idle the others took while all came."""
        return [pair.beside.p99_ms / max(pair.idle.p99_ms, 1e-3) for pair in self.pairs]

    @property
    def as_all_leave(self) -> list[float]:
        """How many times longer than idle the others took while all left."""
        return [pair.leaving.p99_ms / max(pair.idle.p99_ms, 1e-3) for pair in self.pairs]

    def judged(self, value: float, most: float, form: str = "{}") -> str:
        """Returns whether `value` keeps its target; nothing of a server that is not ours."""
        return form.format(verdict(value, most)) if self.who in (WITH, WITHOUT) else ""


COLUMNS: Final[Columns[_MeasuredServer]] = (
    ("clients", lambda server: server.who),
    ("alone p50 ms", lambda server: spread([each.alone.p50_ms for each in server.runs], ".1f")),
    ("alone p99 ms", lambda server: spread([each.alone.p99_ms for each in server.runs], ".1f")),
    ("target", lambda server: server.judged(median(each.alone.p99_ms for each in server.runs), MOST_ALONE_MS)),
    ("all at once s", lambda server: spread([each.seconds for each in server.runs], ".1f")),
    ("times without", lambda server: f"{server.times:.2f}{server.judged(server.times, MOST_TIME, ' ({})')}" if server.recovers else ""),
    ("CPU ms each", lambda server: spread([each.server_cpu_s / each.clients * 1000 for each in server.runs], ".2f")),
    ("told true", lambda server: server.told if server.recovers else ""),
    ("missed", lambda server: f"{sum(each.missed for each in server.runs):,}"),
    ("replayed", lambda server: f"{sum(each.replayed for each in server.runs):,}" if server.recovers else ""),
    (
        "others' p99, times idle",
        lambda server: spread(server.others, ".1f") + server.judged(median(server.others), MOST_OTHERS, " ({})"),
    ),
    ("as all leave", lambda server: spread(server.as_all_leave, ".1f")),
)


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
    pairs: dict[str, list[_Pair]] = {who: [] for who in servers}
    for run in range(runner.runs):
        for who, (start, plain) in servers.items():
            runner.tell(f"reconnect: {who}, run {run + 1} of {runner.runs}")
            with start(runner.setting) as target:
                figures, pair = _once(runner, target, shape, alone, recovers=who != plain)
            found[who].append(figures)
            pairs[who].append(pair)
            for when, result in pair._asdict().items():
                runner.keep(Record(benchmark="reconnect", who=f"{who}, {when}", run=run, result=result))
    text = f"Reconnect: {found[WITH][0].clients:,} clients with 60 topics each, {MISSED:g} events missed"
    notes = ["Broker, aggregator and access point on the server's core, with the limits that are usual; so is NATS."]
    measured = [_MeasuredServer(who, found[who], found[plain], pairs[who]) for who, (_, plain) in servers.items()]
    return [of_columns(text, COLUMNS, measured, notes)]


def _once(runner: Runner, target: Target, shape: WorkloadShape, alone: int, *, recovers: bool) -> tuple[ReconnectFigures, _Pair]:
    publishing: Publishing = "single" if target.speaks == "segue" else "tcp"
    pair_plan = GeneratorPlan(target=target, shape=PAIR, publishing=publishing, rate=EVENTS_PER_S, publishers=1)
    plan = ReconnectPlan(target=target, shape=shape, missed=MISSED, alone=alone, recovers=recovers)
    command = [sys.executable, "-m", "bench.micro.reconnecting", msgspec.json.encode(plan).decode()]
    with runner.generating(pair_plan) as pair, spawned(command, runner.setting.generator_core) as herd:
        herd.line()  # all is missed
        idle = pair.run(Go(seconds=runner.seconds(5)))
        herd.say(b"")
        beside = pair.run(Go(seconds=runner.seconds(5)))
        herd.line()  # all are back
        herd.say(b"")
        leaving = pair.run(Go(seconds=runner.seconds(2)))
        return msgspec.json.decode(herd.line(), type=ReconnectFigures), _Pair(idle, beside, leaving)
