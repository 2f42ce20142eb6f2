"""What it costs to ask who may see what: the policy `social` beside `open`, for each delivery and for a subscribe of 60 topics."""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import msgspec

from ..comparison import Comparison, Contender
from ..friendships import write_friendships
from ..micro.subscribing import SubscribingFigures, SubscribingPlan
from ..plan import Go, Target
from ..runner import Record, Runner
from ..servers.segue import one_process
from ..setting import BenchSetting
from ..shape import WorkloadShape
from ..table import MarkdownTable, median, spread, verdict
from ..workload import GeneratedWorkload
from .stored import program, timed

SOCIAL, OPEN = "social", "open"
# Without a notification module: its answers would come to clients in between.
ROLES: Final = "broker,social,aggregator,accesspoint"
MOST_TIMES_OPEN: Final = 1.01
HOW: Final = {"publishing": "ndjson", "batch": 32}
USERS: Final = 20
TOPICS: Final = 60
RATE: Final = 50.0
SECONDS: Final = 20.0
MOST_KNOWN_MS: Final = 5.0
MOST_NEW_MS: Final = 20.0


@contextmanager
def guarded(setting: BenchSetting, policy: str, state: Path) -> Iterator[Target]:
    """Runs `segue up` under `policy`. The social service runs in any case, and finds its friendships in the folder `state`."""
    with one_process(msgspec.structs.replace(setting, state=state), ["--roles", ROLES, "--policy", policy]) as target:
        yield target


@contextmanager
def _acquainted(runner: Runner, pairs: Iterable[tuple[str, str]]) -> Iterator[Path]:
    """Yields a folder for the state of a site where the users of each pair are friends."""
    with tempfile.TemporaryDirectory(prefix="friends-", dir=runner.setting.scratch) as folder:
        write_friendships(Path(folder), pairs)
        yield Path(folder)


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures deliveries and subscribes under both policies in turn."""
    return [*deliveries(runner, WorkloadShape()), subscribes(runner)]


def deliveries(runner: Runner, shape: WorkloadShape) -> list[MarkdownTable]:
    """Measures the CPU of a delivery to friends. Each pair of runs, which follow each other, gives one ratio."""
    pairs = ((f"bench{n}", f"{shape.prefix}{topic}") for n, topics in enumerate(GeneratedWorkload(shape).follows) for topic in topics)
    with _acquainted(runner, pairs) as state:
        contenders = [Contender(policy, partial(guarded, policy=policy, state=state), HOW) for policy in (SOCIAL, OPEN)]
        comparison = Comparison(runner, "authorization", contenders, Go(seconds=runner.seconds(10)), shape=shape)
    both = zip(comparison.results[SOCIAL], comparison.results[OPEN], strict=True)
    ratios = [one.cpu_s_per_100k / max(other.cpu_s_per_100k, 1e-9) for one, other in both]
    least = [min(each.cpu_s_per_100k for each in comparison.results[policy]) for policy in (SOCIAL, OPEN)]
    of_least = least[0] / max(least[1], 1e-9)
    rows = [
        ["of each pair of runs", spread(ratios, ".3f"), verdict(median(ratios), MOST_TIMES_OPEN)],
        ["the least of all runs", f"{of_least:.3f}", verdict(of_least, MOST_TIMES_OPEN)],
    ]
    return [
        comparison.table("Who may see what: deliveries to friends, all roles in one process, HTTP batches of 32, social mix"),
        MarkdownTable("CPU of a delivery under the policy social", ["which", "times open", "target"], rows),
    ]


def subscribes(runner: Runner) -> MarkdownTable:
    """Measures subscribes in an open loop: topics that nobody has asked for, then the same ones again."""
    found: dict[str, list[SubscribingFigures]] = {SOCIAL: [], OPEN: []}
    for run in range(runner.runs):
        for policy, mine in found.items():
            runner.tell(f"authorization: subscribes, {policy}, run {run + 1} of {runner.runs}")
            mine.append(_subscribing(runner, policy, run))
    head = ["policy, and what it knows", "subscribes", "p50 ms", "p99 ms", "max ms", "target"]
    kinds = [
        ("social, verdicts cached", [each.known for each in found[SOCIAL]], MOST_KNOWN_MS),
        ("social, verdicts asked for", [each.new for each in found[SOCIAL]], MOST_NEW_MS),
        ("open", [each.new for each in found[OPEN]], None),
    ]
    rows = [
        [who, f"{sum(each.count for each in mine):,}", *timed(mine), verdict(median([each.p99_ms for each in mine]), most) if most else ""]
        for who, mine, most in kinds
    ]
    return MarkdownTable(f"Subscribes of {TOPICS} topics, {RATE:g} times a second, friendships on SQLite", head, rows)


def _subscribing(runner: Runner, policy: str, run: int) -> SubscribingFigures:
    nowhere = Target(speaks="segue", clients_at="", pids=[])
    plan = SubscribingPlan(target=nowhere, users=USERS, topics=TOPICS, rate=RATE, number=int(RATE * runner.seconds(SECONDS)))
    with _acquainted(runner, plan.friendships()) as state, guarded(runner.setting, policy, state) as target:
        plan = msgspec.structs.replace(plan, target=target)
        figures = program("subscribing", plan, runner.setting.generator_core, SubscribingFigures)
    told = {"new_p50_ms": figures.new.p50_ms, "new_p99_ms": figures.new.p99_ms}
    told |= {"known_p50_ms": figures.known.p50_ms, "known_p99_ms": figures.known.p99_ms}
    runner.keep(Record(benchmark="authorization", who=f"subscribes, {policy}", run=run, figures=told))
    return figures
