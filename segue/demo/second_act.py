"""The second act: an artist releases an album while most of the followers sleep, and nobody misses it.

Everything goes the way of life: durable follows at the artist service, its job over a catalogue, the notification module, mails
and pushes to real servers on the loopback, and devices that come back and pull. The ledger hears what the devices, the mail
server and the push service see, and nothing else.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from time import perf_counter
from typing import Final

from infra.kernel.printable import printable
from segue.cluster.tokens import user_token

from .catalogue import ALBUM, DEBUT, SINGLE, DemoCatalogue, Release
from .cluster import GRACE_S, Cluster
from .crowd import for_each
from .desk import Desk
from .devices import DemoDevice, Devices
from .fans import Fans
from .lossy_wire import LossyWire
from .post import PostOffice
from .release_oracle import ReleaseLedger
from .release_outcome import ReleaseOutcome
from .show import Show
from .until import until

WAIT_S: Final = 20.0
MARGIN_S: Final = 0.3
ENDED: Final = ("delivered", "dropped", "dead")
ROWS: Final = "notification_rows_total"


class SecondAct:
    """One run of the second act.

    - `cluster`: where everybody connects.
    - `found`: the artist and the followers.
    - `door_of`: the WebSocket URL for each user.
    - `post`: takes mails and pushes.
    - `catalogue`: where releases are written.
    - `show`: is told every step.
    """

    def __init__(
        self, cluster: Cluster, found: Fans, door_of: Mapping[str, str], post: PostOffice, catalogue: DemoCatalogue, show: Show
    ) -> None:
        self._cluster, self._fans, self._door_of, self._post, self._catalogue, self._show = cluster, found, door_of, post, catalogue, show
        self._ledger = post.ledger = ReleaseLedger(found.followers, found.addresses, found.phones)
        self._artist = printable(found.artist_name)
        self._robbed = DemoDevice(min(found.awake), "desktop")
        self._token = partial(user_token, cluster.secret)

    async def run(self, store: str) -> ReleaseOutcome:
        """Plays it, and returns the outcome. The clients of the first act have disconnected. Raises SegueError."""
        start_s = perf_counter()
        before = await self._count(ROWS)
        async with LossyWire(self._door_of[self._robbed.user], lambda: self._ledger.robbed(self._robbed)) as wire:

            def door_of(device: DemoDevice) -> str:
                return wire.url if device == self._robbed else self._door_of[device.user]

            async with Desk(self._cluster.services, self._cluster.secret) as desk:
                async with Devices(door_of, self._token, self._ledger) as devices:
                    await self._evening(desk, devices)
                    await self._morning(desk, devices)
        return ReleaseOutcome(
            summary=self._ledger.summary(),
            artist=self._fans.artist_name,
            store=store,
            rows=await self._count(ROWS) - before,
            seconds=perf_counter() - start_s,
            first_missing=next(self._ledger.missing(), None),
        )

    async def _evening(self, desk: Desk, devices: Devices) -> None:
        found, awake = self._fans, [DemoDevice(user, "desktop") for user in sorted(self._fans.awake)]
        with self._show.phase("fans", len(found.followers) + len(awake)) as phase:
            await self._gather(desk, phase.one_done)
            await devices.connect(awake, phase.one_done)
            await asyncio.sleep(GRACE_S + MARGIN_S)  # then presence, too, knows who has gone
            phase.outcome = f"{len(found.followers):,} follow {self._artist}, and {len(found.asleep):,} of them go to sleep"
        with self._show.phase("album") as phase:
            await self._release(desk, ALBUM, found.awake, frozenset())
            await devices.shown((device for device in awake if device != self._robbed), WAIT_S)
            phase.outcome = f"{self._artist} releases “{ALBUM.title}”; {self._ledger.summary().live:,} devices show it"
        with self._show.phase("post") as phase:
            await self._quiet()
            summary = self._ledger.summary()
            phase.outcome = f"{summary.mailed:,} mails and {summary.pushed:,} pushes to those who sleep"

    async def _gather(self, desk: Desk, one_done: Callable[[], None]) -> None:
        """Makes the artist known before anybody follows, for what is older than the service is no news."""
        found = self._fans
        self._catalogue.add(found.artist_id, found.artist_name, DEBUT)
        await desk.run_job()

        async def one(user: str) -> None:
            await desk.follow(user, found.artist_id)
            if user in found.addresses:
                await desk.give_address(user, found.addresses[user])
            if user in found.phones:
                await desk.take_pushes(user, self._post.pushes.subscribe(user))
            one_done()

        await for_each(found.followers, one)

    async def _morning(self, desk: Desk, devices: Devices) -> None:
        found = self._fans
        phones = [DemoDevice(user, "mobile") for user in sorted(found.second_device)]
        back = [*(DemoDevice(user, "desktop") for user in found.asleep), *phones]
        with self._show.phase("morning", len(back)) as phase:
            await devices.connect(back, phase.one_done)
            await devices.shown(back, WAIT_S)
            await self._read(devices, phones)
            phase.outcome = f"{len(found.asleep):,} are back, {len(phones):,} of them on two devices"
        with self._show.phase("single") as phase:
            await self._release(desk, SINGLE, frozenset(found.followers), found.second_device)
            await devices.shown([*back, *(DemoDevice(user, "desktop") for user in found.awake)], WAIT_S)
            await self._quiet()
            await devices.counted(WAIT_S)
            phase.outcome = f"“{SINGLE.title}” comes out, now that everybody is online"

    async def _read(self, devices: Devices, phones: Iterable[DemoDevice]) -> None:
        """Has users with two devices read on one of them. The other one is told."""

        async def one(phone: DemoDevice) -> None:
            await devices.read(phone._replace(class_="desktop"))
            await until(lambda: not devices.unread(phone), WAIT_S)
            self._ledger.heard(phone, devices.unread(phone))

        await for_each(phones, one)

    async def _release(self, desk: Desk, release: Release, awake: frozenset[str], on_phone: frozenset[str]) -> None:
        self._catalogue.add(self._fans.artist_id, self._fans.artist_name, release)
        self._ledger.released(release.id, awake, on_phone, perf_counter())
        await desk.run_job()

    async def _quiet(self) -> None:
        """Waits until every mail and push that is due has come, and then until the module has none left to send."""
        await until(self._ledger.is_post_there, WAIT_S)
        await until(self._is_post_done, WAIT_S)

    async def _is_post_done(self) -> bool:
        scheduled, ended = await self._count("notification_scheduled_total"), await self._count("notification_sent_total", *ENDED)
        return scheduled <= ended

    async def _count(self, name: str, *states: str) -> int:
        """Returns the sum of a counter over all notification nodes; only of these states where it has states."""
        counters = [role.counters[name] for each in await self._cluster.stats() for role in each.roles if role.role == "notification"]
        return int(sum(sum(each[state] for state in states) if isinstance(each, dict) else each for each in counters))
