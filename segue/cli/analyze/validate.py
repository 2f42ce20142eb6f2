"""`segue analyze validate`."""

from pathlib import Path
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from infra.kernel.printable import printable

from ..palette import BAD, GREEN, WARN
from .bars import Bars

if TYPE_CHECKING:
    from analytics.validation import Report


@click.command()
@click.argument("folder", metavar="DIR", type=click.Path(path_type=Path))
def validate(folder: Path) -> None:
    """Read every row of the trace DIR and say what is wrong with it; exit with 2 if something makes it unfit."""
    from analytics import validation
    from analytics.trace import Trace

    console = Console()
    with Progress(console=console, transient=True) as bars:
        report = validation.validate(Trace.open(folder), Bars(bars).show)
    _print(report, console)
    if report.errors:
        raise click.exceptions.Exit(2)


def _print(report: "Report", console: Console) -> None:
    for defect in report.defects:
        style = BAD if defect.severity == "error" else WARN
        console.print(Text.assemble((f"{defect.severity}: ", style), printable(str(defect))), soft_wrap=True)
    rows = ", ".join(f"{count:,} {table}" for table, count in report.rows.items()) or "no rows"
    verdict = "valid" if not report.errors else "not valid"
    summary = f"{verdict}: {rows} (errors: {report.errors}, warnings: {report.warnings})"
    console.print(Text(printable(summary), style=BAD if report.errors else GREEN), soft_wrap=True)
