"""The access point between clients and the services of its site, on real sockets: inboxes, durable following."""

import json
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Any

import msgspec

from accesspoint.options import AccessPointOptions
from infra.kernel.frames import NOBODY, Call
from segue.cluster.role_spec import RoleOptions
from tests.support.cluster import Cluster
from tests.support.peer import Peer
from tests.support.user import feed

INBOX = "hm://notifications/inbox/ann/"
TOPICS = {
    "playlist": "hm://playlist/user/dan/playlist/mix/",
    "artist": "hm://notifications/feed/a1%new-album/",
    "social": "hm://notifications/feed/ann%friend-joined/",
}


def serving(*services: str) -> Callable[[RoleOptions], RoleOptions]:
    """Returns a `change`: access points link to these services too, each at a name of its own."""

    def change(options: RoleOptions) -> RoleOptions:
        if isinstance(options, AccessPointOptions):
            return msgspec.structs.replace(options, services=options.services | {name: [f"{options.site}/{name}"] for name in services})
        return options

    return change


def asked(peer: Peer) -> list[tuple[str, str, Any]]:
    """Returns user, op and body of each call of a client that a service heard."""
    return [(call.user, call.op, json.loads(call.body)) for call in peer.of(Call) if isinstance(call, Call) and call.user != NOBODY]


def no_items(call: Call) -> bytes:
    return b'{"op":"notifications","id":null,"items":[],"next":0,"more":false,"seen":0,"read":0,"unread":0}'


async def test_every_device_of_a_user_gets_what_is_published_on_his_inbox_and_nobody_else_does() -> None:
    """SB-11: nothing is asked for; by the time of the first pull's answer the inbox is installed."""
    async with Cluster(sites=2, change=serving("notification")) as c, AsyncExitStack() as stack:
        for site in ("sto", "lon"):
            await stack.enter_async_context(Peer(c, "notification", f"{site}/notification", no_items))
        await c.until(lambda: all(point.core.calls.has("notification") for point in c.of("accesspoint")))
        async with c.user("ann") as desktop, c.user("ann", "lon", device="mobile") as phone, c.user("bob") as bob:
            for user in (desktop, phone, bob):
                await user.answer(lambda m: m["op"] == "notifications")
            status, _ = await c.post({"topic": INBOX, "kind": "notification", "payload": {"mark": 1}}, service="notification")
            assert status == 202
            for device in (desktop, phone):
                ((event),) = await device.heard(1)
                assert (event["topic"], event["kind"], event["payload"]) == (INBOX, "notification", {"mark": 1})
            rejected = (await bob.ask("subscribe", topics=[INBOX, feed("dan")]))["rejected"]
            assert [(each["topic"], each["code"]) for each in rejected] == [(INBOX, "forbidden")]
            await bob.fence()
            assert bob.events == []


async def test_following_reaches_the_service_of_each_topic_and_outlives_the_connection() -> None:
    """SB-12: one call to each service; friend feeds go to the engine only; a disconnect is no unfollowing."""
    async with Cluster(sites=1, change=serving(*TOPICS)) as c, AsyncExitStack() as stack:
        peers = {name: await stack.enter_async_context(Peer(c, name, f"sto/{name}")) for name in TOPICS}
        await c.until(lambda: all(map(c.of("accesspoint")[0].core.calls.has, TOPICS)))
        async with c.user("ann") as ann:
            answer = await ann.ask("subscribe", topics=[*TOPICS.values(), feed("bob")])
            assert (answer["op"], answer["rejected"]) == ("subscribed", [])
            for name, peer in peers.items():
                await c.until(lambda peer=peer: len(asked(peer)) == 1)  # type: ignore[misc]
                assert asked(peer) == [("ann", "follow", {"topics": [TOPICS[name]]})]
            await ann.ask("unsubscribe", topics=[TOPICS["artist"], feed("bob")])
            await c.until(lambda: len(asked(peers["artist"])) == 2)
            assert asked(peers["artist"])[1] == ("ann", "unfollow", {"topics": [TOPICS["artist"]]})
            await ann.fence()
            assert ann.answers == []
        await c.until(lambda: not c.of("accesspoint")[0].core.sessions)
        await c.settle()
        assert [len(asked(peer)) for peer in peers.values()] == [1, 2, 1]


async def test_a_service_that_is_away_is_an_error_and_live_events_come_all_the_same() -> None:
    async with Cluster(sites=1, change=serving("playlist")) as c, c.user("ann") as ann:
        assert (await ann.ask("subscribe", topics=[TOPICS["playlist"]]))["op"] == "subscribed"
        error = await ann.answer(lambda m: m["op"] == "error")
        assert (error["id"], error["code"]) == (None, "unavailable")
        await c.post({"topic": TOPICS["playlist"], "kind": "add", "payload": {"n": 1}}, service="playlist")
        assert (await ann.heard(1))[0]["payload"] == {"n": 1}
