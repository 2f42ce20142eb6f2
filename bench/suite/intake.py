"""The response of the intake to a notice with fifty followers. When it comes, the notice is stored for each of them."""

from typing import Final

from ..micro.intake import IntakePlan
from ..micro.latencies import Latencies
from ..runner import Runner
from ..servers.stored import StoredSite, StoreName
from ..table import MarkdownTable, median, spread, verdict
from .stored import WHO, on_each_store, program, timed

FOLLOWERS: Final = 50
PEOPLE: Final = 10_000
RATE: Final = 20.0
SECONDS: Final = 15.0
MOST_MS: Final[dict[StoreName, float]] = {"sqlite": 20.0, "cassandra": 50.0}


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures in an open loop, while the rule worker decides a thousand rows a second."""
    seconds = runner.seconds(SECONDS)

    def one(target: StoredSite) -> Latencies:
        plan = IntakePlan(target=target, followers=FOLLOWERS, people=PEOPLE, rate=RATE, seconds=seconds)
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
    return [MarkdownTable(f"Intake: {RATE:g} notices a second with {FOLLOWERS} followers each", head, rows + found.absent(len(head)))]
