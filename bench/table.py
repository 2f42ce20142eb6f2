"""Tables: Markdown that is also readable in a terminal."""

from collections.abc import Sequence
from typing import NamedTuple


class MarkdownTable(NamedTuple):
    """`notes` are printed under it, one line each."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = ()

    def __str__(self) -> str:
        lines = [list(self.head), *map(list, self.rows)]
        widths = [max(len(line[column]) for line in lines) for column in range(len(self.head))]
        marks = ["-" * width for width in widths]
        text = [_line(cells, widths) for cells in (lines[0], marks, *lines[1:])]
        return "\n".join([f"### {self.title}", "", *text, *(["", *self.notes] if self.notes else []), ""])


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"


def spread(values: Sequence[float], form: str) -> str:
    """Returns the median, and from where to where the values lie: "0.61 (0.58-0.70)"."""
    ordered = sorted(values)
    middle = median(ordered)
    if len(ordered) == 1:
        return format(middle, form)
    return f"{middle:{form}} ({ordered[0]:{form}}-{ordered[-1]:{form}})"


def median(values: Sequence[float]) -> float:
    """Returns the middle value, the lower one of two."""
    return sorted(values)[(len(values) - 1) // 2]


def verdict(value: float, limit: float, *, most: bool = True) -> str:
    """Returns whether `value` keeps its `limit`, as a table says it. `most`: the limit is the most that is allowed, else the least."""
    kept = value <= limit if most else value >= limit
    return f"{'<=' if most else '>='} {limit:g}: {'kept' if kept else 'MISSED'}"
