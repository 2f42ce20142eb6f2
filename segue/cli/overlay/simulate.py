"""`segue overlay simulate`: one system on one workload, from nothing until its rings are complete."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from rich.console import Console
from rich.text import Text

from ..output_file import OutputFile, write_output
from ..palette import GREEN
from ..plan.outlets import outlet, show
from ..steps import told_steps

if TYPE_CHECKING:
    from overlay.report.convergence import ConvergencePoint, ConvergenceStudy
    from overlay.simulator.workload import OverlayWorkload

PAGE: Final = "overlay.html"
CSV: Final = "convergence.csv"


@click.command()
@click.argument("trace", required=False, type=click.Path(path_type=Path))
@click.option("--system", type=click.Choice(["poldercast"]), default="poldercast", show_default=True, help="Which overlay.")
@click.option("--nodes", type=click.IntRange(min=200), default=1000, show_default=True, help="Of a graph of friends; without TRACE.")
@click.option(
    "--cycles", type=click.IntRange(min=1), default=200, show_default=True, help="The most cycles; it ends when rings are complete."
)
@click.option("--fanout", type=click.IntRange(min=2), default=2, show_default=True, help="To how many a node passes an event on.")
@click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Everything random follows from it.")
@click.option("--out", required=True, type=click.Path(path_type=Path), help="Folder of the page and the CSV; it must not exist yet.")
@click.option("--json", type=OutputFile(), help="Write all numbers to this file.")
def simulate(trace: Path | None, *, system: str, nodes: int, cycles: int, fanout: int, seed: int, out: Path, json: Path | None) -> None:
    """Simulate an overlay from a cold start on TRACE, a folder or a list of edges, or on a made graph of friends (docs/overlay.md)."""
    from analytics.building import building
    from overlay.report.convergence import converge, csv, page, sheet, told
    from overlay.simulator.poldercast.options import PolderOptions, SpreadOptions

    how, console = SpreadOptions(fanout=fanout), outlet()
    with building(out) as folder:
        with told_steps(console) as begun:
            begun("reading the workload")
            name, workload = _workload(trace, nodes, seed)
            begun("loading the kernels (compiled once, which takes half a minute)")

            def tell(cycle: int, point: "ConvergencePoint") -> None:
                if cycle % 10 == 0 or console.is_terminal:
                    begun(f"cycle {cycle} of at most {cycles}: {point.incomplete_rings:.1%} of the rings are incomplete")

            study = converge(name, workload, seed, options=PolderOptions(), how=how, cycles=cycles, told=tell)
        (folder / PAGE).write_text(page(study), encoding="utf-8")
        (folder / CSV).write_text(csv(study), encoding="utf-8")
    show(f"{told(study)}.", [sheet(study)], [], console)
    _write_json(study, json, console)
    console.print(Text(str(out / PAGE), style=GREEN), soft_wrap=True)


def _workload(trace: Path | None, nodes: int, seed: int) -> "tuple[str, OverlayWorkload]":
    """Returns the name of what is simulated on, and the workload."""
    from overlay.simulator.graphs.friends import friends
    from overlay.simulator.graphs.reading import read_graph

    if trace is not None:
        return trace.name, read_graph(trace).workload()
    return f"Friends, {nodes:,}", friends(nodes, seed).workload()


def _write_json(study: "ConvergenceStudy", json: Path | None, console: Console) -> None:
    import msgspec

    if json is not None:
        write_output(json, msgspec.json.format(msgspec.json.encode(study)) + b"\n")
        console.print(Text(str(json), style=GREEN), soft_wrap=True)
