"""Broker interest: memory per row and look-ups a second with ten million rows in one process (SB-22)."""

from ..micro.interest import InterestFigures
from ..process import micro
from ..runner import Record, Runner
from ..table import MarkdownTable, median, spread, verdict

ROWS = 10_000_000
MOST_BYTES = 150.0
LEAST_LOOKUPS = 500_000.0
# SB-22: what the paper's service would have to hold, one row for each pair in the worst case.
PAIRS = 600_000_000
SERVER_BYTES = 64 << 30
USED_SHARE = 0.5


def measure(runner: Runner) -> list[MarkdownTable]:
    """Measures the broker's own core, with announcements in bulks like an aggregator's. `--seconds` under 5 takes a tenth of the rows."""
    rows = ROWS if runner.seconds(5) >= 5 else ROWS // 10
    found = []
    for run in range(runner.runs):
        runner.tell(f"interest: {rows:,} rows, run {run + 1} of {runner.runs}")
        figures = micro("interest", rows, runner.setting.server_core, InterestFigures)
        runner.keep(Record(benchmark="interest", who="broker core", run=run, figures=figures.plain()))
        found.append(figures)
    row_bytes = [figures.bytes_per_row for figures in found]
    lookups = [figures.lookups_per_s for figures in found]
    table = [
        ["bytes per row", spread(row_bytes, ".0f"), verdict(median(row_bytes), MOST_BYTES)],
        ["rows per GB", f"{1e9 / median(row_bytes):,.0f}", ""],
        ["look-ups/s", spread(lookups, ",.0f"), verdict(median(lookups), LEAST_LOOKUPS, most=False)],
        ["events matched, numbered and queued to a link, per s", spread([figures.matches_per_s for figures in found], ",.0f"), ""],
        ["rows announced per s", spread([figures.announced_per_s for figures in found], ",.0f"), ""],
    ]
    title = f"Broker interest: {rows:,} rows in one process"
    return [MarkdownTable(title, ["what", "how much", "target"], table, [at_full_size(median(row_bytes))])]


def at_full_size(row_bytes: float) -> str:
    """Returns what all pairs of the paper's service would take, with so many bytes for a row."""
    servers = -(-PAIRS * row_bytes // (SERVER_BYTES * USED_SHARE))
    return (
        f"600 million (topic, aggregator) pairs take {PAIRS * row_bytes / 1e9:.0f} GB if no two share a topic (SB-22): "
        f"{servers:.0f} servers of {SERVER_BYTES >> 30} GiB that give {USED_SHARE:.0%} of it to interest."
    )
