"""`segue drill`: plays what can go wrong on a cluster of its own, and prints promised beside measured."""

import random
from functools import partial
from typing import Any, NamedTuple

import click
from rich.console import Console

from infra.runtime.event_loop import run as run_loop
from infra.runtime.logs import configure
from segue.cli.finite import Finite
from segue.cli.output_file import OutputFile
from segue.cluster.shape import Shape
from segue.demo.ending import end

from .local_nodes import LocalNodes
from .nodes import DrillWindows
from .play import DrillOutcome, MakeNodes, play
from .process_nodes import ProcessNodes
from .rows import ONE_PROCESS, PROCESSES, DrillRow, ladder
from .table import document, table

_NAMES = [row.name for row in ladder(0.0)]


class _DrillRun(NamedTuple):
    outcomes: list[DrillOutcome]
    way: str

    @property
    def is_good(self) -> bool:
        """Whether all promises were kept."""
        return all(each.is_good for each in self.outcomes)

    def document(self) -> dict[str, Any]:
        """Returns all of it, for JSON."""
        return document(self.outcomes, self.way)


@click.command()
@click.option(
    "--row", "names", multiple=True, type=click.Choice(_NAMES), help="Play this row; may be repeated.  [default: all that can be]"
)
@click.option("--processes", "has_processes", is_flag=True, help="Run each role as a process of its own, which signals kill and stop.")
@click.option("--tls", "has_tls", is_flag=True, help="With --processes: links are encrypted.")
@click.option("--long", "has_long", is_flag=True, help="Play the rows that take minutes, too.")
@click.option("--minutes", type=Finite(min=0, min_open=True), default=0.5, show_default=True, help="How long the random row goes on.")
@click.option("--json", "file", type=OutputFile(), help="Write all of it to this file as JSON, too.")
@click.option("--seed", type=int, default=1, show_default=True, help="What is drawn in each row follows from it.")
def drill(names: tuple[str, ...], has_processes: bool, has_tls: bool, has_long: bool, minutes: float, file: Any, seed: int) -> None:
    """Break a cluster of its own in every way that docs/promises.md speaks of, and print what is promised beside what is measured.

    Each row has a cluster of its own on loopback: two sites with two brokers, aggregators and access points each, and 8 followers to whom
    services publish 240 events a second; or one site with more brokers. Exit code 1: a promise was broken.
    """
    if has_tls and not has_processes:
        raise click.UsageError("--tls encrypts links between processes: add --processes")
    configure("console", "error")
    way = PROCESSES if has_processes else ONE_PROCESS
    rows = [row for row in ladder(60 * minutes) if (row.name in names if names else has_long or not row.is_long)]
    if elsewhere := [row.name for row in rows if way not in row.ways and names]:
        raise click.UsageError(f"{', '.join(elsewhere)}: played only {'without' if has_processes else 'with'} --processes")
    make: MakeNodes = partial(_processes, has_tls) if has_processes else LocalNodes
    outcomes = [_played(row, make, seed) for row in rows if way in row.ways]
    Console().print(table(outcomes, way))
    end(_DrillRun(outcomes, way), file)


def _processes(has_tls: bool, rng: random.Random, shape: Shape, windows: DrillWindows) -> ProcessNodes:
    return ProcessNodes(shape, windows, has_tls=has_tls)  # they draw for themselves


def _played(row: DrillRow, make: MakeNodes, seed: int) -> DrillOutcome:
    click.echo(f"{row.what}: about {row.seconds + 5:.0f} s ...", err=True)
    return run_loop(play(row, make, seed))
