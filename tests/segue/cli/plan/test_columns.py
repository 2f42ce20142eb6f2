"""Tables on terminals that are too narrow for them."""

import io

import pytest
from rich.console import Console

from analytics.planning.report import provision_tables, satisfaction_tables
from analytics.planning.report.cheapest import short
from analytics.planning.report.sheet import Sheet
from segue.cli.plan.outlets import show
from tests.support.plans import provisioned, satisfied

NARROW = 80
SHEETS = [
    *satisfaction_tables.sheets(satisfied()).values(),
    satisfaction_tables.short(satisfied()),
    *provision_tables.sheets(provisioned()),
    short(provisioned()),
    Sheet("large", ("way", *(f"number {each}" for each in range(9))), [("RSP+FFBP", *["3,512,345.5 %"] * 9)]),
]


def shown(sheet: Sheet, width: int) -> list[str]:
    """Returns the lines of a terminal of that width."""
    terminal = io.StringIO()
    show("told", [sheet], [], Console(file=terminal, width=width, force_terminal=True, color_system=None))
    return terminal.getvalue().splitlines()


@pytest.mark.parametrize("sheet", [each for each in SHEETS if each.rows], ids=lambda sheet: sheet.title)
def test_no_number_is_broken_on_a_narrow_terminal(sheet: Sheet) -> None:
    lines = shown(sheet, NARROW)
    assert max(map(len, lines)) <= NARROW
    numbers = {number for row in sheet.rows for number in row[sheet.words :]}
    assert not [number for number in numbers if not any(number in line for line in lines)]
    words = {word for row in (sheet.head, *sheet.rows) for cell in row for word in cell.split()}
    assert words <= {word for line in lines for word in line.split()}


def test_what_does_not_fit_goes_below_with_the_words_again() -> None:
    sheet = Sheet("title", ("metric", "best bound", "ratio to it"), [("B3M", "34,871", "0.998"), ("F-B3M", "7", "0.9")])
    assert [line.split() for line in shown(sheet, 24)[2:] if line.strip(" ─")] == [
        ["title"],
        ["best"],
        ["metric", "bound"],
        ["B3M", "34,871"],
        ["F-B3M", "7"],
        ["ratio"],
        ["metric", "to", "it"],
        ["B3M", "0.998"],
        ["F-B3M", "0.9"],
    ]


def test_a_terminal_that_is_wide_enough_has_heads_in_one_line() -> None:
    sheet = satisfaction_tables.solutions(satisfied())
    heads = next(line for line in shown(sheet, 160) if "threshold" in line)
    assert heads.split() == " ".join(sheet.head).split()
