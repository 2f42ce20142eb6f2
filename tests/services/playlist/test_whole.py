"""Playlists with everything behind them: a real notification module, social and presence, and real clients."""

from pathlib import Path
from typing import Any

from tests.services.playlist.site import uri
from tests.support.cluster import Cluster
from tests.support.user import User


def whole(folder: Path) -> Cluster:
    return Cluster(sites=1, state=folder, services=("playlist", "social"))


async def create(c: Cluster, owner: str, playlist_id: str, **fields: Any) -> None:
    status, answer = await c.request(owner, "POST", "playlist", "/v1/playlists", {"id": playlist_id, "name": "A name", **fields})
    assert status == 201, answer


async def add(c: Cluster, user: str, path: str, track: str) -> None:
    change = {"change": {"op": "add", "tracks": [track]}}
    status, answer = await c.request(user, "POST", "playlist", f"/v1/playlists/{path}/changes", change)
    assert status == 200, answer


async def follow(c: Cluster, path: str, *users: str) -> None:
    for user in users:
        status, _ = await c.request(user, "PUT", "playlist", f"/v1/playlists/{path}/follow")
        assert status == 204


def bell(user: User) -> list[dict[str, Any]]:
    """The items that came live."""
    return [event["payload"] for event in user.events if event["kind"] == "notification"]


async def test_the_owner_and_the_followers_are_told_of_a_change_and_who_made_it_is_not(tmp_path: Path) -> None:
    async with whole(tmp_path) as c, c.user("ann") as ann, c.user("bob") as bob, c.user("cyd") as cyd:
        await create(c, "ann", "p", collaborative=True)
        await follow(c, "ann/p", "ann", "bob", "cyd")
        await add(c, "bob", "ann/p", "by bob")
        await add(c, "ann", "ann/p", "by ann")
        for user, authors in ((ann, ["bob"]), (bob, ["ann"]), (cyd, ["bob", "ann"])):
            await user.until(lambda user=user, authors=authors: len(bell(user)) == len(authors))  # type: ignore[misc]
        stored = {user: (await user.ask("pull", since=0))["items"] for user in (ann, bob, cyd)}
        for user, authors in ((ann, ["bob"]), (bob, ["ann"]), (cyd, ["bob", "ann"])):
            assert [item["payload"]["by"] for item in bell(user)] == authors
            assert [item["payload"]["by"] for item in stored[user]] == authors
            assert {item["topic"] for item in stored[user]} == {uri("ann/p")}


async def test_an_owner_whom_nobody_follows_is_told_what_others_do_to_his_playlist(tmp_path: Path) -> None:
    async with whole(tmp_path) as c:
        await create(c, "ann", "p", collaborative=True)
        await add(c, "bob", "ann/p", "t")
        async with c.user("ann") as ann:
            await ann.until(lambda: bool(bell(ann)) or any(answer.get("items") for answer in ann.answers))
            assert [item["payload"]["by"] for item in (await ann.ask("pull", since=0))["items"]] == ["bob"]
