"""One topic with 500 followers, 64 publications in flight."""

from ..comparison import Comparison, Contender, peers
from ..plan import Go
from ..runner import Runner
from ..servers.segue import one_process
from ..shape import WorkloadShape
from ..table import MarkdownTable

SHAPE = WorkloadShape(clients=500, topics=1, mean=1, fixed=True)
WINDOW = 64


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures pure fan-out: every client gets every event."""
    ours = [
        Contender("segue, NDJSON of 32", one_process, {"publishing": "ndjson", "batch": 32}, {"nats": 0.5}),
        Contender("segue, one request per event", one_process, {"publishing": "single"}, {"nats": 0.5}),
    ]
    comparison = Comparison(runner, "one_topic", [*ours, *peers(runner)], Go(seconds=runner.seconds(5)), shape=SHAPE, window=WINDOW)
    return [comparison.table("One topic, 500 clients, 64 publications in flight")]
