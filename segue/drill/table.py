"""The table of a drill: promised beside measured, for people and as JSON."""

from typing import Any, Final

from rich.table import Table
from rich.text import Text

from segue.cli.palette import BAD, GREEN, QUIET

from .play import DrillOutcome
from .rows import DrillPromise

_COLUMNS: Final = {
    "again_s": "again, s",
    "missing": "missing",
    "twice": "twice",
    "out_of_order": "order",
    "undetected": "hidden",
}


def table(outcomes: list[DrillOutcome], way: str) -> Table:
    """Returns the table of rows that were played in a `way`. A cell has what was measured, and the most that is promised."""
    title = f"Kinds without a window, {way}: measured, and the most that is promised. again: until everybody is served as before"
    made = Table(title=title, title_justify="left", title_style=QUIET, box=None, pad_edge=False, padding=(0, 1, 0, 0))
    made.add_column("what", header_style=QUIET, min_width=24)
    for name in (*_COLUMNS.values(), "of", "took"):
        made.add_column(name, justify="right", header_style=QUIET, no_wrap=True)
    for each in outcomes:
        found = each.measured
        cells = (cell(getattr(found, name), getattr(each.promised, name)) for name in _COLUMNS)
        made.add_row(
            each.row.what, *cells, Text(f"{found.delivered + found.missing:,}", BAD * (not found.delivered)), f"{each.seconds:.0f} s"
        )
    return made


def cell(found: float, most: float | None) -> Text:
    """Returns what was measured beside what is promised; red where a promise is broken, quiet where there is none."""
    if most is None:
        return Text(f"{found:,g}", QUIET)
    return Text(f"{found:,g} > {most:g}", BAD) if found > most else Text(f"{found:,g} ≤ {most:g}" if most else f"{found:,g}", GREEN)


def said(promise: DrillPromise) -> str:
    """Returns a promise in words, without what all rows promise."""
    again = "" if promise.again_s is None else f"again in {promise.again_s:g} s" if promise.again_s else "nobody waits"
    missing = "" if promise.missing is None else f"{promise.missing} missing"
    return "; ".join(filter(None, (missing, again))) or "-"


def document(outcomes: list[DrillOutcome], way: str) -> dict[str, Any]:
    """Returns the same for programs."""
    return {
        "way": way,
        "rows": [
            {
                "name": each.row.name,
                "what": each.row.what,
                "promised": each.promised._asdict(),
                "measured": each.measured._asdict(),
                "seconds": each.seconds,
                "broken": each.broken,
            }
            for each in outcomes
        ],
    }
