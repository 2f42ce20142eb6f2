"""`segue plan provision`: how many machines are enough, and of which kind."""

from pathlib import Path
from typing import Final

import click

from infra.kernel.suggestion import suggest

from ..finite import Finite
from .options import FOLDER, JSON, OUT, SERVICE, TRACE
from .outlets import folder_for, loaded, outlet, show, write

PAGE: Final = "provision.html"
_ABOVE_0: Final = Finite(min=0, min_open=True)


@click.command()
@TRACE
@click.option(
    "--threshold",
    "thresholds",
    type=click.IntRange(min=1),
    multiple=True,
    metavar="EVENTS",
    default=(10, 100, 1000),
    show_default=True,
    help="What satisfies a subscriber in the whole period; may be repeated.",
)
@click.option("--prices", "book", metavar="BOOK", default="ec2-2013", show_default=True, help="The price book.")
@click.option(
    "--machine", "machines", metavar="NAME", multiple=True, help="A machine of the book; may be repeated.  [default: its first two]"
)
@click.option("--message-bytes", type=click.IntRange(min=1), default=200, show_default=True, help="Size of a message.")
@click.option(
    "--capacity-s",
    "capacities_s",
    type=_ABOVE_0,
    multiple=True,
    metavar="SECONDS",
    help="How long a machine may carry its rate in the period; may be repeated.  [default: 3600, as in the thesis, and the whole period]",
)
@click.option("--hours", type=_ABOVE_0, help="Length of the period that is paid for.  [default: that of the trace]")
@click.option("--baseline", is_flag=True, help="First fit at any size, though it takes long.")
@click.option("--before", type=FOLDER, metavar="TRACE", help="Tell how many pairs move from the plan for that one.")
@SERVICE
@OUT
@JSON
def provision(
    trace: Path,
    *,
    thresholds: tuple[int, ...],
    book: str,
    machines: tuple[str, ...],
    message_bytes: int,
    capacities_s: tuple[float, ...],
    hours: float | None,
    baseline: bool,
    before: Path | None,
    service: str,
    out: Path | None,
    json: Path | None,
) -> None:
    """Find the fewest machines that satisfy everybody in TRACE, and what they cost (docs/planning.md)."""
    from analytics.planning.provisioning.prices import books
    from analytics.planning.provisioning.study import ProvisionQuestions, study
    from analytics.planning.report import provision_tables as tables
    from analytics.planning.report.cheapest import short
    from analytics.planning.report.provision_page import render
    from analytics.planning.workload import load

    known = books()
    if book not in known:
        raise click.UsageError(f"there is no price book {book!r}; {suggest(book, known)}")
    asked = ProvisionQuestions(known[book], thresholds, machines, capacities_s, message_bytes, hours, baseline)
    asked.check()
    console = outlet()
    with loaded(trace, service, console) as (workload, begun):
        page = folder_for(trace, out) / PAGE
        found = study(workload, asked, begun, load(before, service) if before is not None else None)
    show(tables.told(found), [*tables.sheets(found), short(found)], found.notes, console)
    write(render(found), page, found, json, console)
