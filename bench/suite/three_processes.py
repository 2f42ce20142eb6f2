"""Access point, aggregator and broker as three processes on loopback TCP: the social mix, the sum of their CPU.

Their links are in plain, proved by a secret, and by certificates, which encrypts them: that is what proved links cost a whole delivery.
"""

from functools import partial

from ..comparison import Comparison, Contender
from ..plan import Go
from ..runner import Runner
from ..servers.segue import one_process, three_processes
from ..table import MarkdownTable, spread

PLAN = {"publishing": "ndjson", "batch": 32}
ROLES = ("broker", "aggregator", "access point")
KINDS = {"three processes": "in plain", "links by secret": "by secret", "links by mutual TLS": "by mutual TLS"}
# A secret costs a handshake, and nothing for each event.
MOST_BY_SECRET: float = 1.05
MOST_BY_TLS: float = 1.3


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures three processes that share one core, with links of all kinds, against the same roles in one process."""
    contenders = [
        Contender("three processes", three_processes, PLAN, {"one process": 2.0}),
        Contender("links by secret", partial(three_processes, links="secret"), PLAN, {"three processes": MOST_BY_SECRET}),
        Contender("links by mutual TLS", partial(three_processes, links="tls"), PLAN, {"three processes": MOST_BY_TLS}),
        Contender("one process", one_process, PLAN),
    ]
    comparison = Comparison(runner, "three_processes", contenders, Go(seconds=runner.seconds(5)))
    return [
        comparison.table("Three processes on loopback TCP, HTTP batches of 32, social mix"),
        MarkdownTable("Of which each process, in CPU s / 100 000 deliveries", ["links", *ROLES], [*map(partial(_row, comparison), KINDS)]),
    ]


def _row(comparison: Comparison, who: str) -> list[str]:
    """Returns the part of each process in the CPU of `who`."""
    results = comparison.results[who]
    return [
        KINDS[who],
        *(
            spread([result.server_cpu_s[index] / max(result.delivered, 1) * 100_000 for result in results], ".3f")
            for index, _ in enumerate(ROLES)
        ),
    ]
