"""What a subscription misses while it is made, over long ways: from another access point or site, with recovery and without."""

from typing import Final, Literal, NamedTuple

from ..micro.installing import InstallingFigures, InstallingPlan
from ..runner import Record, Runner
from ..table import Columns, MarkdownTable, of_columns, spread, verdict
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


class _MeasuredWay(NamedTuple):
    """The `runs` of a way to come, over one distance."""

    ms: int
    who: str
    runs: list[InstallingFigures]

    @property
    def recovers(self) -> bool:
        """Whether they ask for what they missed."""
        return WAYS[self.who].recovers

    @property
    def subscriptions(self) -> int:
        """How many there were in all runs."""
        return sum(each.answers.count for each in self.runs)

    @property
    def wrong(self) -> int:
        """How many events were missed, or came twice."""
        return sum(each.away + each.installing + each.after + each.twice for each in self.runs)


COLUMNS: Final[Columns[_MeasuredWay]] = (
    ("one way ms", lambda way: f"{way.ms}"),
    ("from", lambda way: way.who),
    ("answer p50 ms", lambda way: spread([each.answers.p50_ms for each in way.runs], ".0f")),
    ("p99 ms", lambda way: spread([each.answers.p99_ms for each in way.runs], ".0f")),
    ("told true", lambda way: f"{sum(each.recovered for each in way.runs)} of {way.subscriptions}" if way.recovers else ""),
    ("missed: before it was asked", lambda way: f"{sum(each.away for each in way.runs)}"),
    ("while it was made", lambda way: f"{sum(each.installing for each in way.runs)}"),
    ("behind the answer", lambda way: f"{sum(each.after for each in way.runs)}"),
    ("twice", lambda way: f"{sum(each.twice for each in way.runs)}"),
    ("missed and twice", lambda way: verdict(way.wrong, 0) if way.recovers else ""),
    ("frames each", lambda way: spread([each.frames / each.answers.count for each in way.runs], ".1f")),
)


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
    notes = [
        f"{followers} subscriptions in a run. Each topic has 20 events a second at the first site; everybody comes to the second one.",
        "Frames are those of all links, but deliveries and heartbeats, for each subscription and the one before it.",
    ]
    ways = [_MeasuredWay(ms, who, mine) for (ms, who), mine in found.items()]
    return of_columns("Subscriptions that are made while topics go on", COLUMNS, ways, notes)
