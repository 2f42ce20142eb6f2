"""A playlist that is kept on this device, at a service that a test plays."""

import asyncio
from typing import Any, cast

import msgspec
import pytest

import segue
from segue.sdk.messages import Event
from segue.sdk.playlists import PlaylistClient, PlaylistContents
from tests.support.eventually import eventually
from tests.support.scripted_server import DEADLINE_S, TIME_MS, ScriptedServer, error, event, subscribed

BOB, MIX = "hm://presence/user/bob/", "hm://playlist/user/bob/playlist/mix/"


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


@pytest.mark.parametrize("lasting", [True, False, None])
async def test_a_replica_goes_on_when_the_application_unsubscribes_its_playlist(lasting: bool | None) -> None:
    """SB-33: it was deaf from then on. The application hears nothing more; None: it has never subscribed it."""
    service = PlayedService()
    async with ScriptedServer() as server, segue.Client(server.url, "secret") as client:
        peer = await server.next_peer()
        if lasting is not None:
            await client.subscribe(MIX, lasting=lasting)
        async with segue.PlaylistReplica(client, cast(PlaylistClient, service), "bob", "mix") as mix:
            await client.unsubscribe([MIX, BOB])
            assert client.topics == {MIX}
            expected = [("unsubscribe", [MIX, BOB], True), ("subscribe", [MIX], False)] if lasting else [("unsubscribe", [BOB], True)]
            asked = [await peer.next() for _ in ["what followed it first", *expected]][1:]
            assert [(each["op"], each["topics"], each.get("lasting", True)) for each in asked] == expected
            if lasting:  # something may have come in between
                await eventually(lambda: service.fetched == 2)
            await peer.send(news(1))
            await eventually(lambda: mix.name == "Mix 1")
            await peer.send(event(BOB, 7))
            async with asyncio.timeout(DEADLINE_S):
                assert (await anext(client)).topic == BOB
            peer.drop()
            peer = await server.next_peer()
            assert (await peer.heard("subscribe"))["lasting"] is False
        assert client.topics == frozenset()


async def test_a_playlist_that_may_not_be_seen_any_more_when_the_application_unsubscribes_it_is_gone() -> None:
    """SB-33"""
    service = PlayedService()
    async with ScriptedServer() as server, segue.Client(server.url, "secret") as client:
        await client.subscribe(MIX)
        async with segue.PlaylistReplica(client, cast(PlaylistClient, service), "bob", "mix") as mix:
            server.answers["subscribe"] = lambda message: subscribed(message) | {"rejected": [{"topic": MIX, "code": "forbidden"}]}
            await client.unsubscribe(MIX)
            assert (mix.is_gone, client.topics) == (True, frozenset())


async def test_unsubscribing_while_away_leaves_a_replica_its_playlist() -> None:
    """SB-33: it is asked for when there is a connection again."""
    service = PlayedService()
    states: list[segue.State] = []
    async with ScriptedServer() as server, segue.Client(server.url, "secret", on_state=states.append) as client:
        await client.subscribe(MIX)
        async with segue.PlaylistReplica(client, cast(PlaylistClient, service), "bob", "mix"):
            server.answers["hello"] = lambda message: None
            (await server.next_peer()).drop()
            await eventually(lambda: states[-1].phase is segue.Phase.WAITING)
            await client.unsubscribe(MIX)
            assert client.topics == {MIX}


async def test_a_subscribe_that_is_refused_leaves_a_replica_its_playlist() -> None:
    """SB-33: it is the replica's alone, as before."""
    service = PlayedService()
    async with ScriptedServer() as server, segue.Client(server.url, "secret") as client:
        peer = await server.next_peer()
        async with segue.PlaylistReplica(client, cast(PlaylistClient, service), "bob", "mix") as mix:
            refused = error("too-many-topics", 4108)
            server.answers["subscribe"] = lambda each: refused | {"id": each["id"]} if each.get("lasting", True) else subscribed(each)
            with pytest.raises(segue.Refused):
                await client.subscribe([MIX, BOB])
            assert client.topics == {MIX}
            await peer.send(news(1))
            await eventually(lambda: mix.name == "Mix 1")
            await peer.send(event(BOB, 7))
            async with asyncio.timeout(DEADLINE_S):
                assert (await anext(client)).topic == BOB
        assert client.topics == frozenset()
