"""Connects a second: the handshake, the check of a token, the installation of 60 topics."""

from collections.abc import Sequence

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
    found = _connected(runner, "connects", contenders)
    rows = [[who, *_figures(readies), _target(who, readies)] for who, readies in found.items()]
    rows += [[peer, why, "", ""] for peer in runner.peers if (why := runner.missing(peer))]
    head = ["server", "connects/s", "server CPU ms per connect", "target"]
    return [MarkdownTable(f"Connects: {SHAPE.clients:,} clients with {SHAPE.mean} topics each", head, rows)]


def connects_per_s(runner: Runner, benchmark: str, contenders: Sequence[Contender]) -> dict[str, list[str]]:
    """Returns connects a second and CPU for each of them, by the name of the server, as a table shows them."""
    return {who: _figures(readies) for who, readies in _connected(runner, benchmark, contenders).items()}


def _connected(runner: Runner, benchmark: str, contenders: Sequence[Contender]) -> dict[str, list[Ready]]:
    found: dict[str, list[Ready]] = {each.who: [] for each in contenders}
    for run in range(runner.runs):
        for each in contenders:
            runner.tell(f"{benchmark}: {each.who} connects, run {run + 1} of {runner.runs}")
            with each.start(runner.setting) as target, runner.generating(GeneratorPlan(target=target, shape=SHAPE)) as generator:
                found[each.who].append(generator.ready)
                runner.keep(Record(benchmark=benchmark, who=each.who, run=run, ready=generator.ready))
    return found


def _rates(readies: Sequence[Ready]) -> list[float]:
    return [ready.clients / ready.seconds for ready in readies]


def _figures(readies: Sequence[Ready]) -> list[str]:
    cpu_ms = [ready.server_cpu_s / ready.clients * 1000 for ready in readies]
    return [spread(_rates(readies), ",.0f"), spread(cpu_ms, ".2f")]


def _target(who: str, readies: Sequence[Ready]) -> str:
    return verdict(median(_rates(readies)), LEAST, most=False) if who == "segue" else ""
