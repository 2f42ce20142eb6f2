"""`segue overlay compare`: all systems on the same workload, churn, latencies and seeds."""

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import click
from rich.console import Console
from rich.text import Text

from ..output_file import OutputFile, write_output
from ..palette import GREEN
from ..plan.outlets import outlet, show
from .source import SYSTEM_NAMES, read_source, source
from .study_bars import study_bars
from .surroundings import SurroundingOptions, read_surroundings, surroundings

if TYPE_CHECKING:
    from overlay.report.comparison import ComparedSystem

PAGE: Final = "compare.html"


@click.command()
@source
@surroundings
@click.option(
    "--system", "systems", type=click.Choice(SYSTEM_NAMES), multiple=True, help="Only this overlay; may be repeated.  [default: all]"
)
@click.option("--settle", type=click.IntRange(min=1), default=100, show_default=True, help="Cycles of peace before anything is measured.")
@click.option("--events", type=click.IntRange(min=1), default=1000, show_default=True, help="Events for hops, copies and milliseconds.")
@click.option("--churn-cycles", type=click.IntRange(min=2), default=60, show_default=True, help="Cycles of churn.")
@click.option("--harm-cycles", type=click.IntRange(min=2), default=20, show_default=True, help="Cycles of each harm.")
@click.option(
    "--processes", type=click.IntRange(min=1), default=min(2, os.cpu_count() or 1), show_default=True, help="So many systems run at a time."
)
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder of the page and the CSVs; it must not exist yet.")
@click.option("--json", type=OutputFile(), help="Write all numbers to this file.")
def compare(
    trace: Path | None,
    *,
    nodes: int,
    sample: int | None,
    seed: int,
    systems: tuple[str, ...],
    settle: int,
    events: int,
    churn_cycles: int,
    harm_cycles: int,
    churn: Path | None,
    churn_cycle_ms: int,
    round_trips: Path | None,
    unit: Literal["s", "ms", "us"] | None,
    fill_zeros: bool,
    processes: int,
    out: Path,
    json: Path | None,
) -> None:
    """Compare overlays under the same conditions: on TRACE (a folder, a list of edges), or on a made graph of friends (docs/overlay.md)."""
    from analytics.building import building
    from overlay.report import comparison
    from overlay.report.comparison import Conditions
    from overlay.report.side_by_side import side_by_side
    from overlay.report.tables import as_csv, as_sheet

    names, console = systems or SYSTEM_NAMES, outlet()
    conditions = Conditions(seed=seed, settle=settle, events=events, churn_cycles=churn_cycles, harm_cycles=harm_cycles)
    with building(out) as folder:
        name, workload = read_source(trace, nodes, sample, seed, names)
        around = read_surroundings(SurroundingOptions(churn, churn_cycle_ms, round_trips, unit, fill_zeros), workload.nodes)
        with study_bars({each: each for each in names}, console) as told:
            work = {each: partial(comparison.compare, each, workload, conditions, around=around) for each in names}
            found = dict(side_by_side(work, processes, told))
        compared = [found[each] for each in names]
        tables = comparison.tables(compared)
        for each in tables:
            (folder / f"{each.name}.csv").write_text(as_csv(each), encoding="utf-8")
        (folder / PAGE).write_text(comparison.page(name, workload, conditions, tables), encoding="utf-8")
    show(comparison.told(name, workload, conditions), [as_sheet(each) for each in tables[:2]], [], console)
    _write_json(compared, json, console)
    console.print(Text(str(out / PAGE), style=GREEN), soft_wrap=True)


def _write_json(compared: "list[ComparedSystem]", json: Path | None, console: Console) -> None:
    import msgspec

    if json is not None:
        write_output(json, msgspec.json.format(msgspec.json.encode(compared)) + b"\n")
        console.print(Text(str(json), style=GREEN), soft_wrap=True)
