"""One event to very many clients while other topics speak (SB-56): a million simulated outboxes, 20 000 real sockets."""

from contextlib import ExitStack

from ..micro.burst import BurstFigures
from ..percentile import percentile
from ..plan import GeneratorPlan, Go, RunResult, Target
from ..process import micro
from ..runner import Record, Runner
from ..servers.segue import three_processes
from ..shape import WorkloadShape
from ..table import MarkdownTable, median, spread, verdict

OUTBOXES = 1_000_000
CROWD = WorkloadShape(clients=10_000, topics=1, mean=1, fixed=True, prefix="star")
CROWDS = 2
OTHERS = WorkloadShape(clients=200, topics=500, mean=20, fixed=True)
EVENTS_PER_S = 500.0
EVERY_S = 1.0
MOST_TIMES_IDLE = 5.0


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures bursts to simulated and to real clients. `--seconds` under 5 takes a tenth of the clients."""
    return [_simulated(runner), _real(runner)]


def _simulated(runner: Runner) -> MarkdownTable:
    outboxes = OUTBOXES if runner.seconds(5) >= 5 else OUTBOXES // 10
    found = []
    for run in range(runner.runs):
        runner.tell(f"burst: {outboxes:,} simulated outboxes, run {run + 1} of {runner.runs}")
        figures = micro("burst", outboxes, runner.setting.server_core, BurstFigures)
        runner.keep(Record(benchmark="burst", who="simulated", run=run, figures=figures.plain()))
        found.append(figures)
    times = median([figures.burst_p99_ms / max(figures.idle_p99_ms, 1e-3) for figures in found])
    rows = [
        ["seconds until the last one had it", spread([each for figures in found for each in figures.burst_s], ".2f"), ""],
        ["p99 ms of other topics, idle", spread([figures.idle_p99_ms for figures in found], ".2f"), ""],
        ["p99 ms of other topics, during the burst", spread([figures.burst_p99_ms for figures in found], ".2f"), ""],
        ["times idle", f"{times:.1f}", verdict(times, MOST_TIMES_IDLE)],
        ["worst ms during the burst", spread([figures.burst_max_ms for figures in found], ".1f"), ""],
        ["bytes per simulated client", spread([figures.bytes_per_outbox for figures in found], ".0f"), ""],
    ]
    return MarkdownTable(f"Burst: one event to {outboxes:,} simulated outboxes in one access point", ["what", "how much", "target"], rows)


def _real(runner: Runner) -> MarkdownTable:
    crowd = CROWD if runner.seconds(5) >= 5 else WorkloadShape(clients=1_000, topics=1, mean=1, fixed=True, prefix="star")
    rows = []
    for run in range(runner.runs):
        runner.tell(f"burst: {CROWDS * crowd.clients:,} connections, run {run + 1} of {runner.runs}")
        with three_processes(runner.setting, accesspoints=2) as target:
            rows.append(_run(runner, run, target, crowd))
    head = ["bursts", "reached, of", "seconds until the last one had it", "others' p99 ms, idle", "during the burst", "target"]
    notes = [
        "Two access point processes on one port, broker and aggregator beside them, all on the server's core. One generator for each "
        f"{crowd.clients:,} clients and one for the others, which goes before them, all on the generator's core."
    ]
    return MarkdownTable(f"Burst: one event to {CROWDS * crowd.clients:,} real connections", head, rows, notes)


def _run(runner: Runner, run: int, target: Target, crowd: WorkloadShape) -> list[str]:
    seconds = runner.seconds(5)
    with ExitStack() as stack:
        crowds = [stack.enter_context(runner.generating(GeneratorPlan(target=target, shape=crowd), yields=True)) for _ in range(CROWDS)]
        others = stack.enter_context(
            runner.generating(GeneratorPlan(target=target, shape=OTHERS, publishing="single", rate=EVENTS_PER_S, publishers=8))
        )
        idle = others.run(Go(seconds=seconds))
        busy = others.run(Go(seconds=seconds, burst_every_s=EVERY_S, samples=True))
        # The crowds listened all the time. They match only now, because the numbers of the bursts are known only now.
        for each in crowds:
            each.start(Go(spoken=[number for number, _ in busy.bursts]))
        heard = [each.result() for each in crowds]
    for who, result in (("others, idle", idle), ("others, during bursts", busy), *(("crowd", each) for each in heard)):
        runner.keep(Record(benchmark="burst", who=who, run=run, result=result))
    return _row(busy, idle, heard)


def _row(busy: RunResult, idle: RunResult, heard: list[RunResult]) -> list[str]:
    arrivals = [sample for result in heard for sample in result.samples]
    last_us = {began: max((due + late for due, late in arrivals if due == began), default=began) for _, began in busy.bursts}
    during = sorted(late for due, late in busy.samples if any(began <= due <= ended for began, ended in last_us.items()))
    p99_ms = percentile(during, 0.99) / 1000
    expected = sum(result.audit.expected for result in heard)
    reached = expected - sum(result.audit.lost for result in heard)
    return [
        str(len(busy.bursts)),
        f"{reached:,} of {expected:,}",
        spread([(ended - began) / 1e6 for began, ended in last_us.items()], ".2f"),
        f"{idle.p99_ms:.2f}",
        f"{p99_ms:.2f}",
        f"{p99_ms / max(idle.p99_ms, 1e-3):.1f} x idle ({verdict(p99_ms / max(idle.p99_ms, 1e-3), MOST_TIMES_IDLE)})",
    ]
