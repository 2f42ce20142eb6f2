"""Segue Radio on a few users of the demo, and tabs that are logged in to it."""

import asyncio
import io
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from math import inf
from typing import Final

from rich.console import Console

from segue.demo.dataset import checkout_folder, load
from segue.demo.plan import DemoPlan
from segue.demo.radio.run import run_radio
from segue.demo.show import Show
from tests.support.browser import Tab
from tests.support.node import built

# So rarely does anybody play by themselves that a test sees nothing but what it does.
RATE_PER_S: Final = 0.001
PLAN: Final = DemoPlan(
    data=checkout_folder(), users=24, sites=2, seconds=inf, speed=1.0, rate_per_s=RATE_PER_S, seed=1, has_processes=False
)


class _Announced(Show):
    """A show that hands on the address of the page."""

    def __init__(self) -> None:
        super().__init__(Console(file=io.StringIO()))
        self.link: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def say(self, text: str) -> None:
        if found := re.search(r"http://\S+", text):
            self.link.set_result(found[0])


@asynccontextmanager
async def radio() -> AsyncIterator[str]:
    """Yields the address of a radio that is on the air while the block runs. Builds it first; see `built`."""
    built()
    show = _Announced()
    running = asyncio.create_task(run_radio(PLAN, show))
    try:
        running.add_done_callback(lambda _: show.link.done() or show.link.cancel())
        with suppress(asyncio.CancelledError):
            await show.link
        if running.done():
            await running  # says why nothing was announced
        yield await show.link
    finally:
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running


def friends() -> tuple[str, str]:
    """Returns two friends of those who are on the air. The first has the most friends."""
    data = load(PLAN.data).subset(PLAN.users or 0, PLAN.rng("users"))
    first = min(data.friends, key=lambda user: (-len(data.friends[user]), user))
    return first, data.friends[first][0]


async def logged_in(tab: Tab, link: str, user: str) -> None:
    """Logs in as a person does: writes a name, and presses Enter. Returns when the page is connected."""
    await tab.call("Emulation.setDeviceMetricsOverride", width=1440, height=900, deviceScaleFactor=1, mobile=False)
    await tab.open(link)
    await tab.within("document.querySelector('.person')")
    await tab.value(f"document.getElementById('who').value = {user!r}; document.querySelector('.login-form').requestSubmit()")
    await tab.within("document.querySelector('.phase.connected')")


async def go(tab: Tab, path: str, shown: str) -> None:
    """Goes to a view. Returns when something that `shown` selects is there."""
    await tab.value(f"location.hash = {path!r}")
    await tab.within(f"document.querySelector({shown!r})")


async def press(tab: Tab, selector: str) -> None:
    """Clicks what `selector` selects, as soon as it is there and can be clicked."""
    button = f"document.querySelector({selector!r})"
    await tab.within(f"{button} && !{button}.disabled && !{button}.hidden")
    await tab.value(f"{button}.click()")
