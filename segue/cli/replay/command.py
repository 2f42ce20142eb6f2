"""`segue replay`: plays a trace again, and checks that everything arrives."""

import asyncio
import secrets
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn

from infra.kernel.printable import printable
from infra.kernel.trace import SERVICES
from infra.runtime.event_loop import ended_by_ctrl_c
from infra.runtime.event_loop import run as run_loop
from infra.runtime.open_files import need_open_files
from infra.runtime.tls.contexts import client_context
from segue.cli.access import Access, ca_option, explained
from segue.cli.finite import Finite
from segue.cli.state import default_state, secret_of
from segue.cluster.tokens import user_token
from segue.sdk.client_options import ClientOptions
from segue.sdk.errors import SegueError
from segue.sdk.publisher import Publisher, PublisherOptions

from .ledger import ReplayLedger, Totals

if TYPE_CHECKING:
    from .script import Script

USERS: Final = 1_000
SPEED: Final = 60.0
DRAIN_S: Final = 10.0
SHOW_S: Final = 0.2
OTHER_FILES: Final = 100
# Live copies of what artists and friends do come from the notification module.
_PUBLISHES_AS: Final = {"presence": "presence", "playlist": "playlist", "social": "presence", "artist": "notification"}
_POSITIVE: Final = Finite(min=0, min_open=True)


@click.command()
@click.argument("trace", type=click.Path(path_type=Path))
@click.option("--speed", type=_POSITIVE, default=SPEED, show_default=True, help="How many times faster than it was.")
@click.option("--users", type=click.IntRange(min=1), default=USERS, show_default=True, help="How many subscribers, at most.")
@click.option("--service", type=click.Choice(SERVICES), default="presence", show_default=True, help="Whose topics.")
@click.option("--from", "from_s", type=Finite(min=0), default=0.0, show_default=True, help="Seconds of the trace to leave out.")
@click.option("--seconds", type=_POSITIVE, help="Seconds of the trace to play.  [default: all]")
@click.option("--url", "urls", multiple=True, default=["ws://127.0.0.1:7700"], show_default=True, help="Access points.")
@click.option("--broker", "brokers", multiple=True, default=["http://127.0.0.1:7710"], show_default=True, help="Doors to publish at.")
@click.option("--state", type=click.Path(path_type=Path), default=default_state, help="Where the signing secret is kept.")
@click.option("--seed", type=int, default=1, show_default=True, help="Which users; the same seed takes the same.")
@ca_option()
def replay(
    trace: Path,
    speed: float,
    users: int,
    service: str,
    from_s: float,
    seconds: float | None,
    urls: tuple[str, ...],
    brokers: tuple[str, ...],
    state: Path,
    seed: int,
    ca: Path | None,
) -> None:
    """Play what is in TRACE against a running engine: users come, follow and go, services publish, each at its time.

    What must arrive is counted from the trace alone. Exit code 1: something was lost, came twice or went astray.
    """
    from analytics.trace import Trace

    from .script import script

    console = Console(highlight=False)
    with console.status("reading the trace"):
        found = script(Trace.open(trace), service=service, users=users, from_s=from_s, seconds=seconds, seed=seed)
    need_open_files(2 * len(found.users) + OTHER_FILES)
    console.print(_about(found, speed), soft_wrap=True)
    try:
        is_good = run_loop(_replay(found, speed, Access(urls, None, state, ca), brokers, _PUBLISHES_AS[service], console))
    except SegueError as error:
        raise explained(error, [*urls, *brokers]) from error
    if not is_good:
        sys.exit(1)


async def _replay(script: "Script", speed: float, access: Access, brokers: Sequence[str], service: str, console: Console) -> bool:
    from .player import TracePlayer

    ledger = ReplayLedger()
    token = partial(_user_token, access.state)
    options = ClientOptions(tls=client_context(access.ca) if access.ca is not None else None)  # one for all clients, since it is large
    async with Publisher(brokers, access.as_service(service), options=PublisherOptions(ca_file=access.ca)) as publisher:
        async with TracePlayer(access.urls, publisher, token, ledger, f"r{secrets.token_hex(4)}", options) as player:
            with _bar(console) as progress:
                shown = progress.add_task("", total=script.seconds, figures="connecting")
                playing = asyncio.create_task(player.play(script, speed), name="replay")
                with ended_by_ctrl_c(playing):
                    while not playing.done():
                        await asyncio.wait({playing}, timeout=SHOW_S)
                        _show(progress, shown, player.elapsed_s, ledger.totals())
                is_whole = not playing.cancelled()
                if is_whole:
                    await playing
                    progress.update(shown, completed=script.seconds)
                await player.drain(DRAIN_S)
                _show(progress, shown, None, ledger.totals())
            totals = ledger.totals()
            console.print(summary(totals, player.rejected, player.failures, player.failure, player.late_s), soft_wrap=True)
    return not (totals.missing or totals.duplicated or totals.misrouted or player.failures or player.rejected)


def _user_token(state: Path, user: str) -> str:
    return user_token(secret_of(state), user)


def summary(totals: Totals, rejected: int, failures: int, failure: str, late_s: float) -> str:
    """Returns the results in words.

    - `totals`: the deliveries.
    - `rejected`, `failures`, `failure`: how many events and steps went wrong, and how the last one did.
    - `late_s`: by how much the last step was late.
    """
    latency = "" if totals.p50_ms is None else f", p50 {totals.p50_ms:.1f} ms, p99 {totals.p99_ms:.1f} ms"
    lines = [
        f"{totals.events:,} events, {totals.delivered:,} deliveries{latency}",
        f"lost {totals.missing:,}, came twice {totals.duplicated:,}, went astray {totals.misrouted:,}",
    ]
    if totals.excused or totals.in_flux:
        flux = f"{totals.excused:,} deliveries ended with their subscription, {totals.in_flux:,} came while one began or ended"
        lines.append(f"{flux}: neither is counted")
    if rejected or failures:
        lines.append(f"{rejected:,} events rejected, {failures:,} steps failed; the last: {printable(failure)}")
    if late_s > 1:
        lines.append(f"the last step was {late_s:.1f} s late: this machine cannot play so fast; try a lower --speed or fewer --users")
    return "\n".join(lines)


def _about(script: "Script", speed: float) -> str:
    left_out = f" ({script.left_out:,} that none of them follows are left out)" if script.left_out else ""
    what = f"{len(script.users):,} users, {script.pairs:,} pairs, {script.publications:,} publications{left_out}"
    return f"{what}; {script.seconds:,.0f} s in {script.seconds / speed:,.0f} s. Ctrl-C ends the playing"


def _bar(console: Console) -> Progress:
    return Progress(
        BarColumn(), TextColumn("{task.percentage:3.0f} %"), TimeElapsedColumn(), TextColumn("{task.fields[figures]}"), console=console
    )


def _show(progress: Progress, shown: TaskID, elapsed_s: float | None, totals: Totals) -> None:
    figures = f"{totals.events:,} events, {totals.delivered:,} deliveries, {totals.missing:,} under way"
    progress.update(shown, completed=elapsed_s, figures=figures)
