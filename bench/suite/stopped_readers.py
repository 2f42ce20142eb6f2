"""One client in a hundred stops reading. What do the others get, and what becomes of those that stopped?"""

from collections import Counter

from ..comparison import busy, wrong
from ..plan import GeneratorPlan, Go, RunResult
from ..runner import Record, Runner
from ..servers.segue import counters, one_process
from ..shape import WorkloadShape
from ..table import MarkdownTable, median, spread, verdict

SHAPE = WorkloadShape()
STOPPED = SHAPE.clients // 100
# The sockets' buffers must fill before a client counts as slow, and then it has `stalled_s` to read on.
SECONDS = 45.0
LEAST_SHARE = 0.9
WHO = {False: "everybody reads", True: f"{STOPPED} of {SHAPE.clients:,} stop"}


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures the same run with and without stopped clients, in turn. The clients that stop are no part of either's figures."""
    results: dict[bool, list[RunResult]] = {False: [], True: []}
    evicted: list[float] = []
    for run in range(runner.runs):
        for stop in results:
            result, evictions = _run(runner, run, stop)
            results[stop].append(result)
            evicted += [evictions] if stop else []
    shares = [stopped.deliveries_per_s / reading.deliveries_per_s for reading, stopped in zip(results[False], results[True], strict=True)]
    rows = [
        [WHO[stop], spread([result.deliveries_per_s for result in mine], ",.0f"), spread([result.p99_ms for result in mine], ".1f"),
         spread([result.cpu_s_per_100k for result in mine], ".3f"), _wrong(mine), busy(mine)]
        for stop, mine in results.items()
    ]  # fmt: skip
    costs = [stopped.cpu_s_per_100k / reading.cpu_s_per_100k for reading, stopped in zip(results[False], results[True], strict=True)]
    seen = sum((Counter(result.closed) for result in results[True]), Counter[int]())
    notes = [
        f"The others keep {median(shares):.2f} of their throughput ({verdict(median(shares), LEAST_SHARE, most=False)}) "
        f"at {median(costs):.2f} times the CPU.",
        f"Evicted with slow-consumer (4001), says the server: {spread(evicted, '.0f')} of {STOPPED}. "
        f"Those who read on afterwards found 4001 {seen[4001]} times and a connection broken off {seen[0]} times.",
    ]
    head = ["clients", "deliveries/s to the others", "p99 ms", "CPU s / 100 000 deliveries", "wrong", "cores: server, generator"]
    return [MarkdownTable("Stopped readers, social mix", head, rows, notes)]


def _run(runner: Runner, run: int, stop: bool) -> tuple[RunResult, float]:
    runner.tell(f"stopped_readers: {WHO[stop]}, run {run + 1} of {runner.runs}")
    with one_process(runner.setting) as target:
        plan = GeneratorPlan(target=target, shape=SHAPE, publishing="ndjson", batch=32, aside=STOPPED)
        with runner.generating(plan) as generator:
            result = generator.run(Go(seconds=runner.seconds(SECONDS), stop_reading=stop))
            sent_away = counters(target, "accesspoint")["accesspoint_disconnects_total"]
    evictions = float(sent_away.get("slow-consumer", 0))
    record = Record(
        benchmark="stopped_readers", who=WHO[stop], run=run, ready=generator.ready, result=result, figures={"evicted": evictions}
    )
    runner.keep(record)
    return result, evictions


def _wrong(results: list[RunResult]) -> str:
    """Returns what went wrong, without "disconnected": evicted clients are meant to be disconnected."""
    return ", ".join(part for part in wrong(results).split(", ") if not part.endswith("disconnected")) or "0"
