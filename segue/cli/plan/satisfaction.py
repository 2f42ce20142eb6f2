"""`segue plan satisfaction`: which topics to serve when there is not enough for all."""

from pathlib import Path
from typing import Final, Literal

import click

from .amount import Amount
from .options import JSON, OUT, SERVICE, TRACE
from .outlets import folder_for, loaded, outlet, show, write

_ALGORITHMS: Final = ("greedy", "improved", "cuckoo", "exact")
PAGE: Final = "satisfaction.html"


@click.command()
@TRACE
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
    default=_ALGORITHMS[:3],
    show_default=True,
    help="May be repeated; exact is for small traces.",
)
@SERVICE
@click.option("--windows", type=click.IntRange(min=0), default=0, metavar="N", help="Solve the first N hours one by one as well.")
@click.option("--online", is_flag=True, help="And each of those hours from the solution of the one before; needs --windows.")
@OUT
@JSON
def satisfaction(
    trace: Path,
    *,
    thresholds: tuple[int | float, ...],
    capacity: int | float,
    metric: Literal["b3m", "fb3m", "both"],
    algorithms: tuple[Literal["greedy", "improved", "cuckoo", "exact"], ...],
    service: str,
    windows: int,
    online: bool,
    out: Path | None,
    json: Path | None,
) -> None:
    """Choose the topics of TRACE to serve within a capacity, so that most subscribers are satisfied (docs/planning.md)."""
    if online and windows < 2:
        raise click.UsageError("--online goes from hour to hour: say how many with --windows, 2 or more, as --windows 24")
    from analytics.planning.report import satisfaction_tables as tables
    from analytics.planning.report.satisfaction_page import render
    from analytics.planning.satisfaction.case import METRICS
    from analytics.planning.satisfaction.study import SatisfactionQuestions, study

    asked = SatisfactionQuestions(thresholds, capacity, METRICS if metric == "both" else (metric,), algorithms, windows, online)
    console = outlet()
    with loaded(trace, service, console) as (workload, begun):
        page = folder_for(trace, out) / PAGE
        found = study(workload, asked, begun)
    show(tables.told(found), [*tables.sheets(found).values(), tables.short(found)], found.notes, console)
    write(render(found), page, found, json, console)
