"""The table of a drill: promised beside measured, for people and as JSON."""

from typing import Any, Final

from rich.table import Table
from rich.text import Text

from segue.cli.palette import BAD, GREEN, QUIET

from .ledger import DrillMeasured
from .play import DrillOutcome
from .rows import DrillPromise, DrillRow

_COLUMNS: Final = {
    "again_s": "again, s",
    "missing": "missing",
    "twice": "twice",
    "out_of_order": "order",
    "undetected": "hidden",
    "told": "told",
}
# What few rows promise has one column.
_RARE: Final = {
    "unrecovered": "away",
    "anew": "anew",
    "uncounted": "uncounted",
    "untold": "untold",
    "mistold": "mistold",
    "answer_s": "answer, s:",
    "memory": "memory, %:",
}


def table(outcomes: list[DrillOutcome], way: str) -> Table:
    """Returns the table of rows that were played in a `way`. A cell has what was measured, and the most that is promised."""
    title = f"{way.capitalize()}: measured, and the most that is promised. again: until everybody is served as before"
    made = Table(title=title, title_justify="left", title_style=QUIET, box=None, pad_edge=False, padding=(0, 1, 0, 0))
    made.add_column("what", header_style=QUIET, min_width=24)
    made.add_column("kinds with", header_style=QUIET, no_wrap=True)
    for name in (*_COLUMNS.values(), "of", "took"):
        made.add_column(name, justify="right", header_style=QUIET, no_wrap=True)
    made.add_column("and", header_style=QUIET)
    for each in outcomes:
        for n, (kind, found) in enumerate(each.measured.items()):
            promised = each.row.promised(kind)
            cells = (cell(getattr(found, name), getattr(promised, name)) for name in _COLUMNS)
            of = Text(f"{found.delivered + found.missing:,}", BAD * (not found.delivered))
            made.add_row("" if n else each.row.what, kind, *cells, of, "" if n else f"{each.seconds:.0f} s", rare(found, promised))
    return made


def rare(found: DrillMeasured, promised: DrillPromise) -> Text:
    """Returns what few rows promise, where this one does: each measure beside the most that is promised."""
    made = {name: most for name in _RARE if (most := getattr(promised, name)) is not None}
    return Text("; ").join(Text(f"{_RARE[name]} ", QUIET) + cell(getattr(found, name), most) for name, most in made.items())


def cell(found: float, most: float | None) -> Text:
    """Returns what was measured beside what is promised; red where a promise is broken, quiet where there is none."""
    if most is None:
        return Text(f"{found:,g}", QUIET)
    return Text(f"{found:,g} > {most:g}", BAD) if found > most else Text(f"{found:,g} ≤ {most:g}" if most else f"{found:,g}", GREEN)


def said(row: DrillRow, kind: str) -> str:
    """Returns what a row promises of a kind of topics, in words, without what all rows promise."""
    promise = row.promised(kind)
    again = "" if promise.again_s is None else f"again in {promise.again_s:g} s" if promise.again_s else "nobody waits"
    missing = "" if promise.missing is None else f"{promise.missing} missing"
    told = "nobody told of a gap" if promise.told == 0 else ""
    away = "also for who was away" if promise.unrecovered == 0 else ""
    counted = "numbers count what is missing" if promise.uncounted == 0 else ""
    reason = "" if row.tells is None else row.tells.reason
    exact = f"`{reason}` to all who are concerned, and nothing else" if promise.untold == promise.mistold == 0 else ""
    at_once = "" if promise.answer_s is None else f"in {promise.answer_s:g} s"
    memory = "" if promise.memory is None else f"memory at most {promise.memory:g} %"
    return "; ".join(filter(None, (missing, counted, away, told, exact, at_once, memory, again))) or "-"


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
