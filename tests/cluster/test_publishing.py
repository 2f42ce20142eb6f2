"""The engine's inputs: who may publish, what "accepted" means, and what a retry does."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from infra.kernel.events import encode_tail
from infra.kernel.frames import Publish, Published
from infra.kernel.topics import format_topic, parse_topic, user_topic
from tests.support.cluster import Cluster
from tests.support.peer import Peer
from tests.support.user import feed

REPOSITORY = Path(__file__).resolve().parents[2]
TOPICS = {
    "user": "hm://presence/user/dan/",
    "playlist": "hm://playlist/user/dan/playlist/p1/",
    "artist": "hm://notifications/feed/sigur%new-album/",
    "social": "hm://notifications/feed/dan%friend-joined/",
}
MAY = {"presence": {"user"}, "playlist": {"playlist"}, "notification": {"playlist", "artist", "social"}}


def event(topic: str, **fields: Any) -> dict[str, Any]:
    return {"topic": topic, "kind": "play", "payload": {}, **fields}


async def test_over_http_three_services_publish_their_own_kinds_and_nobody_publishes_anything_else() -> None:
    """SB-45: every service with every kind of topic; a fourth service is refused whatever it sends."""
    async with Cluster(sites=1) as c, c.user("dan") as dan:
        await dan.ask("subscribe", topics=list(TOPICS.values()), wait="all")
        expected = []
        for service in (*MAY, "social", "artist"):
            for kind, topic in TOPICS.items():
                status, answer = await c.post(event(topic), service=service)
                if kind in MAY.get(service, ()):
                    assert status == 202, answer
                    expected.append(topic)
                else:
                    assert (status, answer["code"]) == (403, "forbidden")
        assert [each["topic"] for each in await dan.heard(len(expected))] == expected


async def test_in_a_batch_only_the_topics_of_other_services_are_rejected() -> None:
    """SB-45: by position."""
    async with Cluster(sites=1) as c:
        status, answer = await c.post([event(topic) for topic in TOPICS.values()], service="notification")
        assert (status, answer["accepted"]) == (202, 3)
        assert [(each["index"], each["code"]) for each in answer["rejected"]] == [(0, "forbidden")]


def publish(n: int, topic: str) -> Publish:
    parsed = parse_topic(topic)
    return Publish(n, 0, [parsed], [b""], [encode_tail(format_topic(parsed), 1, "e1", "play", b"{}")])


async def test_on_links_a_role_that_has_no_business_is_not_let_in(tcp: bool) -> None:
    async with Cluster(sites=1, tcp=tcp) as c, Peer(c, "accesspoint", "sto/x1") as peer:
        broker = c.of("broker")[0]
        peer.node.dial("sto/b1", "broker", "sto")
        await c.until(lambda: broker.links.refused > 0)
        assert "accesspoint" not in {link.peer.role for link in broker.links.links}
        assert peer.up == {}


@pytest.mark.parametrize("role", ["social", "artist"])
async def test_on_links_a_fourth_service_publishes_nothing(tcp: bool, role: str) -> None:
    """SB-45: it hears which tokens are revoked, and brokers hang up on it when it is an input of the engine."""
    async with Cluster(sites=1, tcp=tcp) as c, c.user("ann") as ann, Peer(c, role, "sto/x1") as peer:
        await ann.ask("subscribe", topics=list(TOPICS.values()), wait="all")
        broker = c.of("broker")[0]
        peer.node.dial("sto/b1", "broker", "sto")
        await c.until(lambda: bool(peer.up))
        (link,) = peer.up.values()
        link.send(publish(1, TOPICS[next(iter(TOPICS))]))
        await c.until(lambda: broker.links.refused > 0)
        await ann.fence()
        assert ann.events == []


@pytest.mark.parametrize(
    ("role", "name", "why"),
    [
        ("presence", "lon/x1", "belongs to the brokers of its own site"),
        ("broker", "sto/x1", "no broker x1 of site sto is configured here"),
        ("broker", "lon/b1", "no broker b1 of site lon is configured here"),
        ("presence", "sto/p1", "is linked already"),
    ],
)
async def test_on_links_a_lie_that_can_be_seen_through_gets_nobody_in(tcp: bool, role: str, name: str, why: str) -> None:
    """SB-45: they say that they are an input of the engine, from another site, from a slot that there is not, under another's name."""
    async with Cluster(sites=1, tcp=tcp) as c, c.user("ann") as ann:
        await ann.ask("subscribe", topics=list(TOPICS.values()), wait="all")
        broker = c.of("broker")[0]
        before = {link.peer.incarnation for link in broker.links.links}
        liar = Peer(c, role, name)
        liar.node.dial("sto/b1", "broker", "sto")
        try:
            await c.until(lambda: broker.links.refused > 0)
            assert {link.peer.incarnation for link in broker.links.links} <= before
        finally:
            await liar.node.close()
        await c.play("dan")
        assert [each["kind"] for each in await ann.heard(1)] == ["play"]


async def test_on_open_links_a_role_is_what_it_says_which_the_page_about_links_says(tcp: bool) -> None:
    """SB-45 rests on tokens at the doors, and on proofs at links. Whoever does without proofs keeps strangers off the link ports."""
    async with Cluster(sites=1, tcp=tcp) as c, c.user("ann") as ann, Peer(c, "presence", "sto/x1") as liar:
        await ann.ask("subscribe", topics=list(TOPICS.values()), wait="all")
        await liar.dial("sto/b1")
        liar.send("sto/b1", publish(1, TOPICS["user"]))
        assert [each["topic"] for each in await ann.heard(1)] == [TOPICS["user"]]
    page = " ".join((REPOSITORY / "docs" / "links.md").read_text(encoding="utf-8").split())
    assert '`"open"` | nothing | everything | any node, and so can everybody who reaches a link port' in page


async def test_on_links_a_service_publishes_its_own_kinds_and_is_cut_off_for_others(tcp: bool) -> None:
    """SB-45: the event of a wrong kind reaches nobody, neither do those that came with it."""
    async with Cluster(sites=1, tcp=tcp) as c, c.user("ann") as ann, Peer(c, "playlist", "sto/x1") as peer:
        await ann.ask("subscribe", topics=list(TOPICS.values()), wait="all")
        await peer.dial("sto/b1")
        peer.send("sto/b1", publish(1, TOPICS["playlist"]))
        assert [each["topic"] for each in await ann.heard(1)] == [TOPICS["playlist"]]
        await c.until(lambda: peer.of(Published) == [Published(1)])
        for kind in ("user", "artist", "social"):
            peer.send("sto/b1", publish(2, TOPICS[kind]))
            await c.until(lambda: len(peer.lost) > 0)
            assert peer.lost.pop().startswith("forbidden")
            await peer.dial("sto/b1")
        await ann.fence()
        assert len(ann.events) == 1


async def test_only_a_service_or_a_broker_publishes_on_a_link(tcp: bool) -> None:
    """SB-45: an aggregator that publishes is cut off."""
    async with Cluster(sites=1, tcp=tcp) as c, Peer(c, "aggregator", "sto/x1") as peer:
        await peer.dial("sto/b1")
        peer.send("sto/b1", publish(1, TOPICS["user"]))
        await c.until(lambda: len(peer.lost) > 0)
        assert peer.lost[0].startswith("bad-link-frame")
        assert c.of("broker")[0].core.unmatched == 0


def feeds_of(c: Cluster) -> dict[str, str]:
    """Returns, for each broker of sto, a user whose feed it owns."""
    found: dict[str, str] = {}
    for n in range(100):
        found.setdefault(c.owner(f"u{n}"), f"u{n}")
    return found


async def test_a_forwarded_event_is_accepted_when_its_owner_has_it_and_not_before(tcp: bool) -> None:
    """Design 4.2: the answer waits while the event is on its way, and while the owner's word is on its way back."""
    async with Cluster(sites=1, brokers=2, tcp=tcp) as c, c.user("ann") as ann:
        user = feeds_of(c)["sto/b2"]
        await ann.follow(user)
        owner = c.roles["sto/b2"]
        c.plan.hold("sto/b1", "sto/b2")
        c.plan.hold("sto/b2", "sto/b1")
        asked = asyncio.create_task(c.post(event(feed(user)), broker=0))
        await c.until(lambda: len(c.frames(Publish, "sto/b1", "sto/b2")) == 1)
        assert (owner.core.matched, asked.done()) == (0, False)
        c.plan.release("sto/b1", "sto/b2")
        await ann.heard(1)
        await c.until(lambda: len(c.frames(Published, "sto/b2", "sto/b1")) == 1)
        assert (owner.core.matched, asked.done()) == (1, False)
        c.plan.release("sto/b2", "sto/b1")
        status, answer = await asked
        assert (status, answer) == (202, {"accepted": 1, "rejected": []})


async def test_events_of_an_owner_that_dies_before_it_has_them_are_rejected_as_unavailable(tcp: bool) -> None:
    """Design 4.2: those, by position, and no others; a single event gets the status itself."""
    async with Cluster(sites=1, brokers=2, tcp=tcp) as c:
        feeds = feeds_of(c)
        c.plan.hold("sto/b1", "sto/b2")
        batch = [event(feed(feeds[name])) for name in ("sto/b1", "sto/b2", "sto/b1", "sto/b2")]
        many = asyncio.create_task(c.post(batch, broker=0))
        one = asyncio.create_task(c.post(batch[1], broker=0))
        await c.until(lambda: len(c.frames(Publish, "sto/b1", "sto/b2")) == 2)
        await c.crash("sto/b2")
        status, answer = await many
        assert (status, answer["accepted"]) == (202, 2)
        assert [(each["index"], each["code"]) for each in answer["rejected"]] == [(1, "unavailable"), (3, "unavailable")]
        status, answer = await one
        assert (status, answer["code"]) == (503, "unavailable")


async def test_a_publisher_that_repeats_an_event_with_the_same_id_publishes_it_once(tcp: bool) -> None:
    """Also through another broker; another topic or id is another event."""
    async with Cluster(sites=2, brokers=2, tcp=tcp) as c, c.user("ann", "sto") as ann, c.user("bob", "lon") as bob:
        for user in (ann, bob):
            await user.follow("dan", "eve")
        for broker in (0, 1, 0):
            status, answer = await c.post(event(feed("dan"), id="e1"), broker=broker)
            assert (status, answer["accepted"]) == (202, 1)
        await c.post([event(feed("dan"), id="e2"), event(feed("dan"), id="e2"), event(feed("eve"), id="e1")])
        for user in (ann, bob):
            await user.heard(3)
            await user.fence()
            assert [(each["topic"], each["id"]) for each in user.events if each["topic"] == feed("dan")] == [
                (feed("dan"), "e1"),
                (feed("dan"), "e2"),
            ]
            assert [each["id"] for each in user.events if each["topic"] == feed("eve")] == ["e1"]
            assert len(user.events) == 3
        assert sum(each.core.duplicates for each in c.of("broker", "sto")) == 3


async def test_a_retry_after_a_lost_answer_publishes_once(tcp: bool) -> None:
    """The owner had the event, the broker in between lost its word: "unavailable", and the retry is recognised."""
    async with Cluster(sites=1, brokers=2, tcp=tcp) as c, c.user("ann") as ann:
        user = feeds_of(c)["sto/b2"]
        await ann.follow(user)
        c.plan.hold("sto/b2", "sto/b1")
        asked = asyncio.create_task(c.post(event(feed(user), id="e1"), broker=0))
        await ann.heard(1)
        await c.until(lambda: len(c.frames(Published, "sto/b2", "sto/b1")) == 1)
        for wire in c.plan.wires["sto/b1"]:
            wire.abort()
        assert (await asked)[0] == 503
        del c.plan.held["sto/b2", "sto/b1"]
        await c.settle()
        assert (await c.post(event(feed(user), id="e1"), broker=0))[0] == 202
        await ann.fence()
        assert [each["id"] for each in ann.events] == ["e1"]


async def test_an_action_that_no_broker_takes_is_answered_as_unavailable(tcp: bool) -> None:
    """The user is told; the friends may not see it."""
    async with Cluster(sites=1, tcp=tcp) as c, c.user("ann") as ann:
        await c.crash("sto/b1")
        await c.until(lambda: c.of("presence")[0].ready() is not None)
        answer = await ann.ask("act", kind="play")
        assert (answer["op"], answer["code"]) == ("error", "unavailable")


async def test_presence_keeps_exactly_the_newest_event_of_each_user_in_memory(tcp: bool) -> None:
    """SB-29: whatever was published; what asks it for them on connect comes with the services."""
    async with Cluster(sites=1, tcp=tcp) as c, c.user("ann") as ann, c.user("bob") as bob:
        for n in range(3):
            for user in (ann, bob):
                assert (await user.ask("act", kind="play", n=n))["op"] == "ok"
        last = c.of("presence")[0].core.last
        assert {user: (kept.topic, kept.tail.endswith(b'"payload":{"n":2}}')) for user, kept in last.items()} == {
            "ann": (user_topic("ann"), True),
            "bob": (user_topic("bob"), True),
        }
