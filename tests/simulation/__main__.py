"""`make simulate` and `make soak`: lives of seeds, with what is violated made short and told as a story."""

import os
import sys
import time
from collections import Counter
from functools import partial

import click

from analytics.processes import results

from .defects import DEFECTS, planted
from .runs import SeedRange, lived, run, shrunk, told_nothing


@click.command()
@click.option("--seed", default=1, show_default=True, help="The first seed.")
@click.option("--count", default=1, show_default=True, type=click.IntRange(min=1), help="How many seeds, one after the other.")
@click.option("--operations", default=60, show_default=True, type=click.IntRange(min=0), help="How many operations each life has.")
@click.option("--seconds", type=click.FloatRange(min=1), help="Go on with further seeds for so long.")
@click.option("--defect", type=click.Choice(sorted(DEFECTS)), help="Plant this defect first: it must be found.")
@click.option("--lines", default=40, show_default=True, help="How much of the story of a violation is shown.")
@click.option(
    "--processes", default=os.cpu_count, show_default="one for each core", type=click.IntRange(min=1), help="How many share the seeds."
)
def main(seed: int, count: int, operations: int, seconds: float | None, defect: str | None, lines: int, processes: int) -> None:
    """Live through whole clusters in virtual time."""
    began, looked_at, seeds = time.monotonic(), Counter[str](), 0
    shared = min(processes, count) if seconds is None else processes
    parts = [SeedRange(seed + n, shared, (count - n + shared - 1) // shared, seconds or 0.0) for n in range(shared)]
    for part in results([partial(lived, each, operations, defect) for each in parts], shared, "the simulation"):
        seeds += part.seeds
        looked_at += part.looked_at
        if part.violated is not None:
            _tell(part.violated, operations, lines, defect)
    took_s, cpu_s = time.monotonic() - began, sum(os.times()[:4])
    told = ", ".join(f"{number:,} {kind}" for kind, number in sorted(looked_at.items()))
    click.echo(f"{seeds:,} seeds from {seed}, {seeds * operations:,} operations: nothing was violated. Looked at: {told}.")
    click.echo(f"{took_s:.1f} s, {60 * seeds / took_s:.0f} seeds a minute; {60 * seeds / cpu_s:.0f} in a minute of one core")


def _tell(seed: int, operations: int, lines: int, defect: str | None) -> None:
    """Tells of a violated life, made short, and ends the process with 1."""
    with told_nothing(), planted(defect):
        short = shrunk(run(seed, operations))
    click.echo(f"seed {seed}: {short.violation}\n\nwith these {len(short.operations)} operations:")
    for operation in short.operations:
        click.echo(f"  {operation}")
    click.echo(f"\n{short.table(lines)}\n\nAgain: make simulate SEED={seed} OPERATIONS={operations}")
    sys.exit(1)


if __name__ == "__main__":
    main()
