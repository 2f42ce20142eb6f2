"""What it costs that another broker has each event before anybody gets it: the social mix with `copies = 1` and without (DPS-18)."""

from functools import partial
from typing import Any, Final

from ..comparison import Comparison, Contender
from ..plan import Go
from ..runner import Runner
from ..servers.segue import two_brokers
from ..shape import WorkloadShape
from ..table import MarkdownTable, median, spread, verdict

MOST: Final = 1.6
MOST_MORE_MS: Final = 2.0
RATE: Final = 200.0
ONE, NONE = "copies = 1", "copies = 0"
PLAN: Final = {"publishing": "ndjson", "batch": 32}


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures two brokers that are each other's heirs, and the same two without copies, in turn."""
    return copies(runner, WorkloadShape())


def copies(runner: Runner, shape: WorkloadShape) -> list[MarkdownTable]:
    """Measures them with a workload of this `shape`."""
    go = Go(seconds=runner.seconds(5))
    contenders = [Contender(NONE, _with(0), PLAN), Contender(ONE, _with(1), PLAN, {NONE: MOST})]
    comparison = Comparison(runner, "copies", contenders, go, shape=shape)
    costs = comparison.table("Copies at an heir: two brokers, HTTP batches of 32, social mix, so CPU for each event, too", absent=False)
    return [costs, _delays(runner, go, shape)]


def _delays(runner: Runner, go: Go, shape: WorkloadShape) -> MarkdownTable:
    """Returns how much later an event comes, one request for each: its answer waits for the heir as its followers do."""
    plan = {"publishing": "single", "rate": RATE}
    slow = Comparison(runner, "copies-delay", [Contender(NONE, _with(0), plan), Contender(ONE, _with(1), plan)], go, shape=shape)
    more_ms = median([one.p50_ms - none.p50_ms for one, none in zip(slow.results[ONE], slow.results[NONE], strict=True)])
    rows = [
        [who, spread([each.p50_ms for each in found], ".2f"), spread([each.p99_ms for each in found], ".2f"), ""]
        for who, found in slow.results.items()
    ]
    rows[-1][-1] = f"{more_ms:+.2f} ms more ({verdict(more_ms, MOST_MORE_MS)})"
    return MarkdownTable(f"Copies at an heir: {RATE:g} events a second, one request each", ["", "p50 ms", "p99 ms", "target"], rows)


def _with(copies: int) -> Any:
    window = {"user": {"keep": "latest", "seconds": 120.0, "copies": copies}}
    return partial(two_brokers, broker={"window": window})
