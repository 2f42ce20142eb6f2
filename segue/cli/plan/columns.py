"""Tables that fit into the width of a terminal. Words may be wrapped, numbers never are."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from rich import box
from rich.cells import cell_len
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from analytics.planning.report.sheet import Sheet

# The width that rich puts between two columns of this box, and once more at its edges.
_BETWEEN: Final = 3
_EDGES: Final = 1


def fitted(sheet: "Sheet", room: int) -> Iterator[Table]:
    """Yields `sheet` as tables of at most `room` characters.

    One table is enough where the heads may be wrapped into several lines. Else there are several, each with the words and as many of the
    numbers as fit beside them.
    """
    columns = list(zip(sheet.head, *sheet.rows, strict=True))
    whole = [max(map(cell_len, column)) for column in columns]
    if _taken(whole) <= room:
        yield _table(sheet, range(len(whole)), whole)
        return
    words, numbers = columns[: sheet.words], columns[sheet.words :]
    is_wide = _taken(whole[: sheet.words]) > room // 2
    least = [max(map(_longest_word, column)) for column in words] if is_wide else whole[: sheet.words]
    least += [max(_longest_word(column[0]), *map(cell_len, column[1:])) for column in numbers]
    for shown in _shares(least, sheet.words, room):
        yield _table(sheet, shown, least)


def _shares(widths: list[int], words: int, room: int) -> Iterator[list[int]]:
    """Yields the columns of each table."""
    beside = list(range(words))
    shown = [*beside]
    for number in range(words, len(widths)):
        if len(shown) > words and _taken([widths[each] for each in (*shown, number)]) > room:
            yield shown
            shown = [*beside]
        shown.append(number)
    yield shown


def _table(sheet: "Sheet", shown: Sequence[int], widths: list[int]) -> Table:
    """Returns a table of the columns `shown`: words are aligned to the left, numbers to the right."""
    table = Table(box=box.SIMPLE_HEAD)
    for each in shown:
        if each < sheet.words:
            table.add_column(Text(sheet.head[each]), min_width=widths[each])
        else:
            table.add_column(Text(sheet.head[each]), justify="right", width=widths[each])
    for row in sheet.rows:
        table.add_row(*(Text(row[each]) for each in shown))
    return table


def _taken(widths: Sequence[int]) -> int:
    return sum(widths) + _BETWEEN * len(widths) + _EDGES


def _longest_word(text: str) -> int:
    return max(map(cell_len, text.split()), default=0)
