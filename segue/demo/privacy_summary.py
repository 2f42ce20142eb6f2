"""The part of the summary about the privacy act."""

from rich.table import Table
from rich.text import Text

from segue.cli.palette import QUIET

from .grid import grid, row, zero
from .privacy_outcome import PrivacyOutcome


def privacy_title() -> Text:
    """Returns the line above the table."""
    return Text.assemble(("Private", "bold"), ("   one lets nobody hear them, one blocks a friend, one plays in private", QUIET))


def privacy(outcome: PrivacyOutcome) -> Table:
    """Returns the table of what was heard, and of what was not."""
    table = grid(2)
    row(table, "plays", f"{outcome.events:,}", "of these users, and of one who changed nothing")
    row(table, "delivered", f"{outcome.delivered:,}", f"of {outcome.expected:,}, to friends who may still hear them")
    row(table, "withheld", f"{outcome.withheld:,}", "which their friends would have heard before")
    row(table, "ended", f"{outcome.told:,}", f"of {outcome.ended:,} subscriptions, the last told after {outcome.ended_ms:.0f} ms")
    row(table, "refused", f"{outcome.refused:,}", f"of {outcome.attempts:,} tries to follow them again, or as a stranger")
    zero(table, "overheard", outcome.overheard, "by users who must not hear it")
    return table
