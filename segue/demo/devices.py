"""The devices of the followers. Each is a `segue.Client` that shows its user's notifications, and tells the ledger what it showed."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial
from time import perf_counter
from typing import NamedTuple, Self

from infra.kernel.errors import SegueError
from infra.runtime.ending import end_all
from segue.sdk.client import Client
from segue.sdk.messages import Device as Class

from .crowd import end_each, for_each
from .release_oracle import ReleaseLedger
from .until import until


class DemoDevice(NamedTuple):
    """A device of a user. Its class is also its name, so a user has at most one of each."""

    user: str
    class_: Class


class Devices:
    """The connected devices: `async with Devices(door_of, token, ledger) as devices:`. Leaving disconnects all.

    - `door_of`: returns the URL for a device.
    - `token`: makes a token for a user.
    - `ledger`: takes note of what devices show.
    """

    def __init__(self, door_of: Callable[[DemoDevice], str], token: Callable[[str], str], ledger: ReleaseLedger) -> None:
        self._door_of, self._token, self._ledger = door_of, token, ledger
        self._clients: dict[DemoDevice, Client] = {}
        self._showing: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        close = partial(end_each, self._clients, lambda device: self._clients[device].close())
        await end_all(close, lambda: asyncio.gather(*self._showing))

    async def connect(self, devices: Iterable[DemoDevice], one_done: Callable[[], None]) -> None:
        """Connects `devices`, and lets them show what comes. `one_done` is called for each. Raises Refused and ConnectionLost."""

        async def one(device: DemoDevice) -> None:
            client = Client(self._door_of(device), partial(self._token, device.user), client=f"demo-{device.class_}", device=device.class_)
            self._clients[device] = client
            await client.__aenter__()
            self._ledger.there(device, perf_counter())
            self._showing.append(asyncio.create_task(self._show(device), name=f"{device.class_} of {device.user}"))
            one_done()

        await for_each(devices, one)

    async def read(self, device: DemoDevice) -> None:
        """Has the user read everything on `device`. Raises what `Client.read` raises."""
        await self._clients[device].read()
        self._ledger.read(device.user)

    def unread(self, device: DemoDevice) -> int:
        """Returns how many unread notifications the bell of `device` shows."""
        return self._clients[device].unread

    async def shown(self, devices: Iterable[DemoDevice], within_s: float) -> None:
        """Returns when `devices` have shown everything that came out, or the time is over."""
        waiting = list(devices)
        await until(lambda: not any(map(self._ledger.outstanding, waiting)), within_s)

    async def counted(self, within_s: float) -> None:
        """Returns when every bell shows the right number, or the time is over. The ledger gets what they show."""
        await until(lambda: all(self.unread(device) == self._ledger.unread_due(device.user) for device in self._clients), within_s)
        for device in self._clients:
            self._ledger.told(device, self.unread(device))

    async def _show(self, device: DemoDevice) -> None:
        with suppress(SegueError):  # a device that is turned away for good misses its items, and they are counted as lost
            async for item in self._clients[device].notifications():
                self._ledger.shown(device, str(item.payload.get("id")), perf_counter())
