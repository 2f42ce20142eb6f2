"""Playlists with everything behind them: a real notification module, social and presence, and real clients."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from segue import Client
from segue.cluster.role_spec import RoleOptions
from services.social.options import SocialOptions
from tests.services.playlist.site import quiet, uri
from tests.support.cluster import Cluster
from tests.support.eventually import eventually
from tests.support.promises import kept
from tests.support.user import User

INBOX = "hm://notifications/inbox/bob/"


@asynccontextmanager
async def whole(folder: Path, **social: Any) -> AsyncIterator[Cluster]:
    """Yields a site whose presence service knows who is online. `social`: options of that service."""

    def change(options: RoleOptions) -> RoleOptions:
        return msgspec.structs.replace(options, **social) if isinstance(options, SocialOptions) else options

    async with Cluster(sites=1, state=folder, services=("playlist", "social"), change=change) as c:
        await c.presence_knows()
        yield c


async def create(c: Cluster, owner: str, playlist_id: str, **fields: Any) -> None:
    """Creates the playlist `playlist_id` of `owner`. Who follows from now on is not told of it."""
    status, answer = await c.request(owner, "POST", "playlist", "/v1/playlists", {"id": playlist_id, "name": "A name", **fields})
    assert status == 201, answer
    await quiet(c.of("playlist")[0])


async def add(c: Cluster, user: str, path: str, track: str) -> None:
    change = {"change": {"op": "add", "tracks": [track]}}
    status, answer = await c.request(user, "POST", "playlist", f"/v1/playlists/{path}/changes", change)
    assert status == 200, answer


async def follow(c: Cluster, path: str, *users: str) -> None:
    for user in users:
        status, _ = await c.request(user, "PUT", "playlist", f"/v1/playlists/{path}/follow")
        assert status == 204


def bell(user: User) -> list[dict[str, Any]]:
    """Returns the items that came live."""
    return [event["payload"] for event in user.events if event["kind"] == "notification"]


async def test_the_owner_and_the_followers_are_told_of_a_change_and_who_made_it_is_not(tmp_path: Path) -> None:
    async with whole(tmp_path) as c, c.user("ann") as ann, c.user("bob") as bob, c.user("cyd") as cyd:
        await create(c, "ann", "p", collaborative=True)
        await follow(c, "ann/p", "ann", "bob", "cyd")
        await add(c, "bob", "ann/p", "by bob")
        await add(c, "ann", "ann/p", "by ann")
        for user, authors in ((ann, ["bob"]), (bob, ["ann"]), (cyd, ["bob", "ann"])):
            await user.until(lambda user=user, authors=authors: len(bell(user)) == len(authors))  # type: ignore[misc]
        stored = {user: (await user.pull(since=0))["items"] for user in (ann, bob, cyd)}
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
            assert [item["payload"]["by"] for item in (await ann.pull(since=0))["items"]] == ["bob"]


async def test_a_friends_item_reaches_the_bell_at_once_and_is_shown_once(tmp_path: Path) -> None:
    """The engine has the event on the playlist's topic; the bell hears of it on the inbox, and waits for no pull."""
    async with whole(tmp_path) as c:
        await create(c, "ann", "p")
        assert (await c.request("bob", "PUT", "social", "/v1/social/friends/ann"))[0] == 200
        await follow(c, "ann/p", "bob")
        async with c.user("bob") as page, Client(f"ws://{c.of('accesspoint')[0].address}/v1/connect", c.token("bob"), client="app") as app:
            for device in (page.ask("subscribe", topics=[uri("ann/p")]), app.subscribe([uri("ann/p")])):
                await device
            shown, heard = app.notifications(), aiter(app)
            for track in ("t", "u"):
                await add(c, "ann", "ann/p", track)
                assert (await anext(shown)).id == (await anext(heard)).id
            events = await page.heard(4)
            by_topic = {topic: [event["id"] for event in events if event["topic"] == topic] for topic in (uri("ann/p"), INBOX)}
            assert by_topic[uri("ann/p")] == by_topic[INBOX] == [item["id"] for item in (await page.pull(since=0))["items"]]
            assert [(item["mark"], item["types"]) for item in bell(page)] == [(1, ["in-client"]), (2, ["in-client"])]
            _, why = await c.request("bob", "GET", "notification", f"/v1/me/why/{by_topic[INBOX][0]}")
            assert "-engine:sent-already" in why["reasons"]


async def test_what_a_user_does_to_a_playlist_is_on_their_wall_if_they_want_it_and_what_they_play_is_not(tmp_path: Path) -> None:
    """SB-34; SB-30 keeps presence out, for a post waits in a store."""
    wall = tmp_path / "wall.jsonl"
    async with whole(tmp_path, wall=str(wall)) as c, c.user("bob") as bob:
        assert (await c.request("bob", "PUT", "social", "/v1/social/wall", {"enabled": True}))[0] == 200
        await create(c, "ann", "p", collaborative=True)
        assert (await bob.ask("act", kind="play", track="t"))["op"] == "ok"
        await add(c, "bob", "ann/p", "t")
        await add(c, "ann", "ann/p", "u")
        await quiet(c.of("playlist")[0])
        social = c.of("social")[0]
        await c.until(lambda: social.counters()["social_posted_total"] == 1 and social.counters()["social_outbox_waiting"] == 0)
        (post,) = map(json.loads, wall.read_text(encoding="utf-8").splitlines())
        assert (post["user"], post["kind"], post["payload"]) == ("bob", "playlist", {"topic": uri("ann/p"), "change": "add"})


async def sets(c: Cluster, user: str, method: str, path: str, body: Any = None) -> None:
    """Has `user` set something at social. What follows from it at the playlist service has been done when this returns."""
    status, answer = await c.request(user, method, "social", f"/v1/social{path}", body)
    assert status < 300, answer
    await kept(c.of("social")[0].work.stores.outbox)


async def test_nothing_is_stored_any_more_for_followers_who_may_not_see_a_playlist(tmp_path: Path) -> None:
    """AUTH-4, AUTH-6, AUTH-7: it becomes private, or its owner blocks a follower; an editor goes on hearing of it."""
    async with whole(tmp_path) as c:
        for playlist_id in ("p", "q"):
            await create(c, "ann", playlist_id)
            await follow(c, f"ann/{playlist_id}", "bob", "cyd", "dan")
        await sets(c, "ann", "PUT", "/playlists/p/editors/dan")
        await sets(c, "ann", "PUT", "/playlists/p", {"visibility": "private"})
        await sets(c, "cyd", "PUT", "/blocks/ann")
        for path, left in (("p", ["dan"]), ("q", ["bob", "dan"])):
            _, page = await c.request("ann", "GET", "playlist", f"/v1/playlists/ann/{path}/followers")
            assert page["followers"] == left
            await add(c, "ann", f"ann/{path}", "t")
        await quiet(c.of("playlist")[0])
        expected = {"bob": {uri("ann/q")}, "cyd": set[str](), "dan": {uri("ann/p"), uri("ann/q")}}
        for name, topics in expected.items():
            async with c.user(name) as user:

                async def is_told(user: User = user, topics: set[str] = topics) -> bool:
                    return {item["topic"] for item in (await user.pull(since=0))["items"]} == topics

                await eventually(is_told, f"{name} is told of something else")
        assert (await c.request("bob", "PUT", "playlist", "/v1/playlists/ann/p/follow"))[0] == 403
        assert (await c.request("ann", "GET", "playlist", "/v1/playlists/ann/p"))[0] == 200
