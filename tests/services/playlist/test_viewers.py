"""Who sees and edits playlists, at every door of the playlist service, as social says it."""

import json
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from infra.kernel.errors import Refused, Unavailable
from infra.kernel.frames import Call
from infra.kernel.topics import parse_topic
from infra.runtime.tokens import issue
from tests.services.playlist.site import Site, site, uri
from tests.support.samples import SECRET, service_token

TRACK = {"change": {"op": "add", "tracks": ["t"]}}
# Everything that shows a playlist of ann, or changes it, and is not for ann alone.
DOORS = [
    ("GET", "/v1/playlists/ann/p", None),
    ("GET", "/v1/playlists/ann/p/followers", None),
    ("PUT", "/v1/playlists/ann/p/follow", None),
    ("POST", "/v1/playlists/ann/p/changes", TRACK),
]


def bar(s: Site, path: str, *users: str) -> None:
    s.barred[parse_topic(uri(path))] = set(users)


async def outcome(s: Site, user: str, method: str, path: str, body: Any = None) -> str:
    """Returns "ok", or the code of the refusal."""
    status, document = await s.ask(user, method, path, body)
    return "ok" if status < 300 else str(document["code"])


@pytest.mark.parametrize(("method", "path", "body"), DOORS)
@pytest.mark.parametrize("collaborative", [False, True])
async def test_whoever_may_not_see_a_playlist_is_kept_out_at_every_door(
    tmp_path: Path, method: str, path: str, body: Any, collaborative: bool
) -> None:
    """AUTH-4, AUTH-6, AUTH-7: and the reason is one that everybody gets."""
    async with site(tmp_path) as s:
        await s.create("ann", "p", collaborative=collaborative)
        bar(s, "ann/p", "eve")
        status, error = await s.ask("eve", method, path, body)
        assert (status, error["code"]) == (403, "forbidden")
        assert error["reason"] == "there is no playlist of ann here that you may see"
        assert await outcome(s, "ann", method, path, body) == "ok"
        expected = "ok" if collaborative or body is None else "forbidden"
        assert await outcome(s, "bob", method, path, body) == expected


async def test_lists_leave_out_what_one_may_not_see(tmp_path: Path) -> None:
    """AUTH-6: playlists of an owner, playlists that somebody follows; the summary of one says as much as the playlist."""
    async with site(tmp_path) as s:
        for playlist_id in ("p", "q"):
            await s.create("ann", playlist_id)
            await s.ask("bob", "PUT", f"/v1/playlists/ann/{playlist_id}/follow")
        bar(s, "ann/p", "eve")

        async def listed(user: str, path: str, token: str | None = None) -> list[str]:
            _, page = await s.ask(user, "GET", path, token=token)
            return [each["id"] for each in page["playlists"]]

        for path in ("/v1/users/ann/playlists", "/v1/users/bob/followed"):
            assert await listed("eve", path) == ["q"]
            assert await listed("cyd", path) == await listed("bob", path) == ["p", "q"]
            assert await listed("", path, service_token("notification")) == ["p", "q"]
        bar(s, "ann/p", "eve", "bob")
        assert await listed("bob", "/v1/users/bob/followed") == ["q"]


async def test_what_somebody_follows_is_told_to_those_who_may_see_what_they_play(tmp_path: Path) -> None:
    """AUTH-5: the list of a user, and the list of a playlist's followers; its owner is told of all of them."""
    async with site(tmp_path) as s:
        await s.create("ann", "p")
        for user in ("bob", "cyd"):
            await s.ask(user, "PUT", "/v1/playlists/ann/p/follow")
        s.barred[parse_topic("hm://presence/user/bob/")] = {"eve", "ann"}
        assert await outcome(s, "eve", "GET", "/v1/users/bob/followed") == "forbidden"
        assert await outcome(s, "bob", "GET", "/v1/users/bob/followed") == "ok"
        followers = {user: (await s.ask(user, "GET", "/v1/playlists/ann/p/followers"))[1]["followers"] for user in ("eve", "dan", "ann")}
        assert followers == {"eve": ["cyd"], "dan": ["bob", "cyd"], "ann": ["bob", "cyd"]}


async def test_a_collaborative_playlist_is_edited_by_those_on_its_list(tmp_path: Path) -> None:
    """AUTH-7: by all who see it while there is no list."""
    async with site(tmp_path) as s:
        await s.create("ann", "p", collaborative=True)
        door = ("POST", "/v1/playlists/ann/p/changes", TRACK)
        assert [await outcome(s, user, *door) for user in ("ann", "bob", "cyd")] == ["ok", "ok", "ok"]
        s.editors = {"bob"}
        assert [await outcome(s, user, *door) for user in ("ann", "bob", "cyd")] == ["ok", "ok", "forbidden"]


async def test_while_social_is_away_an_owner_goes_on_and_others_are_told_to_try_again(tmp_path: Path) -> None:
    """AUTH-10: also where social answers, but does not say it."""
    async with site(tmp_path) as s:
        await s.create("ann", "p", collaborative=True)

        def away(call: Call) -> bytes:
            raise Refused("unavailable")

        for script in (away, lambda call: b"", lambda call: msgspec.msgpack.encode([0, 0]), lambda call: msgspec.msgpack.encode(["0"])):
            s.social.script = script
            for method, path, body in DOORS:
                assert await outcome(s, "bob", method, path, body) == "unavailable"
                assert await outcome(s, "ann", method, path, body) == "ok"
            with pytest.raises(Unavailable):
                await s.call("bob", "follow", {"topics": [uri("ann/p")]})


async def test_a_social_service_of_the_version_before_is_one_that_is_away(tmp_path: Path) -> None:
    """AUTH-10."""
    async with site(tmp_path) as s:
        await s.create("ann", "p")

        def older(call: Call) -> bytes:
            raise Refused("unknown-op")

        s.social.script = older
        assert await outcome(s, "bob", "GET", "/v1/playlists/ann/p") == "unavailable"


async def test_without_a_social_service_all_playlists_are_public(tmp_path: Path) -> None:
    async with site(tmp_path, social=[]) as s:
        await s.create("ann", "p", collaborative=True)
        for method, path, body in DOORS:
            assert await outcome(s, "bob", method, path, body) == "ok"
        assert not s.social.calls


async def test_clients_follow_those_that_they_may_see_and_are_told_of_the_others(tmp_path: Path) -> None:
    """AUTH-6: a follow that an access point relays, and that of an owner's playlists, which social has made."""
    async with site(tmp_path) as s:
        for playlist_id in ("p", "q"):
            await s.create("ann", playlist_id)
        bar(s, "ann/p", "bob", "cyd")
        with pytest.raises(Refused, match="no playlist of ann here"):
            await s.call("bob", "follow", {"topics": [uri("ann/p"), uri("ann/q")]})
        await s.call("cyd", "follow-owner", {"owner": "ann"})
        for playlist_id, followers in (("p", []), ("q", ["bob", "cyd"])):
            assert (await s.ask("ann", "GET", f"/v1/playlists/ann/{playlist_id}/followers"))[1]["followers"] == followers


async def test_a_new_playlist_is_followed_by_those_who_follow_its_owner_and_may_see_it(tmp_path: Path) -> None:
    """AUTH-6, SB-6."""
    async with site(tmp_path) as s:
        for user in ("bob", "cyd"):
            await s.call(user, "follow-owner", {"owner": "ann"})
        bar(s, "ann/p", "bob")
        await s.create("ann", "p")
        await s.quiet()
        assert (await s.ask("ann", "GET", "/v1/playlists/ann/p/followers"))[1]["followers"] == ["cyd"]


async def test_who_may_not_see_a_playlist_any_more_is_told_of_no_change(tmp_path: Path) -> None:
    """AUTH-6: whatever is still stored about whom follows what."""
    async with site(tmp_path) as s:
        await s.create("ann", "p")
        await s.quiet()
        for user in ("bob", "cyd"):
            await s.call(user, "follow", {"topics": [uri("ann/p")]})
        bar(s, "ann/p", "bob")
        await s.edit("ann", "ann/p", TRACK["change"])
        assert [page["followers"] for _, pages in (await s.intake.told(2))[1:] for page in pages] == [["cyd"]]


async def test_no_feed_and_no_wall_tells_of_a_playlist_that_is_not_for_everybody(tmp_path: Path) -> None:
    """AUTH-6: those who see the feed of an editor need not be those who may see the playlist."""
    async with site(tmp_path) as s:
        bar(s, "ann/p", "eve")
        await s.create("ann", "p", collaborative=True)
        await s.edit("bob", "ann/p", TRACK["change"])
        await s.create("ann", "q")
        await s.quiet()
        assert [json.loads(call.body)["topic"] for call in s.presence.calls] == [uri("ann/q")]
        posts = [json.loads(call.body) for call in s.social.calls if call.op == "post"]
        assert [post["payload"]["topic"] for post in posts] == [uri("ann/q")]


@pytest.mark.parametrize(("method", "path", "body"), DOORS)
async def test_a_token_that_names_topics_opens_no_other_playlist_over_http(tmp_path: Path, method: str, path: str, body: Any) -> None:
    """AUTH-10: the grants of a token narrow every way in, and never what is one's own (AUTH-2)."""
    async with site(tmp_path) as s:
        await s.create("ann", "p", collaborative=True)
        for topics, expected in ([uri("ann/p")], 200), ([uri("ann/*")], 200), ([uri("ann/q")], 403), ([], 403):
            narrow = issue(SECRET, user="bob", ttl_s=60, now_s=time.time(), topics=topics)
            status, document = await s.ask("bob", method, path, body, token=narrow)
            assert (status if status >= 300 else 200) == expected, (topics, document)
        own = issue(SECRET, user="ann", ttl_s=60, now_s=time.time(), topics=[])
        assert (await s.ask("ann", method, path, body, token=own))[0] < 300


async def test_lists_leave_out_what_a_token_does_not_name(tmp_path: Path) -> None:
    async with site(tmp_path) as s:
        for playlist_id in ("p", "q"):
            await s.create("ann", playlist_id)
        narrow = issue(SECRET, user="bob", ttl_s=60, now_s=time.time(), topics=[uri("ann/q")])
        _, page = await s.ask("bob", "GET", "/v1/users/ann/playlists", token=narrow)
        assert [each["id"] for each in page["playlists"]] == ["q"]
        assert (await s.ask("bob", "GET", "/v1/users/ann/followed", token=narrow))[0] == 403
