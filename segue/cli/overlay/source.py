"""What a simulation runs on, as options: a trace, a list of edges, or a graph that is made."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import click

if TYPE_CHECKING:
    from overlay.simulator.workload import OverlayWorkload

Command = TypeVar("Command", bound=Callable[..., Any])
# As `overlay.simulator.systems` has them, which is not loaded for the help of a command.
SYSTEM_NAMES: Final = ("poldercast", "scribe", "quasar", "gossipsub")
# Subscriptions for each node of a graph that is made.
_PAIRS: Final = 16


class NamedWorkload(NamedTuple):
    """A workload and what it is called."""

    name: str
    workload: "OverlayWorkload"


def source(command: Command) -> Command:
    """Gives a command TRACE and the options that `read_source` takes."""
    for option in (
        click.option("--seed", type=click.IntRange(min=0), default=1, show_default=True, help="Everything random follows from it."),
        click.option("--sample", type=click.IntRange(min=2), metavar="USERS", help="Cut so many users out of TRACE, breadth first."),
        click.option(
            "--nodes", type=click.IntRange(min=200), default=1000, show_default=True, help="Of a graph of friends; without TRACE."
        ),
        click.argument("trace", required=False, type=click.Path(path_type=Path)),
    ):
        command = option(command)
    return command


def read_source(trace: Path | None, nodes: int, sample: int | None, seed: int, systems: tuple[str, ...]) -> NamedWorkload:
    """Returns what is simulated on: TRACE or a sample of it, or a graph of `nodes` friends.

    `systems`: the overlays that will run on it; there must be memory for each. Raises OverlayError and TraceError, which say what to do.
    """
    from overlay.simulator.errors import OverlayError
    from overlay.simulator.graphs import sample as sampling
    from overlay.simulator.graphs.friends import friends
    from overlay.simulator.graphs.reading import read_graph
    from overlay.simulator.memory import check_memory

    if trace is None:
        name = f"friends, {nodes:,}"
        check_memory(name, systems, nodes, _PAIRS * nodes)
        return NamedWorkload(name, friends(nodes, seed).workload())
    graph = read_graph(trace)
    if sample is not None:
        graph = sampling.sample(graph, sample, seed)
    check_memory(str(trace), systems, graph.users, graph.pairs)
    try:
        return NamedWorkload(trace.name, graph.workload())
    except OverlayError as error:
        raise OverlayError(f"{trace}: {error}") from None
