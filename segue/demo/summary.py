"""The summary of a run for people: what was expected, what arrived, and how quickly."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from segue.cli.palette import QUIET
from segue.cli.top.screen import size

from .ending import verdict
from .grid import grid, row, zero
from .oracle import CROSS_SITE, LOCAL
from .outcome import DemoOutcome
from .privacy_summary import privacy, privacy_title
from .release_summary import release_title, releases
from .show import milliseconds


def summary(outcome: DemoOutcome) -> RenderableType:
    """Returns a summary that rich can print, with or without colours."""
    return Group(
        *_first_act(outcome),
        Text(),
        *_privacy(outcome),
        *_second_act(outcome),
        verdict(outcome.verdicts(), outcome.problems(), outcome.hints()),
    )


def _first_act(outcome: DemoOutcome) -> Iterator[RenderableType]:
    if outcome.release is not None:
        yield Text.assemble(("Live", "bold"), ("   what friends play, while everybody listens", QUIET))
        yield Text()
    yield from (_deliveries(outcome), Text(), _latencies(outcome), Text(), _facts(outcome))


def _privacy(outcome: DemoOutcome) -> Iterator[RenderableType]:
    if outcome.privacy is not None:
        yield from (privacy_title(), Text(), privacy(outcome.privacy), Text())


def _second_act(outcome: DemoOutcome) -> Iterator[RenderableType]:
    if outcome.release is not None:
        yield from (release_title(outcome.release), Text(), releases(outcome.release), Text())


def _deliveries(outcome: DemoOutcome) -> Table:
    found = outcome.summary
    table = grid(2)
    row(table, "plays", f"{found.events:,}", f"in {outcome.seconds:.0f} s, each to all friends of the one who played")
    row(table, "expected", f"{found.expected:,}", "deliveries, counted on the graph of friends alone")
    row(table, "delivered", f"{found.delivered:,}", f"{found.delivered / max(outcome.seconds, 1e-9):,.0f} a second")
    for name, number in (("lost", found.lost), ("duplicated", found.duplicated), ("misrouted", found.misrouted)):
        zero(table, name, number)
    return table


def _latencies(outcome: DemoOutcome) -> Table:
    table = grid(4)
    table.add_row(*(Text(word, style=QUIET) for word in ("latency", "p50", "p99", "max")))
    for name, reach in (("local", LOCAL), ("cross-site", CROSS_SITE)):
        found = outcome.summary.latency_ms[reach]
        row(table, name, *(milliseconds(value) for value in (found.p50, found.p99, found.max)))
    return table


def _facts(outcome: DemoOutcome) -> Table:
    found = outcome.summary
    cross = round(found.delivered * found.cross_site_share)
    table = grid(2)
    row(table, "cross-site", f"{found.cross_site_share:.1%}", f"{cross:,} deliveries from {outcome.site_messages:,} messages between sites")
    memory = "-" if outcome.rss_bytes is None else size(outcome.rss_bytes)
    row(table, "memory", memory, f"for {outcome.users:,} clients and {outcome.sites} sites")
    row(table, "policy", outcome.policy, "who hears what users play: their friends, by default")
    return table
