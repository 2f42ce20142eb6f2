"""The whole path in one process, HTTP batches of 32: the social mix."""

from ..comparison import Comparison, Contender, peers
from ..plan import Go
from ..runner import Runner
from ..servers.segue import one_process
from ..table import MarkdownTable

BATCH = 32


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures HTTP publish -> broker -> aggregator -> access point -> WebSocket."""
    ours = [
        Contender(f"segue, NDJSON of {BATCH}", one_process, {"publishing": "ndjson", "batch": BATCH}, {"nats": 0.7}),
        Contender(f"segue, array of {BATCH}", one_process, {"publishing": "array", "batch": BATCH}),
    ]
    comparison = Comparison(runner, "one_process", [*ours, *peers(runner)], Go(seconds=runner.seconds(5)))
    return [comparison.table("All roles in one process, HTTP batches of 32, social mix")]
