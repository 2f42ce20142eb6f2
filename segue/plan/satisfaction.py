"""`segue plan satisfaction`: whom to serve when there is not enough for all."""

from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import click
from rich.console import Console
from rich.text import Text

from infra.kernel.trace import SERVICES

from ..palette import QUIET
from .amount import Amount
from .outlets import folder_for, outlet, print_sheet, telling, write

if TYPE_CHECKING:
    from analytics.planning.satisfaction.study import Study

_ALGORITHMS: Final = ("greedy", "improved", "cuckoo")
PAGE: Final = "satisfaction.html"


@click.command()
@click.argument("trace", type=click.Path(path_type=Path, file_okay=False))
@click.option(
    "--threshold",
    "thresholds",
    type=Amount(),
    multiple=True,
    metavar="EVENTS|%",
    default=("1%", "10%", "100%"),
    show_default=True,
    help="What satisfies a subscriber: events, or a share of the mean of a topic; may be repeated.",
)
@click.option(
    "--capacity",
    type=Amount(),
    metavar="EVENTS|%",
    default="10%",
    show_default=True,
    help="Deliveries, or a share of what all topics take.",
)
@click.option("--metric", type=click.Choice(["b3m", "fb3m", "both"]), default="both", show_default=True, help="Whole subscribers or parts.")
@click.option(
    "--algorithm",
    "algorithms",
    type=click.Choice(_ALGORITHMS),
    multiple=True,
    default=_ALGORITHMS,
    show_default=True,
    help="May be repeated.",
)
@click.option("--service", type=click.Choice(SERVICES), default="presence", show_default=True, help="Whose topics and subscribers.")
@click.option("--windows", type=click.IntRange(min=0), default=0, metavar="N", help="Solve the first N hours one by one as well.")
@click.option("--online", is_flag=True, help="And each of those hours from the solution of the one before; needs --windows.")
@click.option("--out", type=click.Path(path_type=Path, file_okay=False), help="Folder of the report; TRACE-plan without it.")
@click.option("--json", type=click.Path(path_type=Path, dir_okay=False), help="Write all numbers to this file.")
def satisfaction(
    trace: Path,
    *,
    thresholds: tuple[int | float, ...],
    capacity: int | float,
    metric: Literal["b3m", "fb3m", "both"],
    algorithms: tuple[Literal["greedy", "improved", "cuckoo"], ...],
    service: str,
    windows: int,
    online: bool,
    out: Path | None,
    json: Path | None,
) -> None:
    """Choose the topics of TRACE to serve within a capacity, so that most subscribers are satisfied (docs/planning.md)."""
    if online and not windows:
        raise click.UsageError("--online goes from hour to hour: say how many with --windows, as --windows 24")
    from analytics.planning.report.satisfaction_page import render
    from analytics.planning.satisfaction.case import METRICS
    from analytics.planning.satisfaction.study import Questions, study
    from analytics.planning.workload import load

    console = outlet()
    with telling(console) as begun:
        begun("reading the trace")
        workload = load(trace, service)
        metrics = METRICS if metric == "both" else (metric,)
        found = study(workload, Questions(thresholds, capacity, metrics, algorithms, windows, online), begun)
    show(found, console)
    write(render(found), folder_for(trace, out) / PAGE, found, json, console)


def show(study: "Study", console: Console) -> None:
    """Print what came out, each value beside its bounds."""
    from analytics.planning.report import satisfaction_tables as tables

    console.print(Text(tables.told(study)), soft_wrap=True)
    for sheet in tables.sheets(study):
        print_sheet(sheet, console)
    for line in tables.more(study):
        console.print(Text(line), soft_wrap=True)
    for note in study.notes:
        console.print(Text(f"- {note}", style=QUIET), soft_wrap=True)
