"""The last event of friends, for a client that connects and has heard none of them yet."""

import json
import time
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from accesspoint.options import AccessPointOptions
from infra.kernel.frames import Call
from segue.cluster.role_spec import RoleOptions
from services.presence.options import PresenceOptions
from services.presence.server import PresenceService
from tests.support.cluster import Cluster
from tests.support.made_cluster import MadeCluster
from tests.support.peer import Peer
from tests.support.user import User, feed

HOUR_MS = 3_600_000


def asking(*sites: str, peer_s: float = 5.0) -> Callable[[RoleOptions], RoleOptions]:
    """Returns a `change`: presence of these sites ask each other."""
    peers = {site: [f"{site}/p1"] for site in sites}

    def change(options: RoleOptions) -> RoleOptions:
        return msgspec.structs.replace(options, peers=peers, peer_s=peer_s) if isinstance(options, PresenceOptions) else options

    return change


async def last(user: User, *users: str) -> dict[str, Any]:
    """Returns the last event of each of these users that has one."""
    answer = await user.ask("last", topics=[feed(each) for each in users])
    assert answer["op"] == "last", answer
    return {event["topic"]: event for event in answer["events"]}


async def linked(c: Cluster) -> None:
    """Waits until every presence service has its links to all others."""
    nodes = c.of("presence")
    peers = [[link for link in node.links.links if link.peer.role == "presence"] for node in nodes]
    await c.until(lambda: all(len(node._peers._links) == len(nodes) - 1 for node in nodes), lambda: f"not linked: {peers}")


async def test_whoever_connects_can_ask_for_the_newest_event_of_each_friend(tcp: bool) -> None:
    """SB-29: one event for each user, the newest; it is the very event that others got live."""
    async with Cluster(sites=1, tcp=tcp, change=asking("sto")) as c, c.user("ann") as ann, c.user("bob") as bob:
        await ann.follow("bob")
        for n in range(3):
            assert (await bob.ask("act", kind="play", n=n))["op"] == "ok"
        (newest,) = [event for event in await ann.heard(3) if event["payload"]["n"] == 2]
        async with c.user("cyd") as cyd:
            found = await last(cyd, "bob", "ann", "bob")
            assert found == {feed("bob"): {key: newest[key] for key in ("topic", "ts", "id", "kind", "payload")}}
        assert len(c.of("presence")[0].core.last) == 1


async def test_the_last_event_is_found_at_whatever_site_it_was_made_and_the_newest_wins(tcp: bool) -> None:
    """SB-29: a user who moves between sites leaves an older event behind, and nobody is shown it."""
    clock_s = 1e9
    world = {"wall": lambda: clock_s}
    cluster = MadeCluster(PresenceOptions, PresenceService, world, sites=3, tcp=tcp, change=asking("sto", "lon", "ash"))
    async with cluster as c, c.user("ann") as ann:
        await linked(c)
        for n, site in enumerate(("ash", "lon", "ash"), 1):
            clock_s += 1
            async with c.user("bob", site) as bob, c.user("cyd", "lon") as cyd:
                await bob.ask("act", kind="play", n=n)
                await cyd.ask("act", kind="pause", n=n)
                found = await last(ann, "bob", "cyd", "dan")
                assert {topic: event["payload"]["n"] for topic, event in found.items()} == {feed("bob"): n, feed("cyd"): n}


async def test_a_site_that_does_not_answer_is_not_waited_for_longer_than_agreed(tcp: bool) -> None:
    async with Cluster(sites=2, tcp=tcp, change=asking("sto", "lon", peer_s=0.1)) as c, c.user("ann") as ann:
        await linked(c)
        await ann.ask("act", kind="play")
        c.partition("sto", "lon")
        assert list(await last(ann, "ann")) == [feed("ann")]
        assert c.of("presence", "sto")[0].counters()["presence_unanswered_total"] == 1


@pytest.mark.parametrize(
    ("topics", "code"),
    [
        (["hm://playlist/user/bob/playlist/p/"], "bad-topic"),
        (["hm://notifications/inbox/bob/"], "bad-topic"),
        ([feed("bob")] * 501, "too-many-topics"),
        ("hm://presence/user/bob/", "bad-field"),
    ],
)
async def test_what_has_no_last_event_is_refused_under_the_id_of_the_question(tcp: bool, topics: Any, code: str) -> None:
    async with Cluster(sites=1, tcp=tcp) as c, c.user("ann") as ann:
        answer = await ann.ask("last", topics=topics)
        assert (answer["op"], answer["code"]) == ("error", code)
        assert await last(ann, "bob") == {}


@pytest.mark.parametrize("error_ms", [-HOUR_MS, HOUR_MS])
async def test_a_client_whose_clock_is_wrong_pulls_and_acts_like_any_other(tcp: bool, error_ms: int) -> None:
    """SB-13: the access point's clock is the client's; no time of the client's decides anything, and marks are no times."""

    def change(options: RoleOptions) -> RoleOptions:
        if isinstance(options, AccessPointOptions):
            return msgspec.structs.replace(options, services=options.services | {"notification": ["sto/n1"]})
        return options

    def answer(call: Call) -> bytes:
        said = json.loads(call.body)
        return json.dumps({"op": "notifications", "id": said.get("id"), "items": [], "next": said.get("since", 0)}).encode()

    async with Cluster(sites=1, tcp=tcp, change=change) as c, Peer(c, "notification", "sto/n1", answer) as service:
        await c.until(lambda: c.of("accesspoint")[0].core.calls.has("notification"))
        before_ms = time.time() * 1000
        wrong_ms = int(before_ms) + error_ms
        async with c.user("ann", time_ms=wrong_ms) as ann:
            assert abs(ann.welcome["time_ms"] - before_ms) < HOUR_MS / 2
            await ann.answer(lambda m: m["op"] == "notifications" and m["id"] is None)
            assert (await ann.ask("pull", since=17, ts=wrong_ms))["next"] == 17
            await ann.ask("act", kind="play", ts=wrong_ms)
            event = (await last(ann, "ann"))[feed("ann")]
            assert abs(event["ts"] - before_ms) < HOUR_MS / 2
            assert event["payload"] == {"ts": wrong_ms}
            first, _ = (call.body for call in service.of(Call) if isinstance(call, Call))
            assert json.loads(first) == {"op": "pull", "limit": 50}
