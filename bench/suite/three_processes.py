"""Access point, aggregator and broker as three processes on loopback TCP: the social mix, the sum of their CPU."""

from ..comparison import Comparison, Contender
from ..plan import Go
from ..runner import Runner
from ..servers.segue import one_process, three_processes
from ..table import MarkdownTable, spread

PLAN = {"publishing": "ndjson", "batch": 32}
ROLES = ("broker", "aggregator", "access point")


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures three processes that share one core, against the same roles in one process."""
    contenders = [
        Contender("three processes", three_processes, PLAN, {"one process": 2.0}),
        Contender("one process", one_process, PLAN),
    ]
    comparison = Comparison(runner, "three_processes", contenders, Go(seconds=runner.seconds(5)))
    results = comparison.results["three processes"]
    rows = [
        [role, spread([result.server_cpu_s[index] / max(result.delivered, 1) * 100_000 for result in results], ".3f")]
        for index, role in enumerate(ROLES)
    ]
    return [
        comparison.table("Three processes on loopback TCP, HTTP batches of 32, social mix"),
        MarkdownTable("Of which each process", ["process", "CPU s / 100 000 deliveries"], rows),
    ]
