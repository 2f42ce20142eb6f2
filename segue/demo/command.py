"""`segue demo`: real listening on a real cluster, with a summary that can be trusted."""

from math import inf
from pathlib import Path
from typing import Any, Final, get_args

import click

from infra.runtime.event_loop import run as run_loop
from infra.runtime.logs import configure
from segue.cli.finite import Finite
from segue.cli.output_file import OutputFile
from segue.cluster.shape import SITES

from .captured import told
from .dataset import checkout_folder
from .ending import end
from .listening import RATE_PER_S
from .live import show_here
from .plan import DemoPlan
from .radio.run import RATE_PER_S as RADIO_RATE_PER_S
from .radio.run import run_radio
from .run import run
from .store import Kind
from .summary import summary

SECONDS: Final = 20.0
_ABOVE_0: Final = Finite(min=0, min_open=True)


@click.command()
@click.option("--speed", type=_ABOVE_0, default=1.0, show_default=True, help="How many times faster everybody listens.")
@click.option("--seconds", type=_ABOVE_0, help=f"How long they play.  [default: {SECONDS:g}; with --page until Ctrl-C]")
@click.option("--users", type=click.IntRange(min=1), help="How many of them; friends stay together.  [default: all, 1,892]")
@click.option("--sites", type=click.IntRange(1, len(SITES)), default=len(SITES), show_default=True, help="How many sites they are at.")
@click.option(
    "--rate",
    "rate_per_s",
    type=_ABOVE_0,
    help=f"Plays a second, of all users.  [default: {RATE_PER_S:g}; with --page {RADIO_RATE_PER_S:g}]",
)
@click.option("--store", type=click.Choice(get_args(Kind)), default="sqlite", show_default=True, help="What keeps the notifications.")
@click.option("--processes", "has_processes", is_flag=True, help="Run each role as a process of its own, on TCP.")
@click.option("--page", "has_page", is_flag=True, help="Serve Segue Radio instead, an application in the browser on the same users.")
@click.option("--capture", type=click.Path(path_type=Path), help="Write a trace of it all to this new folder, for `segue analyze`.")
@click.option("--json", "document", type=OutputFile(), help="Write the summary to this file as JSON, too.")
@click.option("--data", type=click.Path(path_type=Path), default=checkout_folder, help="A folder with other listening.  [default: Last.fm]")
@click.option("--seed", type=int, default=1, show_default=True, help="The same seed plays the same.")
def demo(document: Any, seconds: float | None, rate_per_s: float | None, has_page: bool, **plan: Any) -> None:
    """Let the users of Last.fm play what they really played, and see each play reach every friend, at three sites.

    Everybody connects over a WebSocket, follows their friends and plays artists as often as they really did. What must arrive
    is counted on the graph of friends. Then the most popular artist releases an album while most followers sleep: they are
    mailed and pushed, and find it in the morning. Exit code 1: something was lost, came twice or went astray.

    With --page nothing is counted: whoever opens Segue Radio follows, plays and hides as they like.
    """
    if has_page and document is not None:
        raise click.UsageError("--json has the figures of what was counted, and with --page nothing is; leave one of them out")
    configure("console", "warning")
    with show_here() as show:
        if has_page:
            run_loop(run_radio(DemoPlan(seconds=seconds or inf, rate_per_s=rate_per_s or RADIO_RATE_PER_S, **plan), show))
        else:
            outcome = run_loop(run(DemoPlan(seconds=seconds or SECONDS, rate_per_s=rate_per_s or RATE_PER_S, **plan), show))
            show.summary(summary(outcome))
    if plan["capture"] is not None:
        show.console.print(told(plan["capture"]), soft_wrap=True, markup=False)
    if not has_page:
        end(outcome, document)
