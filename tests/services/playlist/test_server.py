"""The playlist service as a whole: what users may do, and who hears of it on which way."""

import json
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest

from infra.kernel.errors import Refused
from infra.kernel.frames import Call
from infra.runtime.loops import METRICS as LOOPS
from segue.cassandra import Server
from services.playlist.change import Add, Create
from services.playlist.core import Told, create
from services.playlist.metrics import METRICS
from tests.services.playlist.site import Site, site, uri
from tests.services.scripted_service import ScriptedService
from tests.services.shared_keyspace import empty_keyspace
from tests.support.eventually import eventually
from tests.support.samples import service_token


async def follow(s: Site, topic: str, *users: str) -> None:
    for user in users:
        await s.call(user, "follow", {"topics": [topic]})


async def followers(s: Site, path: str) -> list[str]:
    """Returns all followers, through pages of two."""
    found: list[str] = []
    after: str | None = ""
    while after is not None:
        status, page = await s.ask("x", "GET", f"/v1/playlists/{path}/followers?limit=2&after={after}")
        assert status == 200
        found += page["followers"]
        after = page["next"]
    return found


def lists(document: Any) -> list[str]:
    return [each["topic"] for each in document["playlists"]]


async def test_all_that_a_user_may_do_with_his_playlist(tmp_path: Path) -> None:
    async with site(tmp_path) as s:
        made = await s.create("ann", "p", name="Ró", tracks=["a", "b", "c"])
        assert (made["topic"], made["version"], made["tracks"]) == (uri("ann/p"), 1, ["a", "b", "c"])
        changes: tuple[dict[str, Any], ...] = (
            {"op": "rename", "name": "Kyrrð"},
            {"op": "add", "tracks": ["d", "e"]},
            {"op": "add", "tracks": ["f"], "position": 0},
            {"op": "remove", "position": 1, "count": 2},
            {"op": "reorder", "position": 0, "to": 4},
            {"op": "collaborative", "collaborative": True},
        )
        for n, change in enumerate(changes):
            assert await s.edit("ann", "ann/p", change, version=n + 1) == (200, {"version": n + 2})
        shown = await s.show("ann/p")
        assert (shown["name"], shown["tracks"], shown["collaborative"]) == ("Kyrrð", ["c", "d", "e", "f"], True)
        assert (await s.ask("ann", "DELETE", "/v1/playlists/ann/p?version=7"))[0] == 204
        assert (await s.ask("ann", "GET", "/v1/playlists/ann/p"))[0] == 404
        status, error = await s.ask("ann", "POST", "/v1/playlists", {"id": "p", "name": "again"})
        assert (status, error["code"]) == (409, "conflict")


async def test_nobody_else_writes_to_a_playlist_unless_it_is_collaborative(tmp_path: Path) -> None:
    """SB-7: refused, then accepted and published."""
    async with site(tmp_path) as s, s.c.user("cyd") as cyd:
        await s.create("ann", "p")
        await cyd.ask("subscribe", topics=[uri("ann/p")], wait="local")
        add = {"op": "add", "tracks": ["t"]}
        status, error = await s.edit("bob", "ann/p", add)
        assert (status, error["code"]) == (403, "forbidden")
        await s.edit("ann", "ann/p", {"op": "collaborative", "collaborative": True})
        assert (await s.edit("bob", "ann/p", add))[0] == 200
        assert (await s.edit("bob", "ann/p", {"op": "collaborative", "collaborative": False}))[0] == 403
        assert (await s.ask("bob", "DELETE", "/v1/playlists/ann/p"))[0] == 403
        await cyd.until(lambda: any(event["payload"]["by"] == "bob" for event in cyd.events))
        assert (await s.show("ann/p"))["tracks"] == ["t"]


async def test_a_change_that_was_meant_for_another_version_is_a_conflict_and_changes_nothing(tmp_path: Path) -> None:
    async with site(tmp_path) as s:
        await s.create("ann", "p", tracks=["a", "b"])
        assert (await s.edit("ann", "ann/p", {"op": "remove", "position": 0}, version=1))[0] == 200
        status, error = await s.edit("ann", "ann/p", {"op": "remove", "position": 0}, version=1)
        assert (status, error["code"]) == (409, "conflict")
        status, error = await s.edit("ann", "ann/p", {"op": "remove", "position": 0})
        assert (status, error["code"]) == (400, "bad-field")
        assert (await s.show("ann/p"))["tracks"] == ["b"]


async def test_each_change_is_one_event_on_each_way_under_one_id(tmp_path: Path) -> None:
    """SB-8: create and modify give a line in the friend feed and an update of the playlist, and nothing else."""
    async with site(tmp_path) as s, s.c.user("cyd") as cyd:
        await cyd.ask("subscribe", topics=[uri("ann/p"), "hm://presence/user/ann/"], wait="local")
        await follow(s, uri("ann/p"), "cyd")
        await s.create("ann", "p")
        await s.edit("ann", "ann/p", {"op": "add", "tracks": ["t"]})
        events = await cyd.heard(2)
        told = await s.intake.told(2)
        await s.quiet()
        ids = [event["id"] for event in events]
        assert [notification["id"] for notification, _ in told] == ids
        assert [event["payload"] for event in events] == [notification["payload"] for notification, _ in told]
        assert events[1]["payload"] == {
            "version": 2,
            "by": "ann",
            "name": "A name",
            "change": {"op": "add", "tracks": ["t"], "position": 0},
        }
        acts = [(call.user, call.op, json.loads(call.body)) for call in s.presence.calls]
        assert acts == [
            ("ann", "act", {"op": "act", "kind": "playlist", "topic": uri("ann/p"), "event": id_, "change": change})
            for id_, change in zip(ids, ("create", "add"), strict=True)
        ]
        await cyd.fence()
        assert len(cyd.events) == 2


async def test_friends_of_the_owner_are_marked_as_having_it_and_every_follower_is_told_once(tmp_path: Path) -> None:
    """SB-31."""
    async with site(tmp_path) as s:
        s.friends = {"f1", "f2"}
        await follow(s, uri("ann/p"), "f1", "f2", "o1", "o2", "o3")
        await s.create("ann", "p")
        ((notification, pages),) = await s.intake.told(1)
        assert (notification["topic"], notification["kind"], notification["producer"]) == (uri("ann/p"), "playlist", "ann")
        assert pages == [{"followers": ["f1", "f2"], "friend": True, "sent": True}, {"followers": ["o1", "o2", "o3"]}]
        assert s.intake.headers[0]["Content-Type"] == "application/x-ndjson"


async def test_who_follows_and_whose_playlists_agree(tmp_path: Path) -> None:
    """SB-32: both lists, over links and over HTTP."""
    async with site(tmp_path) as s:
        for playlist_id in ("p1", "p2", "p3"):
            await s.create("ann", playlist_id)
        await s.create("bob", "q")
        await follow(s, uri("ann/p1"), "u1", "u2", "u3")
        for path in ("ann/p3", "bob/q"):
            assert (await s.ask("u1", "PUT", f"/v1/playlists/{path}/follow"))[0] == 204
        assert await followers(s, "ann/p1") == ["u1", "u2", "u3"]
        assert lists((await s.ask("x", "GET", "/v1/users/u1/followed"))[1]) == [uri("ann/p1"), uri("ann/p3"), uri("bob/q")]
        assert lists((await s.ask("x", "GET", "/v1/users/ann/playlists"))[1]) == [uri("ann/p1"), uri("ann/p2"), uri("ann/p3")]
        assert (await s.ask("u1", "DELETE", "/v1/playlists/ann/p3/follow"))[0] == 204
        await s.call("u1", "unfollow", {"topics": [uri("ann/p1")]})
        assert lists((await s.ask("x", "GET", "/v1/users/u1/followed"))[1]) == [uri("bob/q")]
        assert await followers(s, "ann/p1") == ["u2", "u3"]
        assert (await s.ask("u1", "PUT", "/v1/playlists/ann/none/follow"))[0] == 404


async def test_who_follows_a_user_follows_his_playlists_also_those_to_come(tmp_path: Path) -> None:
    """SB-6."""
    async with site(tmp_path) as s:
        await s.create("vic", "old")
        await s.quiet()
        await s.call("u", "follow-owner", {"owner": "vic"})
        assert await followers(s, "vic/old") == ["u"]
        await s.create("vic", "new")
        await s.quiet()
        assert await followers(s, "vic/new") == ["u"]
        assert [page["followers"] for _, pages in await s.intake.told(2) for page in pages] == [["u"]]
        await s.call("u", "unfollow-owner", {"owner": "vic"})
        await s.create("vic", "newest")
        await s.quiet()
        assert (await followers(s, "vic/newest"), await followers(s, "vic/new")) == ([], ["u"])


async def test_all_online_devices_of_all_followers_hold_the_same_content_after_edits(tmp_path: Path) -> None:
    """SB-33: devices apply the changes that they hear of, and fetch when they cannot."""
    async with (
        site(tmp_path) as s,
        s.c.user("ann", client="desk") as desk,
        s.c.user("ann", client="phone") as phone,
        s.c.user("bob") as bob,
    ):
        await s.create("ann", "p")
        devices = (desk, phone, bob)
        for device in devices:
            await device.ask("subscribe", topics=[uri("ann/p")], wait="local")
        held = {device: await s.show("ann/p") for device in devices}
        edits: list[tuple[dict[str, Any], int | None]] = [({"op": "add", "tracks": [f"t{n}" for n in range(9)]}, None)]
        edits += [({"op": "reorder", "position": 0, "to": 5, "count": 3}, 2), ({"op": "remove", "position": 4, "count": 2}, 3)]
        edits += [({"op": "add", "tracks": ["x" * 128] * 100}, None), ({"op": "add", "tracks": ["y"], "position": 2}, 5)]
        for change, version in edits:
            assert (await s.edit("ann", "ann/p", change, version))[0] == 200
        edited_s = time.monotonic()
        truth = await s.show("ann/p")
        for device in devices:
            await device.until(lambda device=device: bool(device.events) and device.events[-1]["payload"]["version"] == 6)  # type: ignore[misc]
            for event in device.events:
                held[device] = await heard(s, held[device], event["payload"])
            assert (held[device]["version"], held[device]["tracks"]) == (6, truth["tracks"])
        assert time.monotonic() - edited_s < 1.0


async def heard(s: Site, held: dict[str, Any], payload: dict[str, Any]) -> dict[str, Any]:
    """Returns what a client makes of an event: it applies the change next to what it `held`, ignores an old one, and else fetches."""
    tracks, version = held["tracks"], payload["version"]
    if version <= held["version"]:
        return held
    if version > held["version"] + 1:
        return await s.show("ann/p")
    match payload.get("change"):
        case {"op": "add", "tracks": new, "position": at}:
            tracks = [*tracks[:at], *new, *tracks[at:]]
        case {"op": "remove", "position": at, "count": count}:
            tracks = [*tracks[:at], *tracks[at + count :]]
        case {"op": "reorder", "position": at, "to": to, "count": count}:
            rest = [*tracks[:at], *tracks[at + count :]]
            to -= count if to > at else 0
            tracks = [*rest[:to], *tracks[at : at + count], *rest[to:]]
        case _:
            return await s.show("ann/p")
    return held | {"version": version, "tracks": tracks}


async def test_what_was_promised_is_kept_in_the_next_life_of_the_service(tmp_path: Path) -> None:
    async with site(tmp_path) as s:
        s.intake.answer = lambda: (503, "unavailable")
        await follow(s, uri("ann/p"), "cyd")
        await s.create("ann", "p")
        await s.intake.until(lambda: "503" in s.intake.requests)
        await s.stop()
        s.intake.answer = lambda: (202, "")
        await s.start(ready=False)
        ((_, pages),) = await s.intake.told(1)
        assert pages == [{"followers": ["cyd"]}]


async def test_a_promise_that_is_kept_twice_is_shown_once(tmp_path: Path) -> None:
    """A crash after an event went out and before that was noted: the broker knows its id."""
    async with site(tmp_path) as s, s.c.user("cyd") as cyd:
        await cyd.ask("subscribe", topics=[uri("ann/p")], wait="local")
        step = create("ann", "p", Create("n", False, []), 1, "ev-1")
        for task in step.tasks * 2:
            await s.service.work.courier.perform(task)
        await s.create("ann", "p")
        assert (await cyd.heard(2))[0]["id"] == "ev-1"
        await cyd.fence()
        assert len(cyd.events) == 2
        assert (await s.intake.told(2))[0][0]["id"] == "ev-1"
        assert s.intake.requests == ["202"] * 3


async def test_those_who_follow_a_user_see_in_their_feed_what_he_does_to_playlists(tmp_path: Path) -> None:
    """SB-8: through the presence service of the site."""
    async with site(tmp_path, presence=["sto/p1"]) as s, s.c.user("cyd") as cyd:
        await cyd.follow("bob", wait="local")
        await s.create("ann", "p", collaborative=True)
        await s.edit("bob", "ann/p", {"op": "add", "tracks": ["t"]})
        (line,) = await cyd.heard(1)
        told = {key: line["payload"][key] for key in ("topic", "change")}
        assert (line["kind"], told) == ("playlist", {"topic": uri("ann/p"), "change": "add"})


async def test_a_line_for_the_friend_feed_that_is_late_is_left_out(tmp_path: Path) -> None:
    async with site(tmp_path) as s:
        now_ms = int(time.time() * 1000)
        for age_ms in (1000, 3_600_000):
            step = create("ann", "p", Create("n", False, []), now_ms - age_ms, f"ev-{age_ms}")
            (line,) = (task for task in step.tasks if task.op == "act")
            await s.service.work.courier.perform(line)
        assert [json.loads(call.body)["event"] for call in s.presence.calls] == ["ev-1000"]


async def test_a_promise_that_nobody_here_knows_is_set_aside(tmp_path: Path) -> None:
    async with site(tmp_path) as s:
        (task, *_) = create("ann", "p", Create("n", False, []), 1, "ev-1").tasks
        with pytest.raises(Refused, match="unknown-op"):
            await s.service.work.courier.perform(msgspec.structs.replace(task, op="paint"))


async def test_who_is_no_neighbour_gets_no_link(tmp_path: Path) -> None:
    async with site(tmp_path) as s:
        for role, name in (("broker", "sto/x1"), ("social", "lon/s9")):
            async with ScriptedService(s.c.network(name), role, name) as stranger:
                refused = s.service.links.refused
                stranger.node.dial("sto/l1", "playlist", "sto")
                await eventually(lambda refused=refused: s.service.links.refused > refused)  # type: ignore[misc]
                assert not stranger.node.links


async def test_counters_tell_what_was_done_under_declared_names(tmp_path: Path) -> None:
    async with site(tmp_path) as s:
        await follow(s, uri("ann/p"), "cyd")
        await s.create("ann", "p")
        await s.edit("ann", "ann/p", {"op": "rename", "name": "x"}, version=9)
        await s.quiet()
        await eventually(lambda: s.service.counters()["playlist_outbox_waiting"] == 0)
        counted = s.service.counters()
        assert counted.keys() == {metric.name for metric in (*METRICS, *LOOPS)}
        wanted = {"changes_total": {"create": 1}, "conflicts_total": 1, "published_total": 1, "notified_total": 1, "outbox_done_total": 5}
        assert {name: counted[f"playlist_{name}"] for name in wanted} == wanted


class TestCassandra:
    async def test_the_service_on_a_real_server_tells_everybody(self, tmp_path: Path, cassandra_server: Server) -> None:
        async with empty_keyspace(cassandra_server, "follows", "outbox", "playlist") as db:
            async with site(tmp_path, store="cassandra", cassandra=db.options) as s, s.c.user("cyd") as cyd:
                s.friends = {"f"}
                await cyd.ask("subscribe", topics=[uri("ann/p")], wait="local")
                await follow(s, uri("ann/p"), "f", "o")
                await s.create("ann", "p")
                assert (await s.edit("ann", "ann/p", {"op": "add", "tracks": ["t"]}, version=1))[0] == 200
                assert (await s.edit("ann", "ann/p", {"op": "add", "tracks": ["t"]}, version=1))[0] == 409
                assert [event["payload"]["version"] for event in await cyd.heard(2)] == [1, 2]
                for _, pages in await s.intake.told(2):
                    assert sorted(user for page in pages for user in page["followers"]) == ["f", "o"]
                assert sorted(await followers(s, "ann/p")) == ["f", "o"]
                await s.quiet()


async def test_a_social_service_that_is_away_delays_what_it_must_be_asked_about_and_nothing_else(tmp_path: Path) -> None:
    """AUTH-10: whoever may not be told is not known, so nobody is."""
    async with site(tmp_path) as s, s.c.user("cyd") as cyd:
        s.friends = {"cyd"}
        await cyd.ask("subscribe", topics=[uri("ann/p")], wait="local")
        await follow(s, uri("ann/p"), "cyd")
        away, answer = True, s.social.script

        def script(call: Call) -> bytes | None:
            if away:
                raise Refused("unavailable")
            return answer(call)

        s.social.script = script
        await s.create("ann", "p")
        await cyd.heard(1)
        await eventually(lambda: len(s.social.calls) >= 2)
        assert not s.intake.taken
        away = False
        ((_, pages),) = await s.intake.told(1)
        assert pages == [{"followers": ["cyd"], "friend": True, "sent": True}]


async def test_a_deleted_playlist_has_no_followers_when_they_have_been_told(tmp_path: Path) -> None:
    async with site(tmp_path) as s:
        await s.create("ann", "p")
        await follow(s, uri("ann/p"), "u1", "u2")
        assert (await s.ask("ann", "DELETE", "/v1/playlists/ann/p"))[0] == 204
        _, (notification, pages) = await s.intake.told(2)
        assert (notification["payload"]["change"], pages) == ({"op": "delete"}, [{"followers": ["u1", "u2"]}])
        await s.quiet()
        assert (await s.ask("x", "GET", "/v1/users/u1/followed"))[1]["playlists"] == []
        assert await s.service.work.stores.follows.topics("u1") == ([], None)


@pytest.mark.parametrize(
    ("method", "path", "body", "status", "code"),
    [
        ("POST", "/v1/playlists", {"name": ""}, 400, "bad-field"),
        ("POST", "/v1/playlists", {"name": "x" * 201}, 400, "bad-field"),
        ("POST", "/v1/playlists", {"name": "x", "id": "a/b"}, 400, "bad-topic"),
        ("POST", "/v1/playlists", {"name": "x", "tracks": ["t"] * 10_001}, 400, "bad-field"),
        ("POST", "/v1/playlists", {"name": "x", "colour": "red"}, 400, "bad-field"),
        ("POST", "/v1/playlists/ann/p/changes", {"change": {"op": "paint"}}, 400, "bad-field"),
        ("POST", "/v1/playlists/ann/p/changes", {"change": {"op": "remove", "position": 3}, "version": 1}, 400, "bad-field"),
        ("POST", "/v1/playlists/ann/p/changes", {"change": {"op": "add", "tracks": ["t"] * 9_999}}, 413, "too-large"),
        ("POST", "/v1/playlists/ann/none/changes", {"change": {"op": "rename", "name": "x"}}, 404, "not-found"),
        ("GET", "/v1/users/a%20b/playlists", None, 400, "bad-topic"),
        ("GET", "/v1/users/ann/playlists?limit=0", None, 400, "bad-field"),
        ("GET", "/v1/users/ann/playlists?limit=many", None, 400, "bad-field"),
    ],
)
async def test_what_cannot_be_done_is_refused_with_a_reason(
    tmp_path: Path, method: str, path: str, body: Any, status: int, code: str
) -> None:
    async with site(tmp_path) as s:
        await s.create("ann", "p", tracks=["a", "b"])
        got, error = await s.ask("ann", method, path, body)
        assert (got, error["code"]) == (status, code), error


async def test_a_call_that_is_wrong_is_refused_by_its_reply(tmp_path: Path) -> None:
    async with site(tmp_path) as s:
        for op, body, code in (
            ("follow", {"topics": ["hm://presence/user/bob/"]}, "bad-topic"),
            ("follow", {"topic": "x"}, "bad-field"),
            ("paint", {}, "unknown-op"),
            ("follow-owner", {"owner": "a b"}, "bad-topic"),
        ):
            with pytest.raises(Refused, match=code):
                await s.call("u", op, body)


async def test_a_service_token_reads_and_a_users_token_is_needed_to_write(tmp_path: Path) -> None:
    async with site(tmp_path) as s:
        await s.create("ann", "p")
        assert (await s.ask("x", "GET", "/v1/playlists/ann/p", token=service_token("social")))[0] == 200
        assert (await s.ask("x", "POST", "/v1/playlists", {"name": "n"}, token=service_token("social")))[0] == 403


async def test_while_the_brokers_are_away_changes_are_taken_and_published_when_they_are_back(tmp_path: Path) -> None:
    """Who hears of it is another matter: a broker that comes back may take it before it knows again who follows."""
    async with site(tmp_path) as s:
        await s.c.crash("sto/b1")
        await s.create("ann", "p")
        await s.c.restart("sto/b1")
        (broker,) = s.c.of("broker")
        published = ("broker_events_matched_total", "broker_events_unmatched_total")
        await s.c.until(lambda: sum(broker.counters()[name] for name in published) == 1)


def test_what_is_told_of_a_change_can_be_read_back() -> None:
    told = Told(2, "ann", "n", Add(["t"], 3))
    assert msgspec.json.decode(msgspec.json.encode(told), type=Told) == told
