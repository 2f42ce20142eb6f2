"""Replicas of a playlist through the SDK, in a site with a social and a playlist service."""

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from segue import Backoff, Client, ClientOptions, ConnectionLost, PlaylistClient, PlaylistReplica, Refused, RefusedEdit
from tests.support.cluster import Cluster
from tests.support.eventually import eventually

SOON_S = 1.0


class DistantPlaylists(PlaylistClient):
    """A client of the playlist service that reaches nobody while `devices` are away."""

    devices: "Devices"

    async def change(self, *args: Any, **how: Any) -> int:
        if self.devices.is_away:
            raise ConnectionLost("out of reach")
        return await super().change(*args, **how)


class Devices:
    """Devices of users, each with a client, a client of the playlist service, and a replica of ann's playlist `mix`."""

    def __init__(self, c: Cluster, stack: AsyncExitStack) -> None:
        self._c, self._stack = c, stack
        self.refused: list[RefusedEdit] = []
        self.all: list[PlaylistReplica] = []
        self.is_away = False

    async def client(self, user: str) -> Client:
        """Returns a connected client of `user`."""
        options = ClientOptions(backoff=Backoff(base_s=0.01, cap_s=0.05))
        url = f"ws://{self._c.of('accesspoint')[0].address}"
        return await self._stack.enter_async_context(Client(url, self._c.token(user), client=f"{user}{len(self.all)}", options=options))

    async def playlists(self, user: str) -> PlaylistClient:
        """Returns a client of the playlist service for `user`."""
        found = await self._stack.enter_async_context(DistantPlaylists(self._c.url(self._c.of("playlist")[0], ""), self._c.token(user)))
        found.devices = self
        return found

    async def replica(self, user: str) -> PlaylistReplica:
        """Returns a replica on a new device of `user`."""
        client, playlists = await self.client(user), await self.playlists(user)
        replica = PlaylistReplica(client, playlists, "ann", "mix", on_refused=self.refused.append, backoff=Backoff(base_s=0.01, cap_s=0.05))
        self.all.append(await self._stack.enter_async_context(replica))
        return replica

    async def agree(self, *tracks: str) -> float:
        """Waits until all show `tracks`, and nothing waits; returns how many seconds that took."""
        began = time.monotonic()
        await eventually(
            lambda: all(each.tracks == [*tracks] and not each.waiting for each in self.all),
            lambda: f"{[(each.version, each.waiting, each.tracks) for each in self.all]}",
        )
        return time.monotonic() - began


@asynccontextmanager
async def devices(folder: Path) -> AsyncIterator[tuple[Cluster, Devices]]:
    """Yields a site, and devices for it. Ann has the collaborative playlist `mix` with the track t1."""
    async with Cluster(sites=1, state=folder, services=("playlist", "social"), policy="social") as c, AsyncExitStack() as stack:
        await c.presence_knows()
        await c.until(lambda: all(point.core.calls.has("social") for point in c.of("accesspoint")))
        found = Devices(c, stack)
        await (await found.playlists("ann")).create("Mix", id="mix", tracks=["t1"], collaborative=True)
        yield c, found


async def test_all_devices_have_the_same_order_within_a_second_and_who_edits_sees_it_at_once(tmp_path: Path) -> None:
    """SB-33: two devices of the owner and one of another user, who edit at the same time."""
    async with devices(tmp_path) as (_, found):
        phone, laptop, bob = await found.replica("ann"), await found.replica("ann"), await found.replica("bob")
        phone.add(["t2", "t3"])
        assert phone.tracks == ["t1", "t2", "t3"]
        assert await found.agree("t1", "t2", "t3") < SOON_S
        phone.add(["p"], 2)  # it stands before t3, which nobody moves: the order does not depend on whose edit comes first
        laptop.reorder(0, 3)
        bob.remove(1)
        bob.rename("Ours")
        assert bob.tracks == ["t1", "t3"]
        assert await found.agree("p", "t3", "t1") < SOON_S
        await eventually(lambda: {each.name for each in found.all} == {"Ours"})
        assert found.refused == []


async def test_edits_that_are_made_while_nothing_can_be_reached_are_merged(tmp_path: Path) -> None:
    """SB-33."""
    async with devices(tmp_path) as (_, found):
        phone, bob = await found.replica("ann"), await found.replica("bob")
        found.is_away = True
        phone.add(["p1"])
        phone.add(["p2"], 0)
        bob.add(["b1"])
        assert phone.tracks == ["p2", "t1", "p1"]
        assert (phone.waiting, bob.waiting) == (2, 1)
        found.is_away = False
        await eventually(lambda: not (phone.waiting or bob.waiting), lambda: f"{phone.waiting} {bob.waiting}")
        await eventually(lambda: sorted(phone.tracks) == ["b1", "p1", "p2", "t1"])
        await found.agree(*phone.tracks)
        assert found.refused == []


async def test_a_lost_connection_loses_no_version(tmp_path: Path) -> None:
    """SB-33, DPS-8."""
    async with devices(tmp_path) as (c, found):
        phone, bob = await found.replica("ann"), await found.replica("bob")
        for session in list(c.of("accesspoint")[0].core.sessions):
            session.abort()
        phone.add(["t2"])
        bob.add(["t3"], 0)
        await found.agree("t3", "t1", "t2")


async def test_what_may_not_be_edited_is_taken_back_and_told(tmp_path: Path) -> None:
    """SB-7, SB-33: and a deleted playlist is gone on all devices."""
    async with devices(tmp_path) as (_, found):
        phone, bob = await found.replica("ann"), await found.replica("bob")
        phone.set_collaborative(False)
        await eventually(lambda: not bob.collaborative)
        bob.add(["x"])
        assert bob.tracks == ["t1", "x"]
        await found.agree("t1")
        assert [(each.op, each.code) for each in found.refused] == [("add", "forbidden")]
        await (await found.playlists("ann")).delete("ann", "mix")
        await eventually(lambda: phone.is_gone and bob.is_gone)
        phone.add(["y"])
        assert found.refused[-1].code == "not-found"


async def test_a_replica_follows_only_while_it_is_open_and_the_application_hears_nothing_of_it(tmp_path: Path) -> None:
    """SB-12: nothing is stored for who only looked at a playlist."""
    async with devices(tmp_path) as (_, found):
        client, playlists = await found.client("bob"), await found.playlists("bob")
        async with PlaylistReplica(client, playlists, "ann", "mix") as mix:
            assert client.topics == {mix.topic}
            assert [each async for each in playlists.followed_by("bob")] == []
            await (await found.playlists("ann")).add("ann", "mix", ["t2"])
            await eventually(lambda: mix.tracks == ["t1", "t2"])
        assert client.topics == frozenset()
        with pytest.raises(Refused, match="not-found"):
            async with PlaylistReplica(client, playlists, "ann", "nothing"):
                pass
        assert client.topics == frozenset()
