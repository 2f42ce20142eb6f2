"""The answer of the intake: a notice with fifty followers, stored for each of them when it is answered."""

from typing import Final

from ..micro.intake import Plan
from ..micro.latencies import Latencies
from ..runner import Runner
from ..servers.stored import Stored, StoreName
from ..table import Table, median, spread, verdict
from .stored import WHO, on_each_store, program, timed

FOLLOWERS: Final = 50
PEOPLE: Final = 10_000
RATE: Final = 20.0
SECONDS: Final = 15.0
MOST_MS: Final[dict[StoreName, float]] = {"sqlite": 20.0, "cassandra": 50.0}


def measure(runner: Runner) -> list[Table]:
    """Measures in an open loop; the rule worker decides a thousand rows a second beside."""
    seconds = runner.seconds(SECONDS)

    def one(target: Stored) -> Latencies:
        plan = Plan(target=target, followers=FOLLOWERS, people=PEOPLE, rate=RATE, seconds=seconds)
        return program("intake", plan, runner.setting.generator_core, Latencies)

    found = on_each_store(runner, "intake", runner.runs, one)
    head = ["store", "notices", "p50 ms", "p99 ms", "max ms", "target"]
    rows = [
        [
            WHO[store],
            spread([each.count for each in mine], ",.0f"),
            *timed(mine),
            verdict(median([each.p99_ms for each in mine]), MOST_MS[store]),
        ]
        for store, mine in found.figures.items()
    ]
    return [Table(f"Intake: {RATE:g} notices a second with {FOLLOWERS} followers each", head, rows + found.absent(len(head)))]
