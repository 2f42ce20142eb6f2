"""What both commands do around their work: read the trace, say what is going on, print what came of it, and write it down."""

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ..palette import GREEN, QUIET

# Where nobody says how wide it is, a table is as wide as it needs to be.
_PIPE: Final = 160

if TYPE_CHECKING:
    import msgspec

    from analytics.planning.report.sheet import Sheet
    from analytics.planning.workload import Workload


def outlet() -> Console:
    """Where tables go."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(width=_PIPE, highlight=False)


@contextmanager
def loaded(trace: Path, service: str, console: Console) -> "Iterator[tuple[Workload, Callable[[str], None]]]":
    """The workload, and a function that says what comes next: on a terminal in place, elsewhere line by line."""
    from analytics.planning.workload import load

    began_s = time.perf_counter()
    with console.status("") as status:

        def begun(step: str) -> None:
            status.update(step)
            if not console.is_terminal:
                console.print(f"{time.perf_counter() - began_s:6.1f} s  {step}", highlight=False)

        begun("reading the trace")
        yield load(trace, service), begun


def show(told: str, sheets: "Iterable[Sheet]", answers: list[str], notes: list[str], console: Console) -> None:
    """Print what was planned on, the tables that have rows, and what they come to, in words."""
    console.print(Text(told), soft_wrap=True)
    for sheet in sheets:
        if sheet.rows:
            _print(sheet, console)
    for line in answers:
        console.print(Text(line), soft_wrap=True)
    for note in notes:
        console.print(Text(f"- {note}", style=QUIET), soft_wrap=True)


def folder_for(trace: Path, out: Path | None) -> Path:
    """The folder of the report: `out`, or TRACE-plan beside the trace."""
    return out or trace.resolve().with_name(f"{trace.resolve().name}-plan")


def write(page: str, path: Path, study: "msgspec.Struct", json: Path | None, console: Console) -> None:
    """Writes the page, and the numbers if they are wanted, and says where. Raises OSError."""
    import msgspec

    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page, encoding="utf-8")
    if json is not None:
        json.write_bytes(msgspec.json.format(msgspec.json.encode(study)) + b"\n")
        console.print(Text(str(json), style=GREEN), soft_wrap=True)
    console.print(Text(str(path), style=GREEN), soft_wrap=True)


def _print(sheet: "Sheet", console: Console) -> None:
    """Words to the left, numbers to the right, notes under them."""
    table = Table(box=box.SIMPLE_HEAD, title=Text(sheet.title), title_justify="left")
    for number, name in enumerate(sheet.head):
        table.add_column(Text(name), justify="left" if number < sheet.words else "right", overflow="fold")
    for row in sheet.rows:
        table.add_row(*map(Text, row))
    console.print(table)
    for note in sheet.notes:
        console.print(Text(note, style=QUIET), soft_wrap=True)
