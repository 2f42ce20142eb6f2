"""What a subscription misses while it is made, over long ways: from another access point or site, with recovery and without."""

from typing import Final, Literal, NamedTuple

from ..micro.installing import InstallingFigures, InstallingPlan
from ..runner import Record, Runner
from ..table import MarkdownTable, spread, verdict
from .stored import program

ONE_WAY_MS: Final = (10, 50, 150)
FOLLOWERS: Final = 60


class _Way(NamedTuple):
    """A way to come: see `InstallingPlan`."""

    begins_at: Literal["first", "second"]
    stays: bool
    wait: Literal["local", "all"]
    recovers: bool


WAYS: Final = {
    "another access point": _Way("second", stays=False, wait="local", recovers=False),
    "another access point, recovery": _Way("second", stays=False, wait="local", recovers=True),
    "another site, followed there": _Way("first", stays=True, wait="local", recovers=False),
    "another site, followed there, recovery": _Way("first", stays=True, wait="local", recovers=True),
    "another site, new there": _Way("first", stays=False, wait="local", recovers=False),
    "another site, new there, waits for all": _Way("first", stays=False, wait="all", recovers=False),
}


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures each way to come, over each distance. `--seconds` under 5 takes a sixth of the followers."""
    followers = FOLLOWERS if runner.seconds(5) >= 5 else FOLLOWERS // 6
    return [installs(runner, ONE_WAY_MS, followers)]


def installs(runner: Runner, one_way_ms: tuple[int, ...], followers: int) -> MarkdownTable:
    """Measures `followers` on each way, in turn."""
    found: dict[tuple[int, str], list[InstallingFigures]] = {(ms, who): [] for ms in one_way_ms for who in WAYS}
    for run in range(runner.runs):
        for (ms, who), mine in found.items():
            runner.tell(f"installing: {who}, {ms} ms, run {run + 1} of {runner.runs}")
            plan = InstallingPlan(one_way_s=ms / 1000, followers=followers, **WAYS[who]._asdict())
            figures = program("installing", plan, runner.setting.server_core, InstallingFigures)
            mine.append(figures)
            told: dict[str, float] = {
                "away": figures.away,
                "installing": figures.installing,
                "after": figures.after,
                "twice": figures.twice,
            }
            runner.keep(Record(benchmark="installing", who=f"{who}, {ms} ms", run=run, figures=told))
    head = [
        "one way ms",
        "from",
        "answer p50 ms",
        "p99 ms",
        "told true",
        "missed: before it was asked",
        "while it was made",
        "behind the answer",
        "twice",
        "missed and twice",
        "frames each",
    ]
    rows = [_row(ms, who, mine) for (ms, who), mine in found.items()]
    notes = [
        f"{followers} subscriptions in a run. Each topic has 20 events a second at the first site; everybody comes to the second one.",
        "Frames are those of all links, but deliveries and heartbeats, for each subscription and the one before it.",
    ]
    return MarkdownTable("Subscriptions that are made while topics go on", head, rows, notes)


def _row(ms: int, who: str, mine: list[InstallingFigures]) -> list[str]:
    wrong = sum(each.away + each.installing + each.after + each.twice for each in mine)
    subscriptions = sum(each.answers.count for each in mine)
    recovers = WAYS[who].recovers
    return [
        f"{ms}",
        who,
        spread([each.answers.p50_ms for each in mine], ".0f"),
        spread([each.answers.p99_ms for each in mine], ".0f"),
        f"{sum(each.recovered for each in mine)} of {subscriptions}" if recovers else "",
        f"{sum(each.away for each in mine)}",
        f"{sum(each.installing for each in mine)}",
        f"{sum(each.after for each in mine)}",
        f"{sum(each.twice for each in mine)}",
        verdict(wrong, 0) if recovers else "",
        spread([each.frames / each.answers.count for each in mine], ".1f"),
    ]
