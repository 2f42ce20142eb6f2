"""Events and subscriptions that reach a broker under another view than its own (design 6)."""

import asyncio
from typing import Any

import msgspec
import pytest

from infra.kernel.frames import Applied, Heartbeat, Publish, Subscribe, View
from infra.kernel.membership import Timing
from infra.kernel.ring import Ring
from infra.kernel.topics import user_topic
from tests.support.cluster import FAST, QUICK, Cluster
from tests.support.peer import Peer
from tests.support.user import feed

SLOTS = ("b1", "b2", "b3")


def patient(options: Any) -> Any:
    """Returns options with which silence is suspicious only after a long while: a view that is held back stays away for the whole test."""
    link = msgspec.structs.replace(FAST, silent_s=30.0, hello_s=30.0)
    timing = Timing(suspect_s=QUICK.suspect_s, dead_s=30.0, grace_s=QUICK.grace_s)
    changes = {"link": link, "membership": timing, "handover_s": 30.0, "install_s": 30.0}
    return msgspec.structs.replace(options, **{name: value for name, value in changes.items() if hasattr(options, name)})


def have_all(broker: Any) -> None:
    """Has all brokers of a site own topics at once, as where one is of an older version: a step would wait for who has not heard of it."""
    broker.mesh.offer(View(broker.view().number + 1, SLOTS))


def user_between(before: str, after: str) -> str:
    """Returns a user whose feed belongs to `before` without b3 and to `after` with it."""
    old, new = Ring(SLOTS[:2]), Ring(SLOTS)
    topics = {f"u{n}": user_topic(f"u{n}") for n in range(1000)}
    return next(user for user, topic in topics.items() if (old.owner(topic), new.owner(topic)) == (before, after))


async def test_an_event_at_a_broker_with_an_old_view_is_forwarded_once_more_and_arrives_once(tcp: bool) -> None:
    """b2 has not heard that b3 is back: it forwards to b1, the owner of old, and b1 to b3."""
    user = user_between("b1", "b3")
    async with Cluster(sites=1, brokers=3, tcp=tcp, change=patient) as c, c.user("ann") as ann:
        await ann.follow(user)
        await c.crash("sto/b3")
        await c.settle()
        others = ("sto/b1", "sto/b3", "sto/a1", "sto/p1")
        for other in others:
            c.plan.hold(other, "sto/b2")
        await c.restart("sto/b3")
        b1, b2, b3 = (c.roles[f"sto/{slot}"] for slot in SLOTS)
        await c.until(lambda: b1.view().slots == b3.view().slots == SLOTS)
        have_all(b1)
        await c.until(lambda: user_topic(user) in b3.core.interest.rows and "b3" in b1.mesh.client.links)
        assert b2.view().slots == SLOTS[:2]
        posted = asyncio.create_task(c.play(user, broker=1))
        await c.until(lambda: c.frames(Publish, "sto/b1", "sto/b3") != [])
        assert ann.events == [], "b2 may still publish, as it has not heard of the view: who overtakes it waits"
        for other in others:
            c.plan.release(other, "sto/b2")
        await posted
        await ann.heard(1)
        await c.settle()
        await ann.fence()
        assert len(ann.events) == 1
        assert [(each.source, each.target) for each in c.plan.log if isinstance(each.frame, Publish)] == [
            ("sto/b2", "sto/b1"),
            ("sto/b1", "sto/b3"),
        ]


async def test_an_event_whose_topic_moves_on_while_it_is_on_its_way_goes_on_however_often_that_happens(tcp: bool) -> None:
    """DPS-17: its topic is b2's, b3's, b1's and b2's again, each time before it gets there. It is accepted, and arrives once."""
    async with Cluster(sites=1, brokers=3, tcp=tcp, change=patient) as c, c.user("ann") as ann:
        await ann.follow("dan")
        b1, b2, b3 = (c.roles[f"sto/{slot}"] for slot in SLOTS)

        async def give_all(slot: str, *hear: Any) -> None:
            view = View(b1.view().number + 1, SLOTS, tuple(256 * (each == slot) for each in SLOTS))
            b1.mesh.offer(view)
            await c.until(lambda: all(broker.view() == view for broker in hear))

        async def under_way(source: str, target: str) -> None:
            await c.until(lambda: bool(c.frames(Publish, f"sto/{source}", f"sto/{target}")))

        await give_all("b2", b2, b3)
        await c.settle()
        c.plan.hold("sto/b1", "sto/b2")
        posted = asyncio.create_task(c.play("dan"))
        ways = [("b1", "b2"), ("b2", "b3"), ("b3", "b1"), ("b1", "b2")]
        for (source, target), (_, owner), hears in zip(ways, ways[1:], (b2, b3, b1), strict=False):
            await under_way(source, target)
            await give_all(owner, hears)
            c.plan.hold(f"sto/{target}", f"sto/{owner}")
            c.plan.release(f"sto/{source}", f"sto/{target}")
        await c.until(lambda: len(c.frames(Publish)) == len(ways))
        c.plan.release("sto/b1", "sto/b2")
        await posted
        await ann.heard(1)
        await c.settle()
        await ann.fence()
        assert len(ann.events) == 1
        crossings = [(each.source, each.target) for each in c.plan.log if isinstance(each.frame, Publish)]
        assert crossings == [(f"sto/{source}", f"sto/{target}") for source, target in ways]


async def test_an_event_between_brokers_whose_views_contradict_each_other_ends_and_is_not_called_accepted(tcp: bool) -> None:
    """Each names another as the owner: after two hops the event is given up, counted, and rejected as unavailable."""
    async with Cluster(sites=1, brokers=3, tcp=tcp) as c:
        for slot, believed in zip(SLOTS, ("b2", "b3", "b1"), strict=True):
            c.roles[f"sto/{slot}"].router.follow(Ring((believed,)), 0.0)
        status, answer = await c.post([{"topic": feed("dan"), "kind": "play", "payload": {}}])
        assert (status, answer["accepted"]) == (202, 0)
        assert [(each["index"], each["code"]) for each in answer["rejected"]] == [(0, "unavailable")]
        assert len(c.frames(Publish)) == 2
        assert sum(each.counters()["broker_events_misrouted_total"] for each in c.of("broker")) == 1


async def test_a_subscription_at_a_broker_that_is_not_the_owner_any_more_goes_to_the_owner_and_only_then_counts(tcp: bool) -> None:
    """b1 has sent its new view before it answers, on the same link: the aggregator announces anew, once, and misses no event."""
    user = user_between("b1", "b3")
    topic = user_topic(user)
    async with Cluster(sites=1, brokers=3, tcp=tcp, change=patient) as c, c.user("ann") as ann:
        await c.crash("sto/b3")
        await c.settle()
        for slot in SLOTS:
            c.plan.hold(f"sto/{slot}", "sto/a1")
        await c.restart("sto/b3")
        b1, b2, b3 = (c.roles[f"sto/{slot}"] for slot in SLOTS)
        await c.until(lambda: b1.view().slots == b2.view().slots == b3.view().slots == SLOTS)
        have_all(b1)
        await c.until(lambda: "b3" in b1.mesh.client.links and any(link.peer.node == "a1" for link in b3.links.links))
        asked = asyncio.create_task(ann.follow(user))
        await c.until(lambda: topic in b1.core.interest.rows)
        posted = asyncio.create_task(c.play(user, broker=0))
        await c.until(lambda: b3.counters()["broker_handover_bytes"] > 0)
        assert (asked.done(), ann.events, c.roles["sto/a1"].view().slots) == (False, [], SLOTS[:2])
        for slot in SLOTS:
            c.plan.release(f"sto/{slot}", "sto/a1")
        assert (await asked)["installed"] == "all"
        assert topic in b3.core.interest.rows
        await asyncio.gather(posted, ann.heard(1))
        await c.settle()
        await ann.fence()
        assert len(ann.events) == 1
        told = [
            each.target for each in c.plan.log if isinstance(each.frame, Subscribe) and topic in each.frame.topics and "/b" in each.target
        ]
        assert told == ["sto/b1", "sto/b3"]


@pytest.mark.parametrize(("role", "name"), [("aggregator", "sto/late"), ("broker", "lon/b3")])
async def test_what_a_broker_answers_to_a_subscription_comes_behind_its_newest_view(tcp: bool, role: str, name: str) -> None:
    """Whoever subscribes under a view that does not hold any more learns so before it is told that anything is installed."""
    async with Cluster(sites=2, brokers=3, tcp=tcp) as c:
        await c.crash("lon/b3")
        b2, before = c.roles["sto/b2"], c.roles["sto/b2"].view()
        async with Peer(c, role, name) as peer:
            await peer.dial("sto/b2")
            await c.crash("sto/b3")  # b1 issues the view, b2 takes it over
            await c.until(lambda: b2.view() != before)
            peer.send("sto/b2", Subscribe(1, [0], [user_topic(user_between("b1", "b3"))]))
            await c.until(lambda: any(isinstance(said, Applied) and said.n == 1 for said in peer.heard))
            answer = next(n for n, said in enumerate(peer.heard) if isinstance(said, Applied) and said.n == 1)
            assert Heartbeat(b2.view()) in peer.heard[:answer]
