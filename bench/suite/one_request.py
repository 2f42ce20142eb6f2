"""The whole path in one process, with one HTTP request and one response for each event: the social mix."""

from ..comparison import Comparison, Contender, peers
from ..plan import Go
from ..runner import Runner
from ..servers.segue import one_process
from ..table import MarkdownTable


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures 32 connections with one request at a time each. NATS still gets its events by raw TCP without acknowledgement."""
    ours = Contender("segue, one request per event", one_process, {"publishing": "single"}, {"nats": 1.3, "naive": 0.4})
    comparison = Comparison(runner, "one_request", [ours, *peers(runner, ["nats", "naive"])], Go(seconds=runner.seconds(5)))
    return [comparison.table("All roles in one process, one HTTP request per event, social mix")]
