"""One event to a million followers, streamed into the notification module, against the bare store (SB-37)."""

import shutil
import tempfile
from pathlib import Path
from typing import Final

import msgspec

from ..micro import bare_rows, fan_out
from ..runner import Runner
from ..servers.stored import StoredSite, StoreName
from ..table import MarkdownTable, median, spread, verdict
from .stored import WHO, on_each_store, program

# Cassandra shares the cores with all others and decides a few thousand rows a second, so a million would take too long.
FOLLOWERS: Final[dict[StoreName, int]] = {"sqlite": 1_000_000, "cassandra": 100_000}
BARE_MOST: Final[dict[StoreName, int]] = {"sqlite": 1_000_000, "cassandra": 20_000}
DECIDE_S: Final = 90.0
LEAST_SHARE: Final = 0.8
MOST_MB: Final = 200.0
MOST_TIMES_IDLE: Final = 5.0


class Pair(msgspec.Struct, frozen=True, kw_only=True):
    """One run of the module, and of the bare store before it."""

    followers: int
    module: fan_out.FanOutFigures
    bare: bare_rows.BareRowsFigures

    @property
    def taken_per_s(self) -> float:
        """Rows of the log that the intake wrote a second."""
        return self.followers / self.module.taken_s

    @property
    def decided_per_s(self) -> float:
        """Followers a second from the first byte until the last was decided."""
        return self.module.decided / self.module.decided_s


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures once on each store, because a million followers take minutes. `--seconds 0.5` takes a tenth of them, and so on."""
    seconds = runner.seconds(5)

    def one(target: StoredSite) -> Pair:
        followers = max(1000, int(FOLLOWERS[target.store] * min(1.0, seconds / 5)))
        bare = _bare(runner, target, min(followers, BARE_MOST[target.store]))
        plan = fan_out.FanOutPlan(target=target, followers=followers, idle_s=seconds, decide_s=DECIDE_S)
        return Pair(followers=followers, bare=bare, module=program("fan_out", plan, runner.setting.generator_core, fan_out.FanOutFigures))

    found = on_each_store(runner, "fan_out", 1, one)
    tables = [_table(store, pairs) for store, pairs in found.figures.items()]
    return [*tables, *(MarkdownTable("Fan-out: the other store", ["store", "why not"], [row]) for row in found.absent(2))]


def _bare(runner: Runner, target: StoredSite, followers: int) -> bare_rows.BareRowsFigures:
    folder = Path(tempfile.mkdtemp(prefix="bare-", dir=runner.setting.scratch))
    keyspace = f"bare_{target.keyspace}"
    plan = bare_rows.BareRowsPlan(store=target.store, followers=followers, path=str(folder), port=target.port, keyspace=keyspace)
    try:
        return program("bare_rows", plan, runner.setting.server_core, bare_rows.BareRowsFigures)
    finally:
        shutil.rmtree(folder)


def _decided(pair: Pair) -> str:
    if pair.module.decided == pair.followers:
        return f"{pair.module.decided_s:.1f}"
    return f"{pair.followers / pair.decided_per_s:.0f} at the rate of the {pair.module.decided:,} that were in {pair.module.decided_s:.0f}"


def _table(store: StoreName, pairs: list[Pair]) -> MarkdownTable:
    shares = [pair.taken_per_s / pair.bare.logged_per_s for pair in pairs]
    whole = [pair.decided_per_s / pair.bare.all_per_s for pair in pairs]
    grown = [pair.module.grown_bytes / 1e6 for pair in pairs]
    times = [pair.module.during.p99_ms / max(pair.module.idle.p99_ms, 1e-3) for pair in pairs]
    wrong = sum(pair.module.audit.wrong + pair.module.copies_lost for pair in pairs)
    rows = [
        ["rows/s of the intake", spread([pair.taken_per_s for pair in pairs], ",.0f"), ""],
        ["rows/s of the bare store", spread([pair.bare.logged_per_s for pair in pairs], ",.0f"), ""],
        ["intake to bare", spread(shares, ".2f"), verdict(median(shares), LEAST_SHARE, most=False)],
        ["seconds until all were taken", spread([pair.module.taken_s for pair in pairs], ".1f"), ""],
        ["seconds until all were decided", ", ".join(map(_decided, pairs)), ""],
        ["everything kept, to the bare store's four rows each", spread(whole, ".2f"), ""],
        ["memory growth, MB", spread(grown, ".0f"), verdict(max(grown), MOST_MB)],
        ["p99 ms of other events, idle", spread([pair.module.idle.p99_ms for pair in pairs], ".1f"), ""],
        ["the same while it is taken", spread([pair.module.taking.p99_ms for pair in pairs], ".1f"), ""],
        ["the same until it is decided", spread([pair.module.during.p99_ms for pair in pairs], ".1f"), ""],
        ["times idle", spread(times, ".1f"), verdict(median(times), MOST_TIMES_IDLE)],
        ["requests that had to be repeated", str(sum(pair.module.repeated for pair in pairs)), ""],
        ["rows and items lost, doubled or of nobody; copies lost", str(wrong), verdict(wrong, 0)],
    ]
    return MarkdownTable(f"Fan-out: one event to {pairs[0].followers:,} followers on {WHO[store]}", ["what", "how much", "target"], rows)
