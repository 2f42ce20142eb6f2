"""The tables of the summary: names on the left, figures on the right, words behind them."""

from rich.table import Table
from rich.text import Text

from segue.cli.palette import BAD, GREEN, QUIET

NAMES_WIDE = 15


def grid(columns: int) -> Table:
    """Returns a table of so many columns. With two, there is room for words behind the figure."""
    table = Table.grid(padding=(0, 2))
    table.add_column(min_width=NAMES_WIDE, no_wrap=True)
    for _ in range(columns - 1):
        table.add_column(justify="right", min_width=8, no_wrap=True)
    if columns == 2:
        table.add_column()
    return table


def row(table: Table, name: str, figure: str, *rest: str) -> None:
    """Adds a row to `table`: a name, a figure, and the `rest`."""
    table.add_row(Text(name, style=QUIET), Text(figure, style="bold"), *(Text(text, style="") for text in rest))


def zero(table: Table, name: str, number: int, words: str = "") -> None:
    """Adds a row to `table` with a number that must be 0, and `words` about it."""
    table.add_row(Text(name, style=QUIET), Text(f"{number:,}", style=BAD if number else f"bold {GREEN}"), Text(words, style=""))
