"""Connects a second: the handshake, the check of a token, the installation of 60 topics."""

from ..comparison import Contender, peers
from ..plan import GeneratorPlan, Ready
from ..runner import Record, Runner
from ..servers.segue import one_process
from ..shape import WorkloadShape
from ..table import MarkdownTable, median, spread, verdict

SHAPE = WorkloadShape(fixed=True)
LEAST = 2_000.0


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures 64 handshakes at a time. A client counts when its subscriptions are confirmed. Each client of Segue has its own token."""
    contenders = [Contender("segue", one_process, {}), *(each._replace(plan={}) for each in peers(runner))]
    found: dict[str, list[Ready]] = {each.who: [] for each in contenders}
    for run in range(runner.runs):
        for each in contenders:
            runner.tell(f"connects: {each.who}, run {run + 1} of {runner.runs}")
            with each.start(runner.setting) as target, runner.generating(GeneratorPlan(target=target, shape=SHAPE)) as generator:
                found[each.who].append(generator.ready)
                runner.keep(Record(benchmark="connects", who=each.who, run=run, ready=generator.ready))
    rows = [_row(who, readies) for who, readies in found.items()]
    rows += [[peer, why, "", ""] for peer in runner.peers if (why := runner.missing(peer))]
    head = ["server", "connects/s", "server CPU ms per connect", "target"]
    return [MarkdownTable(f"Connects: {SHAPE.clients:,} clients with {SHAPE.mean} topics each", head, rows)]


def _row(who: str, readies: list[Ready]) -> list[str]:
    rates = [ready.clients / ready.seconds for ready in readies]
    cpu_ms = [ready.server_cpu_s / ready.clients * 1000 for ready in readies]
    return [who, spread(rates, ",.0f"), spread(cpu_ms, ".2f"), verdict(median(rates), LEAST, most=False) if who == "segue" else ""]
