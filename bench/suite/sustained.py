"""38 000 deliveries a second for a minute in one process, and the size of a cluster for the paper's load (SB-55)."""

import math

from ..comparison import busy, wrong
from ..plan import Go, RunResult
from ..runner import Runner
from ..servers.segue import one_process
from ..shape import WorkloadShape
from ..table import MarkdownTable, verdict
from ..workload import GeneratedWorkload

MEAN_PER_S = 38_000
PEAK_PER_S = 115_000
SECONDS = 60.0
# The load is a little above the mark, because topics are drawn at random.
MARGIN = 1.03
# No core is planned to be busier than this.
USED_SHARE = 0.7


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures HTTP batches in an open loop; once, because a minute is long."""
    return sustained(runner, WorkloadShape(), MEAN_PER_S)


def sustained(runner: Runner, shape: WorkloadShape, target_per_s: float) -> list[MarkdownTable]:
    """Returns the table of a run at `target_per_s` deliveries a second on `shape`, and the processes that the paper's load needs by it."""
    rate = target_per_s * MARGIN / GeneratedWorkload(shape).mean_fanout
    go = Go(seconds=runner.seconds(SECONDS))
    result = runner.measure("sustained", "segue", 0, one_process, go, shape=shape, rate=rate, publishing="ndjson", batch=32)
    head = ["seconds", "deliveries/s", "target", "p50 ms", "p99 ms", "max ms", "CPU s / 100 000", "wrong", "cores: server, generator"]
    row = [
        f"{result.seconds:.0f}",
        f"{result.deliveries_per_s:,.0f}",
        verdict(result.deliveries_per_s, target_per_s, most=False),
        f"{result.p50_ms:.2f}",
        f"{result.p99_ms:.2f}",
        f"{result.max_ms:.1f}",
        f"{result.cpu_s_per_100k:.3f}",
        wrong([result]),
        busy([result]),
    ]
    return [MarkdownTable("Sustained load in one process, social mix", head, [row]), _plan(result)]


def _plan(result: RunResult) -> MarkdownTable:
    rows = []
    for name, per_s in (("mean", MEAN_PER_S), ("peak", PEAK_PER_S)):
        cores = per_s * result.cpu_s_per_100k / 100_000
        rows.append([name, f"{per_s:,}", f"{cores:.2f}", str(math.ceil(cores / USED_SHARE))])
    notes = [f"Cores that are {USED_SHARE:.0%} busy at most, like the one above; processes of one core each."]
    return MarkdownTable("What the paper's load needs (SB-55)", ["load", "deliveries/s", "busy cores", "processes"], rows, notes)
