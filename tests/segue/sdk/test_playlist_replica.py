"""A playlist that is kept on this device, at a service that a test plays."""

import asyncio
from typing import Any, cast

import msgspec

import segue
from segue.sdk.messages import Event
from segue.sdk.playlists import PlaylistClient, PlaylistContents
from tests.support.eventually import eventually
from tests.support.scripted_server import DEADLINE_S, TIME_MS, ScriptedServer, event

MIX = "hm://playlist/user/bob/playlist/mix/"


class PlayedService:
    """A playlist service with one playlist, which was `fetched` so many times.

    `asked` are the changes, which it makes when `answers` is set.
    """

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.answers = asyncio.Event()
        self.fetched = 0

    async def get(self, owner: str, id: str) -> PlaylistContents:
        self.fetched += 1
        return PlaylistContents(MIX, owner, id, version=1, name="Mix", collaborative=True, tracks=["t1"], changed_ms=TIME_MS)

    async def change(self, owner: str, id: str, change: dict[str, Any], *, version: int, edit: str) -> int:
        self.asked.append(change)
        await self.answers.wait()
        return version + 1


async def test_a_replica_that_is_closed_asks_for_nothing_any_more() -> None:
    """SB-33: the edits that were not made are forgotten, and so are later ones."""
    service = PlayedService()
    async with ScriptedServer() as server, segue.Client(server.url, "secret") as client:
        async with segue.PlaylistReplica(client, cast(PlaylistClient, service), "bob", "mix") as mix:
            mix.add(["t2"])
            await eventually(lambda: service.asked)
            mix.add(["t3"])
        mix.missed()
        mix.heard(
            msgspec.convert(event(MIX, 1, payload={"version": 2, "name": "Other", "change": {"op": "rename", "name": "Other"}}), Event)
        )
        mix.add(["t4"])
        service.answers.set()
        await client.ping()
        assert service.asked == [{"op": "add", "tracks": ["t2"], "position": 1}]
        assert service.fetched == 1
        assert client.topics == frozenset()


def news(seq: int) -> dict[str, Any]:
    """Returns the event that the playlist has another name since, the version behind the one with the number `seq`."""
    return event(MIX, seq, payload={"version": seq + 1, "name": f"Mix {seq}", "change": {"op": "rename", "name": f"Mix {seq}"}})


async def test_a_replica_goes_on_when_its_owner_is_a_friend_no_longer_and_friends_are_heard_beside_it() -> None:
    """SB-33: a playlist that may be seen by others than friends. Its events are the application's, too, while it is a friend's."""
    service = PlayedService()
    async with ScriptedServer() as server, segue.Client(server.url, "secret") as client:
        peer = await server.next_peer()
        await client.follow("friends")
        async with segue.PlaylistReplica(client, cast(PlaylistClient, service), "bob", "mix") as mix:
            for seq, (topics, left) in enumerate((([MIX], []), ([], [MIX]), ([MIX], [])), start=1):
                await peer.send({"op": "followed", "topics": topics, "left": left, "beyond": 0, "whole": True})
                await peer.send(news(seq))
            await eventually(lambda: mix.name == "Mix 3")
            async with asyncio.timeout(DEADLINE_S):
                assert [(await anext(client)).seq for _ in range(2)] == [1, 3]
        assert client.topics == {MIX}


async def test_a_replica_of_a_friends_playlist_follows_it_itself() -> None:
    """SB-33"""
    service = PlayedService()
    async with ScriptedServer() as server, segue.Client(server.url, "secret") as client:
        peer = await server.next_peer()
        await client.follow("friends")
        await peer.send({"op": "followed", "topics": [MIX], "left": [], "beyond": 0, "whole": True})
        await eventually(lambda: client.topics)
        async with segue.PlaylistReplica(client, cast(PlaylistClient, service), "bob", "mix") as mix:
            await peer.send({"op": "followed", "topics": [], "left": [MIX], "beyond": 0, "whole": True})
            await peer.send(news(1))
            await eventually(lambda: mix.name == "Mix 1")
            assert client.topics == {MIX}
        assert client.topics == frozenset()
