"""Tables in Markdown that can also be read in a terminal."""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeVar

R = TypeVar("R")
Columns = Sequence[tuple[str, Callable[[R], str]]]
"""The head of each column, and what makes a cell of that out of what a row is about."""


class MarkdownTable(NamedTuple):
    """A table of Markdown. `notes` are printed under it, one a line."""

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


def of_columns(title: str, columns: Columns[R], shown: Iterable[R], notes: Sequence[str] = ()) -> MarkdownTable:
    """Returns a table with a row for each of `shown`. Where there are many `columns`, so the heads stay in step with the cells."""
    return MarkdownTable(title, [head for head, _ in columns], [[cell(each) for _, cell in columns] for each in shown], notes)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "| " + " | ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)) + " |"


def spread(values: Sequence[float], form: str) -> str:
    """Returns the median of `values`, and the least and the greatest behind it: "0.61 (0.58-0.70)". `form` is a format of numbers."""
    ordered = sorted(values)
    middle = median(ordered)
    if len(ordered) == 1:
        return format(middle, form)
    return f"{middle:{form}} ({ordered[0]:{form}}-{ordered[-1]:{form}})"


def median(values: Sequence[float]) -> float:
    """Returns the middle value, the lower one of two."""
    return sorted(values)[(len(values) - 1) // 2]


def verdict(value: float, limit: float, *, most: bool = True) -> str:
    """Returns whether `value` keeps its target. `most`: `limit` is the greatest value allowed; else the least."""
    kept = value <= limit if most else value >= limit
    return f"{'<=' if most else '>='} {limit:g}: {'kept' if kept else 'MISSED'}"
