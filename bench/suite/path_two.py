"""Path 2: from a notice to its copies at the users who are online, a thousand notices a second; path 1 beside it (SB-53)."""

from typing import Final

from ..micro.path_two import PathTwoFigures, PathTwoPlan
from ..runner import Runner
from ..servers.stored import StoredSite
from ..table import MarkdownTable, median, spread, verdict
from .stored import WHO, on_each_store, program, timed

RATE: Final = 1000.0
BATCH: Final = 20
LISTENERS: Final = 100
FOLLOWERS: Final = 2
DIRECT_RATE: Final = 50.0
DIRECT_LISTENERS: Final = 10
SECONDS: Final = 10.0
MOST_P50_MS: Final = 100.0
MOST_P99_MS: Final = 500.0


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures both paths in open loops, in the same process at the same time."""
    seconds = runner.seconds(SECONDS)

    def one(target: StoredSite) -> PathTwoFigures:
        plan = PathTwoPlan(
            target=target,
            listeners=LISTENERS,
            followers=FOLLOWERS,
            rate=RATE,
            batch=BATCH,
            direct_rate=DIRECT_RATE,
            direct_listeners=DIRECT_LISTENERS,
            seconds=seconds,
        )
        return program("path_two", plan, runner.setting.generator_core, PathTwoFigures)

    found = on_each_store(runner, "path_two", runner.runs, one)
    head = ["store", "notices/s", "p50 ms", "p99 ms", "max ms", "path 1: p50 ms", "p99 ms", "max ms", "targets", "wrong"]
    rows = [[WHO[store], *_row(mine)] for store, mine in found.figures.items()]
    notes = [
        f"Notices in arrays of {BATCH}, each to {FOLLOWERS} of {LISTENERS} who are online; beside them {DIRECT_RATE:g} events a second "
        f"through the engine alone, each to {DIRECT_LISTENERS}. Notices/s under {RATE:g}: the module took them no faster."
    ]
    return [MarkdownTable(f"Path 2: {RATE:,.0f} notices a second to who is online", head, rows + found.absent(len(head)), notes)]


def _row(mine: list[PathTwoFigures]) -> list[str]:
    p50_ms, p99_ms = median([each.stored.p50_ms for each in mine]), median([each.stored.p99_ms for each in mine])
    is_faster = all(each.direct.p50_ms < each.stored.p50_ms for each in mine)
    targets = [
        f"p50 {verdict(p50_ms, MOST_P50_MS)}",
        f"p99 {verdict(p99_ms, MOST_P99_MS)}",
        f"path 1 faster: {'kept' if is_faster else 'MISSED'}",
    ]
    return [
        spread([each.notices_per_s for each in mine], ",.0f"),
        *timed([each.stored for each in mine]),
        *timed([each.direct for each in mine]),
        "; ".join(targets),
        _wrong(mine),
    ]


def _wrong(mine: list[PathTwoFigures]) -> str:
    kinds = {name: sum(getattr(each, name) for each in mine) for name in ("lost", "doubled", "repeated")}
    return ", ".join(f"{number:,} {name}" for name, number in kinds.items() if number) or "0"
