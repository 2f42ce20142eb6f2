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
    "told": "told",
    "unrecovered": "away",
    "anew": "anew",
}


def table(outcomes: list[DrillOutcome], way: str) -> Table:
    """Returns the table of rows that were played in a `way`. A cell has what was measured, and the most that is promised."""
    title = f"{way.capitalize()}: measured, and the most that is promised. again: until everybody is served as before"
    made = Table(title=title, title_justify="left", title_style=QUIET, box=None, pad_edge=False, padding=(0, 1, 0, 0))
    made.add_column("what", header_style=QUIET, min_width=24)
    made.add_column("kinds with", header_style=QUIET, no_wrap=True)
    for name in (*_COLUMNS.values(), "of", "took"):
        made.add_column(name, justify="right", header_style=QUIET, no_wrap=True)
    for each in outcomes:
        for n, (kind, found) in enumerate(each.measured.items()):
            cells = (cell(getattr(found, name), getattr(each.row.promised(kind), name)) for name in _COLUMNS)
            of = Text(f"{found.delivered + found.missing:,}", BAD * (not found.delivered))
            made.add_row("" if n else each.row.what, kind, *cells, of, "" if n else f"{each.seconds:.0f} s")
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
    told = "nobody told of a gap" if promise.told == 0 else ""
    away = "also for who was away" if promise.unrecovered == 0 else ""
    return "; ".join(filter(None, (missing, away, told, again))) or "-"


def document(outcomes: list[DrillOutcome], way: str) -> dict[str, Any]:
    """Returns the same for programs."""
    return {
        "way": way,
        "rows": [
            {
                "name": each.row.name,
                "what": each.row.what,
                "kinds": {
                    kind: {"promised": each.row.promised(kind)._asdict(), "measured": found._asdict(), "broken": each.broken(kind)}
                    for kind, found in each.measured.items()
                },
                "seconds": each.seconds,
                "is_good": each.is_good,
            }
            for each in outcomes
        ],
    }
