"""The Python SDK at a whole cluster: it comes back by itself, with what it missed, once, and says whether that was all."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

import segue
from accesspoint.options import AccessPointOptions
from accesspoint.point import write_point
from segue.cluster.role_spec import RoleOptions
from segue.sdk.cursor import Number, Position
from tests.cluster.test_client_recovery import MIX, OTHER, change, hurried
from tests.support.cluster import Cluster

DEADLINE_S = 30.0
SOON = segue.ClientOptions(backoff=segue.Backoff(base_s=0.01, cap_s=0.05), open_timeout_s=DEADLINE_S)
ALBUMS = "hm://notifications/feed/a1%new-album/"


class Overheard:
    """The news of a client: its states while it was connected, and its gaps."""

    def __init__(self) -> None:
        self.connected: asyncio.Queue[segue.State] = asyncio.Queue()
        self.gaps: list[segue.Gap] = []

    def client(self, c: Cluster, *, first: int = 0, **how: Any) -> segue.Client:
        """Returns a client of ann, who goes to the access point `first`, and then to the others."""
        doors = [f"ws://{point.address}" for point in c.of("accesspoint", "sto")]
        return segue.Client(
            doors[first:] + doors[:first], c.token("ann"), on_state=self._hear, on_gap=self.gaps.append, options=SOON, **how
        )

    def _hear(self, state: segue.State) -> None:
        if state.phase is segue.Phase.CONNECTED:
            self.connected.put_nowait(state)

    async def installed(self) -> segue.Installed:
        """Returns how far the topics are installed when the client is connected the next time."""
        async with asyncio.timeout(DEADLINE_S):
            installed = (await self.connected.get()).installed
        assert installed is not None
        return installed


async def taken(client: segue.Client, count: int) -> list[tuple[int, int | None]]:
    """Takes `count` events. Returns the number of each publication, and the gap before it."""
    async with asyncio.timeout(DEADLINE_S):
        events = [await anext(client) for _ in range(count)]
    return [(event.payload["n"], event.gap) for event in events]


async def pointed(c: Cluster) -> None:
    """Waits until the access points can give points."""
    await c.settle()
    epochs = {broker.window.epoch for broker in c.of("broker", "sto")}
    await c.until(lambda: all(epochs <= point.core.recoveries.own.stamps.keys() for point in c.of("accesspoint", "sto")))


async def test_a_client_whose_access_point_dies_gets_what_it_missed_at_another_one(tcp: bool) -> None:
    """DPS-5, DPS-6: nothing is missing and nothing comes twice; a quiet topic is recovered by its point."""
    told = Overheard()
    async with Cluster(sites=1, brokers=2, accesspoints=2, tcp=tcp) as c:
        await pointed(c)
        async with told.client(c) as client:
            assert (await client.subscribe([MIX, OTHER])).recovered is None
            await told.installed()
            await change(c, 0, 1)
            assert await taken(client, 2) == [(0, 0), (1, 0)]
            await client.ping()
            name = next(name for name, role in c.roles.items() if role is c.of("accesspoint")[0])
            await c.crash(name)
            await change(c, 2, 3)
            await change(c, 9, topic=OTHER)
            installed = await told.installed()
            assert (installed.recovered, installed.lost) == (True, ())
            await change(c, 4)
            found = await taken(client, 4)
            assert sorted(found) == [(2, 0), (3, 0), (4, 0), (9, 0)]
    assert told.gaps == []


async def test_the_next_process_gets_what_was_missed_by_the_one_before(tcp: bool, tmp_path: Path) -> None:
    """DPS-5: what the first one had not taken comes again, and nothing else does."""
    path, told = tmp_path / "ann.positions", Overheard()
    async with Cluster(sites=1, tcp=tcp) as c:
        await pointed(c)
        async with told.client(c, position_file=segue.PositionFile(path)) as client:
            await client.subscribe([MIX, OTHER])
            await change(c, 0, 1, 2)
            assert await taken(client, 1) == [(0, 0)]
            await client.ping()
        await change(c, 3)
        await change(c, 9, topic=OTHER)
        async with told.client(c, position_file=segue.PositionFile(path)) as client:
            assert (await client.subscribe([MIX, OTHER])).recovered
            assert sorted(await taken(client, 4)) == [(1, 0), (2, 0), (3, 0), (9, 0)]
            await change(c, 4)
            assert await taken(client, 1) == [(4, 0)]
    assert told.gaps == []


async def test_who_was_away_for_too_long_is_told_by_everything_that_can_tell(tcp: bool, tmp_path: Path) -> None:
    """DPS-5: by the answer, by `on_gap`, and by the next event."""
    path, told = tmp_path / "ann.positions", Overheard()
    async with Cluster(sites=1, tcp=tcp, change=hurried(seconds=0.1)) as c:
        await pointed(c)
        async with told.client(c, position_file=segue.PositionFile(path)) as client:
            await client.subscribe(MIX)
            await change(c, 0)
            await taken(client, 1)
        await change(c, 1)
        await c.until(lambda: c.of("broker")[0].counters()["broker_window_events"] == 0)
        async with told.client(c, position_file=segue.PositionFile(path)) as client:
            installed = await client.subscribe([MIX, ALBUMS])
            assert (installed.recovered, [each.topic for each in installed.lost]) == (False, [MIX])
            await change(c, 2, 3)
            assert await taken(client, 2) == [(2, None), (3, 0)]
    assert [gap.topics for gap in told.gaps] == [(MIX,)]


@pytest.mark.parametrize(
    "position",
    [
        Position("no point", {}),
        Position(None, {"sto": (Number(1 << 52, 7),)}),
        Position("no point", {"sto": (Number(1, 1),), "mars": (Number(1, 1),)}),
        Position(write_point("mars", {1: 1}), {}),
        Position(write_point("sto", {1: 1 << 40}), {}),
    ],
    ids=["no point", "future", "no point, old numbers", "other site", "never given"],
)
async def test_a_position_that_means_nothing_here_is_told_and_does_not_end_the_client(tmp_path: Path, position: Position) -> None:
    """DPS-9."""
    told, file = Overheard(), segue.PositionFile(tmp_path / "ann.positions")
    file.save("ann", {MIX: position})
    async with Cluster(sites=1) as c, told.client(c, position_file=file) as client:
        await pointed(c)
        installed = await client.subscribe(MIX)
        assert (installed.recovered, [each.topic for each in installed.lost]) == (False, [MIX])
        await change(c, 0, 1)
        assert await taken(client, 2) == [(0, None), (1, 0)]
    assert [gap.topics for gap in told.gaps] == [(MIX,)]


async def test_many_topics_are_recovered_in_as_many_messages_as_a_server_takes(tcp: bool) -> None:
    """DPS-5: an access point takes 8 of them at once."""
    told, topics = Overheard(), [f"hm://playlist/user/u{n}/playlist/{'p' * 100}/" for n in range(3000)]

    def narrow(options: RoleOptions) -> RoleOptions:
        return msgspec.structs.replace(options, max_topics_per_message=100) if isinstance(options, AccessPointOptions) else options

    async with Cluster(sites=1, accesspoints=2, tcp=tcp, change=narrow) as c:
        await pointed(c)
        async with told.client(c) as client:
            await client.subscribe(topics)
            await told.installed()
            await client.ping()
            await c.crash(next(name for name, role in c.roles.items() if role is c.of("accesspoint")[0]))
            await change(c, 1, topic=topics[-1])
            assert (await told.installed()).recovered
            assert await taken(client, 1) == [(1, 0)]
