"""`segue overlay simulate`: one system on one workload, from nothing until it has settled."""

from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

import click
from rich.console import Console
from rich.text import Text

from ..output_file import OutputFile, write_output
from ..palette import GREEN
from ..plan.outlets import outlet, show
from ..steps import told_steps
from .source import SYSTEM_NAMES, read_source, source
from .surroundings import SurroundingOptions, read_surroundings, surroundings

if TYPE_CHECKING:
    from overlay.report.simulation import SimulatedCycle, SimulatedRun
    from overlay.simulator.systems import WatchedSystem
    from overlay.simulator.workload import OverlayWorkload

PAGE: Final = "overlay.html"
CSV: Final = "cycles.csv"
_POLDERCAST: Final = "poldercast"


@click.command()
@source
@surroundings
@click.option("--system", type=click.Choice(SYSTEM_NAMES), default=_POLDERCAST, show_default=True, help="Which overlay.")
@click.option(
    "--cycles", type=click.IntRange(min=1), default=120, show_default=True, help="The most cycles; it ends when nothing is missed."
)
@click.option("--events", type=click.IntRange(min=1), default=100, show_default=True, help="Events after each cycle, on random topics.")
@click.option("--fanout", type=click.IntRange(min=2), help="poldercast: to how many a node passes an event on.  [default: 2]")
@click.option("--ring", type=click.IntRange(min=2), help="poldercast: neighbours of a node in each ring.  [default: 4]")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder of the page and the CSV; it must not exist yet.")
@click.option("--json", type=OutputFile(), help="Write all numbers to this file.")
def simulate(
    trace: Path | None,
    *,
    nodes: int,
    sample: int | None,
    seed: int,
    system: str,
    cycles: int,
    events: int,
    fanout: int | None,
    ring: int | None,
    churn: Path | None,
    churn_cycle_ms: int,
    round_trips: Path | None,
    unit: Literal["s", "ms", "us"] | None,
    fill_zeros: bool,
    out: Path,
    json: Path | None,
) -> None:
    """Simulate an overlay from a cold start on TRACE, a folder or a list of edges, or on a made graph of friends (docs/overlay.md)."""
    from analytics.building import building
    from overlay.report.simulation import page, table
    from overlay.report.simulation import simulate as run
    from overlay.report.tables import as_csv, as_sheet

    if system != _POLDERCAST and (fanout, ring) != (None, None):
        raise click.UsageError(f"--fanout and --ring are settings of poldercast; {system} runs with those of its authors")
    console = outlet()
    with building(out) as folder:
        with told_steps(console) as begun:
            begun("reading the workload")
            found = read_source(trace, nodes, sample, seed, (system,))
            there = found.workload.nodes
            around = read_surroundings(SurroundingOptions(churn, churn_cycle_ms, round_trips, unit, fill_zeros), there)
            begun("loading the kernels (compiled once, which takes half a minute)")

            def tell(after: "SimulatedCycle") -> None:
                if after.cycle % 10 == 0 or console.is_terminal:
                    begun(f"cycle {after.cycle} of at most {cycles}: {after.hit_ratio:.2%} of the deliveries are made")

            overlay = _overlay(system, found.workload, seed, fanout, ring)
            done = run(
                system,
                overlay,
                found.name,
                found.workload,
                seed,
                cycles=cycles,
                events=events,
                told=tell,
                churn=around.churn_by_cycle(cycles + 1, there),
                latency=around.latency(there, seed),
            )
        (folder / PAGE).write_text(page(done), encoding="utf-8")
        (folder / CSV).write_text(as_csv(table(done)), encoding="utf-8")
    show(f"{done.told}.", [as_sheet(table(done))], [], console)
    _write_json(done, json, console)
    console.print(Text(str(out / PAGE), style=GREEN), soft_wrap=True)


def _overlay(system: str, workload: "OverlayWorkload", seed: int, fanout: int | None, ring: int | None) -> "WatchedSystem":
    from overlay.simulator.poldercast.options import PolderOptions, SpreadOptions
    from overlay.simulator.poldercast.overlay import PolderCastOverlay
    from overlay.simulator.systems import new_system

    if (fanout, ring) == (None, None):
        return new_system(system, workload, seed)
    options = PolderOptions() if ring is None else PolderOptions(ring=ring)
    return PolderCastOverlay(workload, seed, options, how=SpreadOptions() if fanout is None else SpreadOptions(fanout=fanout))


def _write_json(done: "SimulatedRun", json: Path | None, console: Console) -> None:
    import msgspec

    if json is not None:
        write_output(json, msgspec.json.format(msgspec.json.encode(done)) + b"\n")
        console.print(Text(str(json), style=GREEN), soft_wrap=True)
