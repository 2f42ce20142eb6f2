"""`segue analyze characterize`: what a trace looks like, as figures and as a page."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from infra.kernel.trace import DIAGNOSTIC, SERVICES

from ..palette import GREEN, QUIET
from ..steps import told_steps

if TYPE_CHECKING:
    from analytics.summary import WorkloadSummary

_FOLDER: Final = click.Path(path_type=Path, file_okay=False)
_HEADLINES: Final = ("subscribers", "topics", "pairs", "events", "notifications")


@click.command()
@click.argument("trace", type=_FOLDER)
@click.option("--out", type=_FOLDER, help="Folder to make; TRACE-report without it.")
@click.option("--service", type=click.Choice(SERVICES), default="presence", show_default=True, help="Whose topics and subscribers.")
@click.option("--bin-minutes", type=int, help="Width of a point in lines over time.  [default: 60, less for a short period]")
@click.option(
    "--diagnostic",
    metavar="KIND",
    multiple=True,
    default=DIAGNOSTIC,
    show_default=True,
    help="A kind of event that is left out; may be repeated. Replaces the kinds below.",
)
@click.option("--bootstraps", type=int, default=50, show_default=True, help="Replications behind the p of each fit; 0: no p.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of samples and fits.")
@click.option("--master", metavar="URL", help="A Spark master; all cores of this machine without it.")
@click.option(
    "--memory", "memory_gb", type=click.IntRange(min=1), metavar="GB", help="Of Spark on this machine; a third without it, at most 8."
)
@click.option("--scratch", type=_FOLDER, help="Where Spark puts what does not fit in memory.")
@click.option("--report/--no-report", default=True, help="Write report.html as well.")
def characterize(trace: Path, out: Path | None, *, report: bool, **chosen: object) -> None:
    """Compute every metric and figure that TRACE supports, and write summary.json, curves/ and report.html (docs/characterize.md)."""
    from analytics.characterization.job import characterize as run
    from analytics.characterization.options import Options

    target = out or trace.resolve().with_name(f"{trace.resolve().name}-report")
    console = Console()
    began_s = time.perf_counter()
    with told_steps(console) as begun:
        summary = run(trace, target, Options(report=report, **chosen), begun)  # type: ignore[arg-type]
    show(summary, target, time.perf_counter() - began_s, console)


def show(summary: "WorkloadSummary", folder: Path, took_s: float, console: Console) -> None:
    """Prints what was found (`summary`), where it is (`folder`), and how long it took, in seconds."""
    from analytics.numbers import duration

    table = Table(box=box.SIMPLE, show_header=False)
    for name in _HEADLINES:
        if name in summary.measures:
            table.add_row(name, f"{summary.measures[name]:,.10g}")
    if "days" in summary.measures:
        table.add_row("period", " ".join(duration(summary.measures["days"])))
    for key, fit in summary.fits.items():
        table.add_row(f"tail of {key}", fit.verdict)
    dropped = sum(summary.filter.dropped.values())
    table.add_row("left out", f"{dropped:,} of {summary.filter.rows:,} publications ({', '.join(summary.filter.kinds) or 'no kind'})")
    console.print(table)
    missing = f"; {len(summary.skipped)} figures and measures are not there, and the summary says why" if summary.skipped else ""
    console.print(Text(f"{len(summary.rows)} figures in {took_s:.0f} s{missing}", style=QUIET))
    console.print(Text(str(folder), style=GREEN), soft_wrap=True)
