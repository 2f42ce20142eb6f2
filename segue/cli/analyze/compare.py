"""`segue analyze compare`."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from rich import box
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from ..palette import QUIET

if TYPE_CHECKING:
    from analytics.comparison.result import ComparisonResult

_FOLDER: Final = click.Path(path_type=Path, file_okay=False)


@click.command()
@click.argument("a", type=_FOLDER)
@click.argument("b", type=_FOLDER)
@click.option("--out", type=_FOLDER, help="The folder to make.  [default: A-vs-B in this folder]")
def compare(a: Path, b: Path, out: Path | None) -> None:
    """Hold the workloads A and B against each other, figure by figure, and say how far they are apart.

    A and B are characterizations; a trace is characterized first, to the folder <TRACE>-report, unless that is there.
    """
    from analytics.comparison import job

    console = Console(highlight=False)
    target = out or Path(f"{_name(a)}-vs-{_name(b)}")
    with Progress(
        SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn(), console=console, transient=True
    ) as progress:
        task = progress.add_task("reading", total=None)
        result = job.compare(a, b, target, lambda step: progress.update(task, description=step))
    show(result, console)
    console.print(Text(f"{target / job.PAGE} shows both in one plot, {target / job.RESULT} has these numbers"), soft_wrap=True)


def show(result: "ComparisonResult", console: Console) -> None:
    """Prints every score in plain words, the largest distance first."""
    from analytics.comparison.page import name, told
    from analytics.comparison.result import thresholds

    table = Table(
        "figure", "as counted", "shape alone", box=box.SIMPLE_HEAD, title=Text(f"{result.a} and {result.b}"), title_justify="left"
    )
    for score in result.scores:
        table.add_row(Text(name(score)), told(score.distance), told(score.shape))
    console.print(table)
    console.print(Text(thresholds(), style=QUIET), soft_wrap=True)
    for why, keys in result.reasons().items():
        console.print(Text(f"not compared: {', '.join(keys)} ({why})", style=QUIET), soft_wrap=True)


def _name(folder: Path) -> str:
    return folder.resolve().name.removesuffix("-report")
