"""`segue top`: asks admin doors for `/v1/stats` again and again, and shows the figures of each site, live."""

import asyncio
import contextlib
import time
from collections import deque
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import aiohttp
import click
import msgspec
from rich.console import Console
from rich.live import Live

from infra.kernel.errors import ConfigError
from infra.runtime.address import Address
from infra.runtime.bounded_answer import bounded_body
from infra.runtime.event_loop import run
from infra.runtime.network_reason import network_reason
from infra.runtime.stats import Stats
from segue.sdk.connector import connector

from ..access import ca_option
from ..finite import Finite
from .frame import Snapshot, TopView, Unreachable, frame
from .screen import HISTORY, screen

DEFAULT_ADDRESS: Final = "http://127.0.0.1:7790"
TIMEOUT_S: Final = 2.0


@dataclass(frozen=True, slots=True)
class DrawnFrame:
    """A frame to draw: the figures, and the total deliveries/s of the frames up to it."""

    view: TopView
    history: Sequence[float]


async def frames(
    addresses: Sequence[str], interval_s: float, timeout_s: float = TIMEOUT_S, ca: Path | None = None, token: str | None = None
) -> AsyncGenerator[DrawnFrame, None]:
    """Yields a frame now, without rates, and then one every `interval_s` seconds, for ever.

    A door of `addresses` that does not answer within `timeout_s` is shown as unreachable, and asked again for the next frame. The
    iterator may be closed at any time.

    `ca`: the authorities that are believed at doors with TLS; None: those of this machine.
    `token`: is shown to the doors, if there is one.
    """
    history: deque[float] = deque(maxlen=HISTORY)
    previous: Snapshot = {}
    previous_s = 0.0
    timeout, headers = aiohttp.ClientTimeout(total=timeout_s), {"Authorization": f"Bearer {token}"} if token else {}
    async with aiohttp.ClientSession(timeout=timeout, headers=headers, connector=connector(ca)) as session:
        while True:
            now_s = time.monotonic()
            current = await poll(session, addresses)
            view = frame(previous, current, now_s - previous_s)
            if view.total.deliveries_per_s is not None:
                history.append(view.total.deliveries_per_s)
            yield DrawnFrame(view, tuple(history))
            previous, previous_s = current, now_s
            await asyncio.sleep(max(0.0, now_s + interval_s - time.monotonic()))


async def poll(session: aiohttp.ClientSession, addresses: Sequence[str]) -> Snapshot:
    """Returns what each admin door at `addresses` says now; all are asked at the same time. A door that fails is Unreachable."""
    answers = await asyncio.gather(*(_ask(session, address) for address in addresses))
    return dict(zip(addresses, answers, strict=True))


async def _ask(session: aiohttp.ClientSession, address: str) -> Stats | Unreachable:
    try:
        async with session.get(f"{address}/v1/stats", allow_redirects=False) as response:
            if response.status in (401, 403):
                return Unreachable(f"answered {response.status}; give it --token $(segue token --service monitor)")
            if response.status != 200:
                return Unreachable(f"answered {response.status}; is this an admin address?")
            return msgspec.json.decode(await bounded_body(response), type=Stats)
    except aiohttp.ClientConnectorDNSError:
        return Unreachable("there is no host of this name")
    except (aiohttp.ClientError, TimeoutError) as error:
        return Unreachable(network_reason(error))
    except (msgspec.DecodeError, ValueError, RecursionError):
        return Unreachable("answered something else than stats; is this an admin address?")


def parse_address(text: str) -> str:
    """Returns `host:port`, `http://host:port` or `https://host:port` as a URL without a final slash. Raises BadParameter otherwise."""
    scheme, _, rest = text.rpartition("://")
    try:
        if scheme not in ("", "http", "https"):
            raise ConfigError(f"{scheme} is no way to an admin door; write https://host:port, or http://")
        return f"{scheme or 'http'}://{Address.parse(rest.rstrip('/'))}"
    except ConfigError as error:
        raise click.BadParameter(f"{error}; the admin address of `segue up` is 127.0.0.1:7790") from error


async def watch(console: Console, addresses: Sequence[str], interval_s: float, ca: Path | None = None, token: str | None = None) -> None:
    """Draws frames of `addresses` on the alternate screen of `console`, one every `interval_s`.

    It ends when it is cancelled, and then restores the screen.
    """
    async with contextlib.aclosing(frames(addresses, interval_s, ca=ca, token=token)) as stream:
        with Live(console=console, screen=True, auto_refresh=False) as live:
            async for shot in stream:
                live.update(screen(shot.view, shot.history, f"every {interval_s:g} s · Ctrl-C leaves", console.width), refresh=True)


async def once(addresses: Sequence[str], interval_s: float, ca: Path | None = None, token: str | None = None) -> TopView:
    """Returns the figures of the first frame that has rates, from two polls, `interval_s` apart."""
    async with contextlib.aclosing(frames(addresses, interval_s, ca=ca, token=token)) as stream:
        await anext(stream)
        return (await anext(stream)).view


@click.command("top")
@click.argument("addresses", metavar="[HOST:PORT]...", nargs=-1)
@click.option("--interval", "interval_s", type=Finite(min=0.1), default=1.0, show_default=True, help="Seconds between frames.")
@click.option("--token", help="Of an operator or a monitor. A door of this machine needs none.")
@click.option("--once", "only_once", is_flag=True, help="Print one frame, measured over one interval, and leave.")
@ca_option()
def top(addresses: tuple[str, ...], interval_s: float, only_once: bool, token: str | None, ca: Path | None) -> None:
    """Show connections, topics, rates, queues, memory and CPU of each site, live.

    Name the admin address of every process; without any it is the one of `segue up`, 127.0.0.1:7790. Output that is not
    a terminal gets one frame, as with --once.
    """
    console = Console()
    doors = tuple(dict.fromkeys(parse_address(address) for address in addresses or (DEFAULT_ADDRESS,)))
    if not only_once and console.is_terminal:
        run(watch(console, doors, interval_s, ca, token))
        return
    view = run(once(doors, interval_s, ca, token))
    console.print(screen(view, (), f"measured over {interval_s:g} s", console.width))
    if not view.processes:
        raise click.ClickException(f"no admin door answers at {', '.join(doors)}; start one with `segue up`, or name its address")
