"""Clients that are cut, lose what is on its way, or lose their access point: every stored event is shown once (SB-47, SB-60)."""

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Self

import segue
from infra.kernel.backoff import Backoff
from tests.support.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.news import News
from tests.support.stored import album, configured

DEADLINE_S = 60.0
QUICK = segue.ClientOptions(backoff=Backoff(base_s=0.01, cap_s=0.05), hello_pull_s=0.2, seen_every_s=0.05, answer_timeout_s=1.0)
ALBUMS = 120
FOLLOWERS = 8
LAPTOP, PHONE = "laptop", "phone"


class Device:
    """A device of a user on the SDK, and the marks and ids that it has shown."""

    def __init__(self, cluster: Cluster, user: str, name: str, points: Iterable[int]) -> None:
        urls = [f"ws://{cluster.of('accesspoint')[point].address}" for point in points]
        self.user = user
        self.client = segue.Client(urls, cluster.token(user), client=name, options=QUICK)
        self.shown: list[tuple[int, str]] = []
        self._news = News(DEADLINE_S)

    async def __aenter__(self) -> Self:
        await self.client.__aenter__()
        self._reader = asyncio.create_task(self._read())
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._reader.cancel()
        await asyncio.gather(self._reader, return_exceptions=True)
        await self.client.close()

    async def _read(self) -> None:
        async for item in self.client.notifications():
            self.shown.append((item.mark, item.id))
            self._news.tell()

    async def has_shown(self, number: int) -> None:
        """Waits until so many are shown."""
        await self._news.until(lambda: len(self.shown) >= number)


@asynccontextmanager
async def devices(cluster: Cluster, points: dict[str, list[int]]) -> AsyncIterator[list[Device]]:
    """Gives two devices of each of some users; `points` are the access points of each kind of device, to be tried in turn."""
    made = [Device(cluster, f"u{n}", name, points[name]) for n in range(FOLLOWERS) for name in (LAPTOP, PHONE)]
    async with AsyncExitStack() as stack:
        for device in made:
            await stack.enter_async_context(device)
        yield made


def check(every: Iterable[Device]) -> None:
    """Checks that each event came once, in the order of the marks, from 1 without a gap."""
    for device in every:
        assert [mark for mark, _ in device.shown] == list(range(1, ALBUMS + 1)), device.user
        assert {event for _, event in device.shown} == {f"bjork-{n}" for n in range(ALBUMS)}, device.user


async def publish(c: Cluster, numbers: Iterable[int]) -> None:
    """Publishes albums, one after the other; repeats each with its id until it is accepted."""
    for n in numbers:
        notice = album(n, *(f"u{user}" for user in range(FOLLOWERS)))

        async def is_taken(notice: dict[str, Any] = notice) -> bool:
            return (await c.notify(notice))[0] != 503

        await eventually(is_taken, "it was never taken", deadline_s=DEADLINE_S, poll_s=0.01)


async def test_every_device_of_every_follower_shows_every_event_though_links_lose_frames_and_clients_are_cut(tmp_path: Path) -> None:
    """SB-47: one frame in a hundred that carries an event, a call or an answer is lost on every link, and clients are cut."""
    async with Cluster(sites=2, state=tmp_path, change=configured()) as c, devices(c, {LAPTOP: [0], PHONE: [1]}) as every:
        c.plan.lose(0.01, seed=47)
        for start in range(0, ALBUMS, 12):
            await publish(c, range(start, start + 12))
            cut(c, start // 12 % 4, 4)
        c.plan.lose(0.0)
        cut(c, 0, 1)  # who lost the last live copy of all finds it with the next connection
        await asyncio.gather(*(device.has_shown(ALBUMS) for device in every))
        check(every)
        assert c.plan.lost > 0


def cut(c: Cluster, start: int, step: int) -> None:
    """Breaks the connections of every `step`th client from `start` on, without a goodbye."""
    for point in c.of("accesspoint"):
        for session in list(point.core.sessions)[start::step]:
            session.abort()


async def test_clients_of_a_killed_access_point_go_to_another_and_miss_nothing(tmp_path: Path) -> None:
    """SB-60: in the middle of a stream of events."""
    async with (
        Cluster(sites=1, accesspoints=2, state=tmp_path, change=configured()) as c,
        devices(c, {LAPTOP: [0, 1], PHONE: [1, 0]}) as every,
    ):
        await publish(c, range(ALBUMS // 3))
        assert c.of("accesspoint")[0].core.sessions
        publishing = asyncio.create_task(publish(c, range(ALBUMS // 3, ALBUMS)))
        await c.crash("sto/ap1")
        await publishing
        await asyncio.gather(*(device.has_shown(ALBUMS) for device in every))
        assert len(c.of("accesspoint")[0].core.sessions) == len(every)
        check(every)
