"""Who sees what in a whole cluster with a social service: on links in memory and on TCP."""

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest

from tests.support.access_story import AccessStory
from tests.support.cluster import Cluster
from tests.support.social_desk import SocialDesk
from tests.support.user import User, feed

BOBS = "hm://playlist/user/bob/playlist/mix/"


def desk(c: Cluster) -> SocialDesk:
    """Returns the desk of the cluster's social service."""
    return SocialDesk(c.http, c.of("social")[0].address, c.token)


def guarded(folder: Path, **shape: Any) -> Cluster:
    """Returns a cluster whose social service says who sees what."""
    return Cluster(state=folder, services=("social",), policy="social", **shape)


async def linked(c: Cluster) -> None:
    """Waits until all access points are linked to the social service."""
    await c.until(lambda: all(point.core.calls.has("social") for point in c.of("accesspoint")))


async def ended(user: User) -> dict[str, Any]:
    """Returns the next news of topics that have ended."""
    return await user.answer(lambda message: message["op"] == "ended")


@pytest.mark.parametrize("tcp", [False, True], ids=["memory", "tcp"])
async def test_friends_hear_each_other_and_nobody_else_does_until_a_setting_says_so(tcp: bool, tmp_path: Path) -> None:
    """AUTH-4, AUTH-5."""
    async with guarded(tmp_path, sites=2, tcp=tcp) as c:
        await linked(c)
        await desk(c).befriend("ann", "bob")
        async with c.user("ann", "lon") as ann, c.user("eve") as eve, c.user("bob") as bob:
            assert (await ann.follow("bob"))["rejected"] == []
            assert [each["code"] for each in (await eve.follow("bob"))["rejected"]] == ["forbidden"]
            assert (await bob.ask("act", kind="play", track="1"))["op"] == "ok"
            await ann.heard_of("bob", 1)
            assert [each["payload"] for each in (await ann.ask("last", topics=[feed("bob")]))["events"]] == [{"track": "1"}]
            assert (await eve.ask("last", topics=[feed("bob")]))["events"] == []
            await desk(c).show("bob", "everyone")
            while (await eve.follow("bob"))["rejected"]:
                pass  # the news of it are on their way
            await desk(c).block("bob", "eve")
            assert [each["topic"] for each in (await ended(eve))["topics"]] == [feed("bob")]
            await bob.ask("act", kind="play", track="2")
            await ann.heard_of("bob", 2)
            await eve.fence()
            assert eve.of("bob") == []
            await desk(c).unfollow("bob", "ann")
            await desk(c).show("bob", "friends")
            await ended(ann)
            await bob.ask("act", kind="play", track="3")
            await ann.fence()
            assert len(ann.of("bob")) == 2


async def test_a_subscription_ends_within_a_second_of_the_change_wherever_the_follower_is(tmp_path: Path) -> None:
    """AUTH-5: the bar is one second; links in memory need none of it."""
    async with guarded(tmp_path, sites=3, accesspoints=2) as c:
        await linked(c)
        await desk(c).befriend("ann", "bob")
        async with c.user("ann", "sto") as one, c.user("ann", "lon", point=1) as two, c.user("ann", "ash") as three:
            for device in (one, two, three):
                await device.follow("bob")
            await desk(c).block("ann", "bob")
            began = time.monotonic()
            await asyncio.gather(*map(ended, (one, two, three)))
            assert time.monotonic() - began < 1.0
        await c.until(lambda: sum(point.core.hub.subscriptions for point in c.of("accesspoint")) == 0)


async def test_while_social_is_away_what_stands_stands_and_new_follows_wait_until_it_is_back(tmp_path: Path) -> None:
    """AUTH-10."""
    async with guarded(tmp_path, sites=1) as c:
        await linked(c)
        for friend in ("bob", "cid"):
            await desk(c).befriend("ann", friend)
        async with c.user("ann") as ann, c.user("bob") as bob:
            await ann.follow("bob")
            await bob.ask("act", kind="play", track="0")
            await c.crash("sto/social1")
            await ann.ws.send(json.dumps({"op": "subscribe", "id": "late", "topics": [feed("cid")]}))
            await bob.ask("act", kind="play", track="1")
            await ann.heard_of("bob", 2)
            assert all(answer.get("id") != "late" for answer in ann.answers)
            await c.restart("sto/social1")
            assert (await ann.answer(lambda m: m.get("id") == "late"))["rejected"] == []
            assert not [answer for answer in ann.answers if answer["op"] == "ended"]


async def test_what_changed_while_the_link_was_cut_ends_when_it_is_back(tmp_path: Path) -> None:
    """AUTH-5: nobody could tell the access point."""
    async with guarded(tmp_path, sites=1) as c:
        await linked(c)
        await desk(c).befriend("ann", "bob")
        async with c.user("ann") as ann:
            await ann.follow("bob")
            c.partition("sto/ap1", "sto/social1")
            await c.until(lambda: not c.of("accesspoint")[0].core.calls.has("social"))
            await desk(c).unfollow("bob", "ann")
            assert not [answer for answer in ann.answers if answer["op"] == "ended"]
            c.heal()
            assert [each["topic"] for each in (await ended(ann))["topics"]] == [feed("bob")]


async def test_a_private_session_is_heard_by_nobody_and_leaves_no_last_event(tmp_path: Path) -> None:
    """AUTH-8."""
    async with guarded(tmp_path, sites=2) as c:
        await linked(c)
        await desk(c).befriend("ann", "bob")
        async with c.user("ann") as ann, c.user("bob", "lon") as bob, c.user("bob", private=True, client="tv") as tv:
            await ann.follow("bob")
            assert (await bob.ask("private", on=True, hours=1))["on"] is True
            for device in (bob, tv):
                assert (await device.ask("act", kind="play", track="secret"))["op"] == "ok"
            assert (await ann.ask("last", topics=[feed("bob")]))["events"] == []
            await bob.ask("private", on=False)
            await bob.ask("act", kind="play", track="open")
            assert [event["payload"] for event in await ann.heard_of("bob", 1)] == [{"track": "open"}]


async def test_the_past_of_a_playlist_is_for_those_who_may_see_it(tmp_path: Path) -> None:
    """AUTH-6: the notification module is not even asked."""
    async with guarded(tmp_path, sites=1) as c:
        await linked(c)
        await desk(c).block("bob", "eve")
        async with c.user("eve") as eve, c.user("ann") as ann:
            assert (await eve.ask("history", topic=BOBS))["code"] == "forbidden"
            assert (await ann.ask("history", topic=BOBS))["op"] == "history"


@pytest.mark.parametrize(("seed", "tcp"), [(1, False), (2, False), (3, True)])
async def test_no_sequence_of_what_users_do_lets_anybody_hear_what_the_table_forbids(seed: int, tcp: bool, tmp_path: Path) -> None:
    """AUTH-2, AUTH-4, AUTH-5, AUTH-8: a random story at two sites, with a twin of the social service that knows what must follow."""
    async with guarded(tmp_path, sites=2, tcp=tcp, seed=seed) as c:
        await linked(c)
        sites = {"ann": "sto", "bob": "lon", "cid": "sto"}
        await AccessStory(desk(c), lambda user: c.user(user, sites[user], client="c1"), seed).tell(40)
