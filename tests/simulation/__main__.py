"""`make simulate` and `make soak`: lives of seeds, with what is violated made short and told as a story."""

import os
import sys
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import click

from analytics.processes import results

from .cores.runs import OPERATIONS, lived_cores, operations_of, shrunk_core, violated_in
from .defects import DEFECTS, planted
from .roles.runs import OPERATIONS as OF_ROLES
from .roles.runs import lived_roles, run_roles, shrunk_roles
from .runs import LivedSeeds, SeedRange, lived, run, shrunk, told_nothing


class PlayedLives(NamedTuple):
    """Lives of one sort: how seeds are lived through, how one that is violated is told, and how many operations a life has by default."""

    live: Callable[[SeedRange, int, str | None], LivedSeeds]
    tell: Callable[[int, int, str | None], None]
    operations: int


@click.command()
@click.option("--seed", default=1, show_default=True, help="The first seed.")
@click.option("--count", default=1, show_default=True, type=click.IntRange(min=1), help="How many seeds, one after the other.")
@click.option(
    "--operations",
    type=click.IntRange(min=0),
    help="How many operations each life has.",
    show_default=f"60, {OPERATIONS} of cores, {OF_ROLES} of roles",
)
@click.option("--cores", is_flag=True, help="Live through pure cores instead, without servers: each seed is one life of every kind.")
@click.option("--roles", is_flag=True, help="Live through real roles instead, without servers, sockets and codec.")
@click.option("--seconds", type=click.FloatRange(min=1), help="Go on with further seeds for so long.")
@click.option("--go-on", is_flag=True, help="Go on after a violation, and tell all of them. They are not made short.")
@click.option("--defect", type=click.Choice(sorted(DEFECTS)), help="Plant this defect first: it must be found.")
@click.option("--lines", default=40, show_default=True, help="How much of the story of a violation is shown.")
@click.option(
    "--processes", default=os.cpu_count, show_default="one for each core", type=click.IntRange(min=1), help="How many share the seeds."
)
def main(
    seed: int,
    count: int,
    operations: int | None,
    cores: bool,
    roles: bool,
    seconds: float | None,
    go_on: bool,
    defect: str | None,
    lines: int,
    processes: int,
) -> None:
    """Live through whole clusters in virtual time."""
    began, looked_at, seeds, violations = time.monotonic(), Counter[str](), 0, dict[int, str]()
    if cores and roles:
        raise click.UsageError("lives are of --cores, or of --roles")
    live, tell, usual = _played(cores=cores, roles=roles, lines=lines)
    operations = usual if operations is None else operations
    shared = min(processes, count) if seconds is None else processes
    parts = [SeedRange(seed + n, shared, (count - n + shared - 1) // shared, seconds or 0.0, go_on) for n in range(shared)]
    for part in results([partial(live, each, operations, defect) for each in parts], shared, "the simulation"):
        seeds += part.seeds
        looked_at += part.looked_at
        violations |= part.violations
        if part.violations and not go_on:
            tell(min(part.violations), operations, defect)
    took_s, cpu_s = time.monotonic() - began, sum(os.times()[:4])
    told = ", ".join(f"{number:,} {kind}" for kind, number in sorted(looked_at.items()))
    played = seeds * (operations_of(operations) if cores else operations)
    violated = f"these were violated: {', '.join(map(str, sorted(violations)))}" if violations else "nothing was violated"
    click.echo(f"{seeds:,} seeds from {seed}, {played:,} operations: {violated}. Looked at: {told}.")
    click.echo(f"{took_s:.1f} s, {60 * seeds / took_s:.0f} seeds a minute; {60 * seeds / cpu_s:.0f} in a minute of one core")
    sys.exit(bool(violations))


def _played(*, cores: bool, roles: bool, lines: int) -> PlayedLives:
    """Returns which lives are played."""
    if cores:
        return PlayedLives(lived_cores, _tell_core, OPERATIONS)
    if roles:
        return PlayedLives(lived_roles, partial(_tell_roles, lines=lines), OF_ROLES)
    return PlayedLives(lived, partial(_tell, lines=lines), 60)


def _tell_core(seed: int, operations: int, defect: str | None) -> None:
    """Does the same for a life of cores."""
    with planted(defect):
        short = shrunk_core(violated_in(seed, operations))
    click.echo(f"seed {seed}, {short.kind}: {short.violation}\n\nwith these {len(short.operations)} operations:")
    for operation in short.operations:
        click.echo(f"  {operation}")
    click.echo(f"\nAgain: make simulate CORES=1 SEED={seed} OPERATIONS={operations}")
    sys.exit(1)


def _tell_roles(seed: int, operations: int, defect: str | None, *, lines: int) -> None:
    """Does the same for a life of roles."""
    with planted(defect):
        short = shrunk_roles(run_roles(seed, operations))
    click.echo(f"seed {seed}: {short.violation}\n\nwith these {len(short.operations)} operations:")
    for operation in short.operations:
        click.echo(f"  {operation}")
    told = "\n".join(line[:200] for line in short.story[-lines:])
    click.echo(f"\n{told}\n\nAgain: make simulate ROLES=1 SEED={seed} OPERATIONS={operations}")
    sys.exit(1)


def _tell(seed: int, operations: int, defect: str | None, *, lines: int) -> None:
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
