"""The second act in the summary: what was written, how it reached people, and what must be 0."""

from rich.table import Table
from rich.text import Text

from infra.kernel.printable import printable
from segue.cli.palette import QUIET

from .grid import grid, row, zero
from .release_outcome import ReleaseOutcome
from .show import milliseconds
from .store import NAMES


def release_title(outcome: ReleaseOutcome) -> Text:
    """Returns a title: who releases what, for whom."""
    found = outcome.summary
    what = f"   {printable(outcome.artist)} releases an album while {found.asleep:,} of {found.followers:,} followers sleep"
    return Text.assemble(("Stored", "bold"), (what, QUIET))


def releases(outcome: ReleaseOutcome) -> Table:
    """Returns the figures as a table."""
    found = outcome.summary
    table = grid(2)
    where = f"in {NAMES[outcome.store]}, for {found.followers:,} followers and {found.items} releases"
    row(table, "rows written", f"{outcome.rows:,}", where)
    row(table, "delivered live", f"{found.live:,}", _live(outcome))
    row(table, "mailed", f"{found.mailed:,}", "to sleepers who gave an address")
    row(table, "pushed", f"{found.pushed:,}", "to phones, which could decrypt them")
    row(table, "pulled later", f"{found.pulled:,}", "by devices that came back in the morning")
    row(table, "gap closed", f"{found.repaired:,}", "where a live copy was dropped on purpose")
    row(table, "read elsewhere", f"{found.read_elsewhere:,}", "devices told what was read on another")
    table.add_row()
    zero(table, "lost", found.lost)
    zero(table, "shown twice", found.shown_twice)
    zero(table, "mailed awake", found.mails_to_awake, "mails to people who were online")
    zero(table, "unread wrong", found.unread_wrong, "devices with a wrong number at the bell")
    return table


def _live(outcome: ReleaseOutcome) -> str:
    if outcome.summary.live_ms is None:
        return ""
    p50, p99 = map(milliseconds, outcome.summary.live_ms)
    return f"p50 {p50}, p99 {p99} after the job began"
