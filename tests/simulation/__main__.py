"""`make simulate` and `make soak`: lives of seeds, with what is violated made short and told as a story."""

import logging
import sys
import time
from collections import Counter

import click

from infra.runtime.logs import configure

from .defects import DEFECTS, planted
from .runs import run, shrunk


@click.command()
@click.option("--seed", default=1, show_default=True, help="The first seed.")
@click.option("--count", default=1, show_default=True, type=click.IntRange(min=1), help="How many seeds, one after the other.")
@click.option("--operations", default=60, show_default=True, type=click.IntRange(min=0), help="How many operations each life has.")
@click.option("--seconds", type=click.FloatRange(min=1), help="Go on with further seeds for so long.")
@click.option("--defect", type=click.Choice(sorted(DEFECTS)), help="Plant this defect first: it must be found.")
@click.option("--lines", default=40, show_default=True, help="How much of the story of a violation is shown.")
def main(seed: int, count: int, operations: int, seconds: float | None, defect: str | None, lines: int) -> None:
    """Live through whole clusters in virtual time."""
    configure("console", "error", open("/dev/null", "w"))  # noqa: SIM115 - for the whole process
    logging.getLogger().setLevel(logging.ERROR)
    if defect is not None:
        planted(defect).__enter__()
    began, looked_at, seeds = time.monotonic(), Counter[str](), 0
    while seeds < count or (seconds is not None and time.monotonic() - began < seconds):
        found = run(seed + seeds, operations)
        seeds += 1
        looked_at += found.looked_at
        if found.violation:
            _tell(found.seed, operations, lines)
    took_s = time.monotonic() - began
    told = ", ".join(f"{number:,} {kind}" for kind, number in sorted(looked_at.items()))
    click.echo(f"{seeds:,} seeds from {seed}, {seeds * operations:,} operations: nothing was violated. Looked at: {told}.")
    click.echo(f"{took_s:.1f} s, {60 * seeds / took_s:.0f} seeds a minute")


def _tell(seed: int, operations: int, lines: int) -> None:
    """Tells of a violated life, made short, and ends the process with 1."""
    short = shrunk(run(seed, operations))
    click.echo(f"seed {seed}: {short.violation}\n\nwith these {len(short.operations)} operations:")
    for operation in short.operations:
        click.echo(f"  {operation}")
    click.echo(f"\n{short.table(lines)}\n\nAgain: make simulate SEED={seed} OPERATIONS={operations}")
    sys.exit(1)


if __name__ == "__main__":
    main()
