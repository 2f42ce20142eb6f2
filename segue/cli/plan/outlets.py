"""The frame of both commands: it reads the trace, tells the progress, prints the results and writes the report."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Final

import click
from rich.console import Console
from rich.text import Text

from infra.runtime.stopping import check_stopped
from infra.runtime.whole_file import write_whole

from ..output_file import write_output
from ..palette import GREEN, QUIET
from ..steps import told_steps
from .columns import fitted

# A table is as wide as it needs to be where nothing tells how wide the output is.
_PIPE: Final = 160

if TYPE_CHECKING:
    import msgspec

    from analytics.planning.report.sheet import Sheet
    from analytics.planning.workload import Workload


def outlet() -> Console:
    """Returns the console to which tables go."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(width=_PIPE, highlight=False)


@contextmanager
def loaded(trace: Path, service: str, console: Console) -> "Iterator[tuple[Workload, Callable[[str], None]]]":
    """Yields the workload of `service` in `trace`, and a function that tells the next step on `console` (`told_steps`)."""
    from analytics.planning.workload import load

    with told_steps(console) as begun:
        begun("reading the trace")
        yield load(trace, service), begun


def show(told: str, sheets: "Iterable[Sheet]", notes: list[str], console: Console) -> None:
    """Prints on `console` what was planned on (`told`), those of `sheets` that have rows, and the `notes` that a reader must know."""
    _say(Text(told), console)
    for sheet in sheets:
        if sheet.rows:
            _print(sheet, console)
    console.print()
    for note in notes:
        _say(Text(f"- {note}", style=QUIET), console)


def folder_for(trace: Path, out: Path | None) -> Path:
    """Returns the folder of the report, which `write` makes: `out`, or TRACE-plan beside the trace.

    Raises BadParameter if nothing can be written there.
    """
    folder = (out or trace.resolve().with_name(f"{trace.resolve().name}-plan")).absolute()
    try:
        with TemporaryFile(dir=next(each for each in (folder, *folder.parents) if each.exists())):
            return folder
    except OSError as error:
        raise click.BadParameter(f"{folder}: {error.strerror}; say where the report may be written", param_hint="'--out'") from None


def write(page: str, path: Path, study: "msgspec.Struct", json: Path | None, console: Console) -> None:
    """Writes `page` to `path`, and the numbers of `study` to `json` if that is wanted; tells on `console` where. Raises OSError."""
    import msgspec

    check_stopped()  # a signal while plots were drawn may have got lost in them
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, page.encode())
    if json is not None:
        write_output(json, msgspec.json.format(msgspec.json.encode(study)) + b"\n")
        console.print(Text(str(json), style=GREEN), soft_wrap=True)
    console.print(Text(str(path), style=GREEN), soft_wrap=True)


def _print(sheet: "Sheet", console: Console) -> None:
    """Prints the title, the table in as many pieces as it takes, and its notes under it."""
    console.print()
    console.print(Text(sheet.title, style="bold"), soft_wrap=True)
    for table in fitted(sheet, console.width):
        console.print(table, crop=False)
    for note in sheet.notes:
        _say(Text(note, style=QUIET), console)


def _say(text: Text, console: Console) -> None:
    """Prints `text`, wrapped between words on a terminal. Where a program reads it, one line stays one line."""
    console.print(text, soft_wrap=not console.is_terminal)
