"""`segue offload-demo`: a capacity limit on a real cluster, as predicted and as counted."""

import random
from pathlib import Path
from typing import Any, Final

import click

from analytics.offloading.plan import MOST_THRESHOLD
from infra.runtime.event_loop import run as run_loop
from infra.runtime.logs import configure
from segue.cli.finite import Finite
from segue.cli.output_file import OutputFile
from segue.cluster.shape import SITES
from segue.demo.dataset import checkout_folder, load
from segue.demo.ending import end
from segue.demo.live import show_here

_PERCENT: Final = Finite(0, 100)
_THRESHOLD: Final = click.IntRange(1, MOST_THRESHOLD)


@click.command("offload-demo")
@click.option("--capacity", type=_PERCENT, default=20.0, show_default=True, help="Percent of the deliveries that serving all takes.")
@click.option("--threshold", type=_THRESHOLD, default=20, show_default=True, help="Events that satisfy a user in a period.")
@click.option("--metric", type=click.Choice(["b3m", "fb3m"]), default="b3m", show_default=True, help="Whole users, or parts of them.")
@click.option("--users", type=click.IntRange(min=1), default=300, show_default=True, help="How many of Last.fm; friends stay together.")
@click.option("--events", type=click.IntRange(min=1), default=2_000, show_default=True, help="Of all users in a period.")
@click.option("--sites", type=click.IntRange(1, len(SITES)), default=2, show_default=True, help="How many sites they are at.")
@click.option("--json", "document", type=OutputFile(), help="Write the outcome to this file as JSON, too.")
@click.option("--data", type=click.Path(path_type=Path), default=checkout_folder, help="A folder with other listening.  [default: Last.fm]")
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed plays the same.")
def offload_demo(
    capacity: float, threshold: int, metric: Any, users: int, events: int, sites: int, document: Any, data: Path, seed: int
) -> None:
    """Let the users of Last.fm play more than the capacity allows, and see whom the engine still serves in full.

    In the first period everything is served, and the decision service watches. It then chooses the topics that satisfy most users
    within the capacity, and says what that will come to. In the second period everybody plays the same again, and what arrives is
    counted. Exit code 1: what was counted is not what was predicted.
    """
    import numba  # noqa: F401 - if it is missing, that is told before anything starts

    from .run import run
    from .stage import stage
    from .summary import summary

    configure("console", "warning")
    dataset = load(data).subset(users, random.Random(f"{seed} users"))
    on = stage(dataset, events=events, share=capacity / 100, threshold=threshold, metric=metric)
    with show_here() as show:
        outcome = run_loop(run(on, SITES[:sites], random.Random(f"{seed} plays"), show))
        show.summary(summary(outcome))
    end(outcome, document)
