"""Brokers that die where playlists have `copies = 1`: their heirs have what anybody has got, and go on with it (DPS-18)."""

import asyncio
from typing import Any

import msgspec

from broker.options import BrokerOptions
from broker.window_bounds import WindowBounds
from infra.kernel.frames import Heartbeat, Inherited
from infra.kernel.topics import Kind, parse_topic
from segue.cluster.role_spec import RoleOptions
from tests.support.cluster import Cluster, lenient
from tests.support.user import User, feed

TOPICS = [f"hm://playlist/user/ann/playlist/p{n}/" for n in range(24)]


def copied(options: RoleOptions) -> RoleOptions:
    """Returns the options of a role with which playlists have copies, and users have none."""
    windows = {Kind.PLAYLIST: WindowBounds(copies=1), Kind.USER: WindowBounds(keep="latest")}
    return msgspec.structs.replace(options, window=windows) if isinstance(options, BrokerOptions) else options


def unmissed(options: RoleOptions) -> RoleOptions:
    """Returns the options of a role with copies that misses nobody who is gone for a moment, however busy the machine is."""
    return copied(lenient(options))


async def change(c: Cluster, topic: str, n: int, broker: int = 0) -> bool:
    """Changes a playlist. Returns whether that was accepted."""
    event = {"topic": topic, "kind": "changed", "id": f"{topic.split('/')[-2]}-{n}", "payload": {"n": n}}
    try:
        status, answer = await c.post(event, broker=broker, service="playlist")
    except OSError:
        return False
    return status == 202 and answer["accepted"] == 1


async def accepted(c: Cluster, topic: str, n: int) -> None:
    """Changes a playlist, and repeats that until it is accepted, as services do."""
    async with asyncio.timeout(20.0):
        while not await change(c, topic, n):
            await c.until(lambda: all(broker.ready() is None for broker in c.of("broker")))


async def is_whole(c: Cluster) -> None:
    """Waits until every heir has everything."""
    await c.settle()
    await c.until(lambda: not any(broker.heirs.uncopied for broker in c.of("broker")))


def got(user: User, topic: str) -> list[int]:
    return [event["payload"]["n"] for event in user.events if event["topic"] == topic]


def owned_by(c: Cluster, slot: str) -> set[str]:
    return {topic for topic in TOPICS if c.of("broker")[0].ring.owner(parse_topic(topic)) == slot}


def gaps(user: User) -> list[dict[str, Any]]:
    return [answer for answer in user.answers if answer["op"] == "gap"]


async def a_change_that_both_have(c: Cluster, ann: User, bob: User) -> None:
    """Changes each topic once, which both follow."""
    for user in (ann, bob):
        await user.ask("subscribe", topics=TOPICS, recover=True)
    await is_whole(c)
    for topic in TOPICS:
        assert await change(c, topic, 0)
    await ann.heard(len(TOPICS))
    await bob.heard(len(TOPICS))


async def two_changes_of_which_bob_has_one(c: Cluster, ann: User, bob: User) -> str:
    """Changes each topic twice, which both follow. Returns the point of bob, who goes away after the first change."""
    await a_change_that_both_have(c, ann, bob)
    point = await bob.point()
    await bob.ws.close()
    for topic in TOPICS:
        assert await change(c, topic, 1)
    return point


async def test_an_heir_goes_on_where_its_owner_was_when_that_is_killed(tcp: bool) -> None:
    """DPS-18: nothing is lost or doubled, the new epoch says `after`, nobody hears of a gap, and who was away recovers."""
    async with Cluster(sites=1, brokers=3, tcp=tcp, change=copied) as c:
        async with c.user("ann") as ann, c.user("bob") as bob:
            point = await two_changes_of_which_bob_has_one(c, ann, bob)
            dead = owned_by(c, "b3")
            assert 0 < len(dead) < len(TOPICS)
            await c.crash("sto/b3")
            for topic in TOPICS:
                await accepted(c, topic, 2)
            await ann.heard(3 * len(TOPICS))
            assert all(got(ann, topic) == [0, 1, 2] for topic in TOPICS)
            for topic in dead:
                last, first = [event for event in ann.events if event["topic"] == topic][1:]
                assert first["after"] == [last["epoch"], last["seq"]]
            await ann.fence()
            assert gaps(ann) == []
        async with c.user("bob") as bob:
            answer = await bob.ask("subscribe", topics=TOPICS, recover=True, point=point)
            assert (answer["recovered"], answer["lost"]) == (True, [])
            assert all(got(bob, topic) in ([1, 2], [0, 1, 2]) for topic in TOPICS)


async def test_nobody_hears_of_a_gap_when_an_owner_is_killed_and_is_there_again_before_it_is_missed(tcp: bool) -> None:
    """DPS-5, DPS-18: it is out of one view and back in the next. Its heirs have everything, and what they say of it counts."""
    async with Cluster(sites=1, brokers=3, tcp=tcp, change=unmissed) as c:
        async with c.user("ann") as ann, c.user("bob") as bob:
            point = await two_changes_of_which_bob_has_one(c, ann, bob)
            assert 0 < len(owned_by(c, "b3")) < len(TOPICS)
            aggregator = c.of("aggregator")[0]
            number = aggregator.view().number
            # No heir says what it has before all of them go by the view that holds. So it is back before anybody has said that.
            c.plan.hold("sto/b1", "sto/a1")
            await c.crash("sto/b3")
            await c.restart("sto/b3")
            await c.until(lambda: aggregator.view().number > number + 1)
            assert aggregator.view().share_of["b3"] == 0
            c.plan.release("sto/b1", "sto/a1")
            await is_whole(c)
            # Behind that, what an aggregator has told of it comes before any event.
            await c.until(lambda: aggregator.points.losses.are_told)
            for topic in TOPICS:
                await accepted(c, topic, 2)
            await ann.heard(3 * len(TOPICS))
            assert all(got(ann, topic) == [0, 1, 2] for topic in TOPICS)
            await ann.fence()
            assert gaps(ann) == []
        async with c.user("bob") as bob:
            answer = await bob.ask("subscribe", topics=TOPICS, recover=True, point=point)
            assert (answer["recovered"], answer["lost"]) == (True, [])
            assert all(got(bob, topic) in ([1, 2], [0, 1, 2]) for topic in TOPICS)


async def test_what_comes_of_a_quiet_topic_of_a_dead_owner_is_there_for_who_alone_follows_it_and_is_away(tcp: bool) -> None:
    """DPS-4, DPS-18: the heir has no event of it, and has not heard that anybody follows it."""
    async with Cluster(sites=1, brokers=3, tcp=tcp, change=copied) as c:
        async with c.user("bob") as bob:
            await bob.ask("subscribe", topics=TOPICS, recover=True)
            await is_whole(c)
            point = await bob.point()
        await c.until(lambda: sum(len(broker.core.recorded.lingering) for broker in c.of("broker")) == len(TOPICS))
        assert 0 < len(owned_by(c, "b3")) < len(TOPICS)
        await c.crash("sto/b3")
        for topic in TOPICS:
            await accepted(c, topic, 1)
        async with c.user("bob") as bob:
            answer = await bob.ask("subscribe", topics=TOPICS, recover=True, point=point)
            assert (answer["recovered"], answer["lost"]) == (True, [])
            assert all(got(bob, topic) == [1] for topic in TOPICS)


async def test_what_no_heir_has_any_more_is_told_also_where_another_heir_of_its_owner_is_left(tcp: bool) -> None:
    """DPS-8, DPS-18: owner and heir die together. Of topics without copies all of both is told, and nothing of what an heir still has."""
    feeds = [feed(f"u{n}") for n in range(24)]
    async with Cluster(sites=1, brokers=3, tcp=tcp, change=copied) as c:
        ring, dead = c.of("broker")[0].ring, {"b1", "b2"}
        owned = {topic for topic in [*TOPICS, *feeds] if ring.owner(parse_topic(topic)) in dead}
        kept = {topic for topic in TOPICS if topic in owned and ring.heir(parse_topic(topic)) not in dead}
        assert kept
        assert owned & set(TOPICS) - kept
        assert owned & set(feeds)
        async with c.user("ann") as ann:
            async with c.user("bob") as bob:
                for user in (ann, bob):
                    await user.ask("subscribe", topics=[*TOPICS, *feeds], recover=True)
                await is_whole(c)
                point = await bob.point()
            for name in ("sto/b1", "sto/b2"):
                await c.crash(name)
            await c.settle()
            await c.until(lambda: {topic for gap in gaps(ann) for topic in gap["topics"]} >= owned - kept)
            await ann.fence()
            assert {topic for gap in gaps(ann) for topic in gap["topics"]} == owned - kept
            assert {gap["reason"] for gap in gaps(ann)} == {"owner-lost"}
        async with c.user("bob") as bob:
            answer = await bob.ask("subscribe", topics=[*TOPICS, *feeds], recover=True, point=point)
            assert {each["topic"] for each in answer["lost"]} == owned - kept
            assert {each["reason"] for each in answer["lost"]} == {"owner-lost"}


async def test_who_has_heard_no_stamp_of_an_heir_since_it_has_given_the_rest_lacks_nothing_and_gets_nothing_again(tcp: bool) -> None:
    """DPS-11, DPS-18: a dead broker says no stamps, and its heirs have said none since they have the topics alone. What an access point
    that loses its aggregator then, and a client that has gone away, had of the dead one still counts. Simulated seed 25001509 with 400
    operations."""
    async with Cluster(sites=1, brokers=3, aggregators=2, tcp=tcp, change=unmissed) as c:
        async with c.user("ann") as ann, c.user("bob") as bob:
            await a_change_that_both_have(c, ann, bob)
            dead = owned_by(c, "b3")
            assert 0 < len(dead) < len(TOPICS)
            first = c.aggregator_of("sto")
            other = next(f"sto/{each.node}" for each in c.of("aggregator") if f"sto/{each.node}" != first)
            # While this one has not announced the view, no heir has the topics alone.
            for heir in ("sto/b1", "sto/b2"):
                c.plan.hold(other, heir)
            await c.crash("sto/b3")
            await c.until(lambda: len(c.frames(Inherited, target=first)) == 2)
            beats = len(c.frames(Heartbeat, first, "sto/ap1"))
            await c.until(lambda: len(c.frames(Heartbeat, first, "sto/ap1")) > beats + 1)
            point = await bob.point()
            await bob.ws.close()
            for heir in ("sto/b1", "sto/b2"):
                c.plan.hold(heir, first)
            stamps = [broker.window.stamp for broker in c.of("broker")]
            await c.until(lambda: all(broker.window.stamp > stamp + 1 for broker, stamp in zip(c.of("broker"), stamps, strict=True)))
            await c.crash(first)
            for heir in ("sto/b1", "sto/b2"):
                c.plan.release(other, heir)
            for topic in TOPICS:
                await accepted(c, topic, 1)
            await ann.heard(2 * len(TOPICS))
            await ann.fence()
            assert {tuple(got(ann, topic)) for topic in TOPICS} == {(0, 1)}
            assert gaps(ann) == []
        async with c.user("bob") as bob:
            answer = await bob.ask("subscribe", topics=TOPICS, recover=True, point=point)
            assert (answer["recovered"], answer["lost"]) == (True, [])
            assert {tuple(got(bob, topic)) for topic in dead} == {(1,)}
