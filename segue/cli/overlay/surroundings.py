"""What files say of the world around an overlay, as options: churn, and round trips between hosts."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

import click

if TYPE_CHECKING:
    from overlay.report.surroundings import OverlaySurroundings

Command = TypeVar("Command", bound=Callable[..., Any])


class SurroundingOptions(NamedTuple):
    """The options as they were given."""

    churn: Path | None
    churn_cycle_ms: int
    round_trips: Path | None
    unit: Literal["s", "ms", "us"] | None
    fill_zeros: bool


def surroundings(command: Command) -> Command:
    """Gives a command the options that `read_surroundings` takes."""
    for option in (
        click.option("--fill-zeros", is_flag=True, help="A round trip of 0 is taken from the opposite way, else half of the smallest."),
        click.option("--unit", type=click.Choice(["s", "ms", "us"]), help="Of the round trips.  [default: ms, unless they look otherwise]"),
        click.option("--round-trips", type=click.Path(path_type=Path), help="A square of round trips between hosts: messages take half."),
        click.option(
            "--churn-cycle-ms",
            type=click.IntRange(min=1),
            default=60_000,
            show_default=True,
            help="How much time of the churn passes in a cycle.",
        ),
        click.option("--churn", type=click.Path(path_type=Path), help="Who comes and leaves: rows of time_ms, node, on."),
    ):
        command = option(command)
    return command


def read_surroundings(given: SurroundingOptions, nodes: int) -> "OverlaySurroundings":
    """Returns what the files say of an overlay of so many `nodes`.

    Raises click.UsageError for options of a file that is not named, and OverlayError and TraceError for files that cannot be used.
    """
    from overlay.report.surroundings import OverlaySurroundings
    from overlay.simulator.churn.trace import read_churn
    from overlay.simulator.latency.round_trips import read_round_trips

    if given.round_trips is None and (given.unit is not None or given.fill_zeros):
        raise click.UsageError("--unit and --fill-zeros are of round trips; name their file with --round-trips")
    one_way_us = None if given.round_trips is None else read_round_trips(given.round_trips, given.unit, fills_zeros=given.fill_zeros)
    return OverlaySurroundings(
        churn=None if given.churn is None else read_churn(given.churn, nodes),
        cycle_ms=given.churn_cycle_ms,
        network="" if given.round_trips is None else given.round_trips.name,
        one_way_us=one_way_us,
    )
