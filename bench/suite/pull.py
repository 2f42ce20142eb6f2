"""Pulls of fifty items out of a history of a thousand, five hundred times a second through an access point."""

from typing import Final

from ..micro.pull import PullFigures, PullPlan
from ..runner import Runner
from ..servers.stored import StoredSite, StoreName
from ..table import MarkdownTable, median, spread, verdict
from .stored import WHO, on_each_store, program, timed

USERS: Final = 10
HISTORY: Final = 1000
LIMIT: Final = 50
RATE: Final = 500.0
SECONDS: Final = 10.0
MOST_MS: Final[dict[StoreName, float]] = {"sqlite": 20.0, "cassandra": 50.0}


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures in an open loop. `--seconds` under 5 makes histories of a tenth."""
    seconds = runner.seconds(SECONDS)
    history = HISTORY if seconds >= 5 else HISTORY // 10

    def one(target: StoredSite) -> PullFigures:
        plan = PullPlan(target=target, users=USERS, history=history, limit=LIMIT, rate=RATE, seconds=seconds)
        return program("pull", plan, runner.setting.generator_core, PullFigures)

    found = on_each_store(runner, "pull", runner.runs, one)
    head = ["store", "pulls/s", "p50 ms", "p99 ms", "max ms", "target"]
    rows = [
        [
            WHO[store],
            spread([each.pulls_per_s for each in mine], ",.0f"),
            *timed([each.waited for each in mine]),
            verdict(median([each.waited.p99_ms for each in mine]), MOST_MS[store]),
        ]
        for store, mine in found.figures.items()
    ]
    return [MarkdownTable(f"Pull: {LIMIT} items of {history:,}, {RATE:g} times a second", head, rows + found.absent(len(head)))]
