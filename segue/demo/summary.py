"""The summary of a run for people: what was promised, what came of it, and how quickly."""

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from segue.palette import BAD, GREEN, QUIET, WARN
from segue.top_screen import size

from .oracle import CROSS_SITE, LOCAL
from .outcome import Outcome
from .show import milliseconds


def summary(outcome: Outcome) -> RenderableType:
    """Something that rich can print, with or without colours."""
    return Group(_deliveries(outcome), Text(), _latencies(outcome), Text(), _facts(outcome), Text(), _verdict(outcome))


def _deliveries(outcome: Outcome) -> Table:
    found = outcome.summary
    grid = _grid(2)
    _row(grid, "plays", f"{found.events:,}", f"in {outcome.seconds:.0f} s, each to all friends of the one who played")
    _row(grid, "expected", f"{found.expected:,}", "deliveries, counted on the graph of friends alone")
    _row(grid, "delivered", f"{found.delivered:,}", f"{found.delivered / max(outcome.seconds, 1e-9):,.0f} a second")
    for name, number in (("lost", found.lost), ("duplicated", found.duplicated), ("misrouted", found.misrouted)):
        grid.add_row(Text(name, style=QUIET), Text(f"{number:,}", style=BAD if number else f"bold {GREEN}"))
    return grid


def _latencies(outcome: Outcome) -> Table:
    grid = _grid(4)
    grid.add_row(*(Text(word, style=QUIET) for word in ("latency", "p50", "p99", "max")))
    for name, reach in (("local", LOCAL), ("cross-site", CROSS_SITE)):
        found = outcome.summary.latency_ms[reach]
        _row(grid, name, *(milliseconds(value) for value in (found.p50, found.p99, found.max)))
    return grid


def _facts(outcome: Outcome) -> Table:
    found = outcome.summary
    cross = round(found.delivered * found.cross_site_share)
    grid = _grid(2)
    _row(grid, "cross-site", f"{found.cross_site_share:.1%}", f"{cross:,} deliveries from {outcome.site_messages:,} messages between sites")
    memory = "-" if outcome.rss_bytes is None else size(outcome.rss_bytes)
    _row(grid, "memory", memory, f"for {outcome.users:,} clients and {outcome.sites} sites")
    return grid


def _verdict(outcome: Outcome) -> Table:
    grid = Table.grid(padding=(0, 1))
    if outcome.is_good:
        grid.add_row(Text("✓", style=GREEN), Text("Every play reached every friend exactly once.", style="bold"))
    for problem in outcome.problems():
        grid.add_row(Text("✗", style=BAD), Text(problem))
    for hint in outcome.hints():
        grid.add_row(Text("→", style=WARN), Text(hint))
    return grid


def _grid(columns: int) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(min_width=10, no_wrap=True)
    for _ in range(columns - 1):
        grid.add_column(justify="right", min_width=8, no_wrap=True)
    if columns == 2:
        grid.add_column()
    return grid


def _row(grid: Table, name: str, figure: str, *rest: str) -> None:
    grid.add_row(Text(name, style=QUIET), Text(figure, style="bold"), *(Text(text, style="") for text in rest))
