"""The tables of studies, as files and for readers."""

import csv
import io
from typing import Final

from analytics.numbers import number
from analytics.planning.report.sheet import Sheet

from .study import StudyTable

# A page shows so many rows of a table at most; its file has all.
SHOWN: Final = 24


def as_csv(table: StudyTable) -> str:
    """Returns the table as its file has it, with eight digits of each number."""
    written = io.StringIO()
    rows = csv.writer(written, lineterminator="\n")
    rows.writerow(table.head)
    rows.writerows([_exact(cell) for cell in row] for row in table.rows)
    return written.getvalue()


def as_sheet(table: StudyTable) -> Sheet:
    """Returns the table for readers: rounded, and some of its rows if there are many."""
    rows = table.rows
    kept = rows if len(rows) <= SHOWN else [rows[round(at * (len(rows) - 1) / (SHOWN - 1))] for at in range(SHOWN)]
    notes = (f"{len(kept)} of {len(rows):,} rows; the file has all.",) if len(kept) < len(rows) else ()
    words = min((_words(row) for row in rows), default=0)
    return Sheet(_title(table.name), table.head, [tuple(map(_rounded, row)) for row in kept], words, notes)


def _words(row: tuple[float | str, ...]) -> int:
    """Returns how many cells of the row are words before the first number."""
    return next((at for at, cell in enumerate(row) if not isinstance(cell, str)), len(row))


def _title(name: str) -> str:
    words = name.replace("-", " ")
    return f"{words[:1].upper()}{words[1:]}"


def _exact(cell: float | str) -> str:
    if isinstance(cell, str):
        return cell
    return f"{cell:.0f}" if float(cell).is_integer() else f"{cell:.8g}"


def _rounded(cell: float | str) -> str:
    return cell if isinstance(cell, str) else number(cell)
