"""Memory per idle connection with 60 subscriptions."""

import time

from ..comparison import Contender, peers
from ..meter import rss_bytes
from ..plan import GeneratorPlan
from ..runner import Record, Runner
from ..servers.segue import one_process
from ..shape import WorkloadShape
from ..table import MarkdownTable, median, spread, verdict

SHAPE = WorkloadShape(clients=5_000, fixed=True)
SETTLE_S = 6.0
LIMIT_KB = 24.0


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures the resident memory with all clients connected, less what it was before, for each connection."""
    contenders = [Contender("segue", one_process, {}), *(each._replace(plan={}) for each in peers(runner))]
    found: dict[str, list[float]] = {each.who: [] for each in contenders}
    for run in range(runner.runs):
        for each in contenders:
            found[each.who].append(kb_per_connection(runner, each, run))
    rows = [[who, spread(figures, ".1f"), verdict(median(figures), LIMIT_KB) if who == "segue" else ""] for who, figures in found.items()]
    rows += [[peer, why, ""] for peer in runner.peers if (why := runner.missing(peer))]
    title = f"Memory per idle connection: {SHAPE.clients:,} connections with {SHAPE.mean} topics each"
    return [MarkdownTable(title, ["server", "KB (1 024 bytes) per connection", "target"], rows)]


def kb_per_connection(runner: Runner, each: Contender, run: int) -> float:
    """Returns the resident memory that a connection of one server takes, in a run of its own."""
    runner.tell(f"memory: {each.who}, run {run + 1} of {runner.runs}")
    with each.start(runner.setting) as target:
        time.sleep(runner.seconds(1.0))
        before = sum(map(rss_bytes, target.pids))
        with runner.generating(GeneratorPlan(target=target, shape=SHAPE)) as generator:
            time.sleep(runner.seconds(SETTLE_S))
            after = sum(map(rss_bytes, target.pids))
    figure = (after - before) / 1024 / SHAPE.clients
    runner.keep(Record(benchmark="memory", who=each.who, run=run, ready=generator.ready, figures={"kb_per_connection": figure}))
    return figure
