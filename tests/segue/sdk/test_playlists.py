"""The SDK for playlists, against a real playlist service."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import segue
from segue.sdk.playlists import PlaylistClient
from tests.support.cluster import Cluster


@pytest.fixture
async def c(tmp_path: Path) -> AsyncIterator[Cluster]:
    async with Cluster(sites=1, state=tmp_path, services=("playlist",)) as c:
        yield c


def playlists(c: Cluster, user: str, *first: str) -> PlaylistClient:
    """Returns a client of `user`, who asks at the addresses `first` before that of the cluster."""
    return segue.PlaylistClient([*first, f"http://{c.of('playlist')[0].address}"], lambda: c.token(user))


async def test_a_playlist_is_what_its_changes_made_of_it(c: Cluster) -> None:
    async with playlists(c, "ann") as ann:
        made = await ann.create("Sumar", id="summer", tracks=["a", "b", "c"])
        assert (made.topic, made.version, made.tracks) == ("hm://playlist/user/ann/playlist/summer/", 1, ["a", "b", "c"])
        assert await ann.add("ann", "summer", ["d"]) == 2
        assert await ann.add("ann", "summer", ["e"], position=0, version=2) == 3
        assert await ann.remove("ann", "summer", 1, count=2, version=3) == 4
        assert await ann.reorder("ann", "summer", 0, 3, version=4) == 5
        assert await ann.rename("ann", "summer", "Vetur") == 6
        assert await ann.set_collaborative("ann", "summer", True) == 7
        now = await ann.get("ann", "summer")
        assert (now.name, now.version, now.collaborative, now.tracks) == ("Vetur", 7, True, ["c", "d", "e"])


async def test_a_change_to_a_version_that_is_past_is_a_conflict_and_changes_nothing(c: Cluster) -> None:
    async with playlists(c, "ann") as ann:
        made = await ann.create("Sumar", tracks=["a", "b"])
        await ann.rename("ann", made.id, "Vetur")
        for attempt in (ann.remove("ann", made.id, 0, version=1), ann.delete("ann", made.id, version=1)):
            with pytest.raises(segue.Refused, match="conflict"):
                await attempt
        assert (await ann.get("ann", made.id)).tracks == ["a", "b"]
        await ann.delete("ann", made.id, version=2)
        with pytest.raises(segue.Refused, match="not-found"):
            await ann.get("ann", made.id)
        with pytest.raises(segue.Refused, match="choose another id"):
            await ann.create("Sumar", id=made.id)


async def test_who_follows_is_in_both_lists_until_they_stop(c: Cluster) -> None:
    """SB-32."""
    async with playlists(c, "ann") as ann, playlists(c, "bob") as bob:
        await ann.create("Sumar", id="a-b")
        await bob.follow("ann", "a-b")
        assert [each async for each in ann.followers("ann", "a-b")] == ["bob"]
        assert [(each.owner, each.id, each.tracks) async for each in bob.followed_by("bob")] == [("ann", "a-b", 0)]
        await bob.unfollow("ann", "a-b")
        assert [each async for each in ann.followers("ann", "a-b")] == []
        assert [each async for each in bob.followed_by("bob")] == []


async def test_lists_come_whole_through_all_their_pages(c: Cluster) -> None:
    async with playlists(c, "ann") as ann:
        for number in range(101):
            await ann.create("P", id=f"p{number:03}")
        assert [each.id async for each in ann.owned_by("ann")] == [f"p{number:03}" for number in range(101)]


async def test_a_playlist_is_made_at_the_next_address_where_nobody_answers_at_the_first(c: Cluster) -> None:
    async with playlists(c, "ann", "http://127.0.0.1:1") as ann:
        assert (await ann.create("Sumar")).version == 1
        assert await ann.add("ann", (await anext(ann.owned_by("ann"))).id, ["a"]) == 2
