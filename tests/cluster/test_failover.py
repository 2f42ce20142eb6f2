"""Nodes die; the others take over, and subscriptions are found again where they are kept: one hop below."""

import asyncio
import time
from collections.abc import Iterable
from typing import Any

import msgspec

from broker.options import BrokerOptions
from infra.kernel.frames import Subscribe
from infra.kernel.membership import Timing
from infra.kernel.topics import user_topic
from tests.support.cluster import FAST, QUICK, Cluster, impatient, links_of, unrecorded
from tests.support.user import feed

USERS = [f"u{n}" for n in range(12)]


async def test_a_dead_brokers_topics_are_served_again_within_the_scaled_five_seconds(tcp: bool) -> None:
    """SB-59: at every site; measured from the crash until interest is installed again, then one event of each is delivered.

    The five seconds are for the default times; those of the test are that much shorter, and so is the limit. It is measured
    in heartbeats of a broker that stays, so that a slow machine does not count.
    """
    limit_s = 5.0 * QUICK.dead_s / Timing().dead_s
    async with Cluster(sites=2, brokers=3, tcp=tcp) as c, c.user("ann", "sto") as ann, c.user("bob", "lon") as bob:
        for follower in (ann, bob):
            await follower.follow(*USERS)
        lost = {name for name in USERS if c.owner(name) == "sto/b2"}
        assert lost
        clock = c.roles["sto/b1"].links
        crashed_s = clock.now_s
        await c.crash("sto/b2")
        await c.settle()
        settled_s = clock.now_s
        for name in USERS:
            await c.play(name, site="sto", broker=1)
        for user in (ann, bob):
            await user.heard(len(USERS))
        assert settled_s - crashed_s < limit_s
        for user in (ann, bob):
            await user.fence()
            assert sorted(event["topic"] for event in user.events) == sorted(map(feed, USERS))


async def test_after_a_restart_of_the_whole_overlay_interest_is_rebuilt_from_aggregators_alone(tcp: bool) -> None:
    """SB-21: all brokers of all sites forget everything; no client and no access point has to say anything again."""
    async with Cluster(sites=2, brokers=2, tcp=tcp) as c, c.user("ann", "sto") as ann, c.user("bob", "lon") as bob:
        for user in (ann, bob):
            await user.follow("dan", "eve", "fay")
        await c.play("dan")
        epoch = (await ann.heard(1))[0]["epoch"]
        said = len(c.frames(Subscribe, "sto/ap")), len(c.frames(Subscribe, "lon/ap"))
        names = [f"{each.site}/{each.node}" for each in c.of("broker")]
        for name in names:
            await c.crash(name)
        for name in names:
            await c.restart(name)
        await c.settle()
        for n, friend in enumerate(("dan", "eve", "fay")):
            await c.play(friend, site=("sto", "lon")[n % 2])
        for user in (ann, bob):
            assert [event["topic"] for event in (await user.heard(4))[1:]] == [feed("dan"), feed("eve"), feed("fay")]
            assert all(event["epoch"] != epoch for event in user.events[1:])
        assert said == (len(c.frames(Subscribe, "sto/ap")), len(c.frames(Subscribe, "lon/ap")))


async def test_an_access_point_that_loses_its_aggregator_goes_to_another_one(tcp: bool) -> None:
    """Its clients notice nothing but a pause; what they want is announced there, once, and to the brokers."""
    async with Cluster(sites=1, brokers=2, aggregators=2, accesspoints=2, tcp=tcp) as c:
        async with c.user("ann") as ann, c.user("bob", "sto", 1) as bob:
            for user in (ann, bob):
                await user.follow("dan", "eve")
            for name in ("sto/a1", "sto/a2", "sto/a1"):
                await c.crash(name)
                await c.settle()
                for friend in ("dan", "eve"):
                    await c.play(friend)
                await c.restart(name)
                await c.settle()
            for user in (ann, bob):
                await user.heard(6)
                await user.fence()
                assert [event["topic"] for event in user.events] == [feed("dan"), feed("eve")] * 3
                assert user.closed is None


async def test_an_aggregator_moves_topics_to_their_new_owner_and_back(tcp: bool) -> None:
    """Each topic is known to one broker of the site at any time when things have settled, and each event comes once."""
    async with Cluster(sites=1, brokers=3, tcp=tcp) as c, c.user("ann") as ann:
        await ann.follow(*USERS)
        assert holders(c) == {user: [c.owner(user)] for user in USERS}
        await c.crash("sto/b3")
        await c.settle()
        await c.until(lambda: holders(c) == {user: [c.owner(user)] for user in USERS})
        await c.restart("sto/b3")
        await c.settle()
        await c.until(lambda: holders(c) == {user: [c.owner(user)] for user in USERS})
        assert any(owners == ["sto/b3"] for owners in holders(c).values())
        for name in USERS:
            await c.play(name, broker=1)
        await ann.heard(len(USERS))
        await ann.fence()
        assert sorted(event["topic"] for event in ann.events) == sorted(map(feed, USERS))


def holders(c: Cluster) -> dict[str, list[str]]:
    """Returns, for each user, the brokers that hold an interest in the feed."""
    return {user: list(_holders(c, user)) for user in USERS}


def _holders(c: Cluster, user: str) -> Iterable[str]:
    for each in c.of("broker"):
        interest = each.core.interest
        row = interest.rows.get(user_topic(user))
        if row is not None and interest.masks[row]:
            yield f"{each.site}/{each.node}"


async def test_clients_of_a_dead_access_point_connect_elsewhere_and_get_events_again(tcp: bool) -> None:
    """SB-60, the part of the engine: that no stored event is lost then comes with the notification role.

    What the dead access point wanted is withdrawn for it, all the way up."""
    async with Cluster(sites=2, accesspoints=2, tcp=tcp, change=unrecorded) as c, c.user("bob", "lon") as bob:
        async with c.user("ann", "sto", 0) as ann:
            await ann.follow("dan", "eve")
            await bob.follow("eve")
            await c.crash("sto/ap1")
            await ann.until(lambda: ann.closed is not None)
        await c.settle()
        brokers = {each.site: each.core.interest for each in c.of("broker")}
        await c.until(lambda: {topic for _, topic in brokers["sto"].wanted(-1)} == {user_topic("eve")})
        await c.until(lambda: {topic for _, topic in brokers["lon"].wanted(-1)} == {user_topic("eve")})
        async with c.user("ann", "sto", 0) as again:
            await again.follow("dan", "eve")
            for name in ("dan", "eve"):
                await c.play(name, site="lon")
            assert [event["topic"] for event in await again.heard(2)] == [feed("dan"), feed("eve")]
            await bob.heard(1)


async def test_a_client_is_not_told_of_a_broker_that_came_and_went(tcp: bool) -> None:
    """A restart within a view: the same slots, an empty memory; interest comes back without a change of view."""
    async with Cluster(sites=1, tcp=tcp, change=impatient) as c, c.user("ann") as ann:
        await ann.follow("dan")
        await c.crash("sto/b1")
        await c.restart("sto/b1")
        await c.settle()
        await c.play("dan")
        await ann.heard(1)
        assert ann.closed is None


async def test_events_of_a_dead_brokers_topics_wait_for_the_aggregator_to_announce_itself(tcp: bool) -> None:
    """Between the new view and the news of who wants what, the new owner holds them back: late, but not lost."""
    async with Cluster(sites=1, brokers=2, tcp=tcp) as c, c.user("ann") as ann:
        user = next(user for user in USERS if c.owner(user) == "sto/b2")
        await ann.follow(user)
        c.plan.hold("sto/a1", "sto/b1")
        await c.crash("sto/b2")
        broker = c.roles["sto/b1"]
        await c.until(lambda: broker.view().slots == ("b1",))
        posted = asyncio.create_task(c.play(user, broker=0))
        await c.until(lambda: len(broker.handover._held) == 1)
        await ann.fence()
        assert (ann.events, posted.done()) == ([], False)
        c.plan.release("sto/a1", "sto/b1")
        await ann.heard(1)
        await posted


async def test_a_process_that_was_stalled_does_not_take_its_peers_for_dead() -> None:
    """Silence is counted in own heartbeats: all links and views are as they were, although nobody was heard for long."""
    async with Cluster(sites=2, brokers=2) as c, c.user("ann") as ann:
        await ann.follow("dan")
        links = {name: set(links_of(role).links) for name, role in c.roles.items()}
        views = [door.view() for door in c.of("broker")]
        time.sleep(2 * FAST.silent_s)  # noqa: ASYNC251 - the stall itself
        beats_s = links_of(c.roles["sto/b1"]).now_s + 5 * FAST.heartbeat_s
        await c.until(lambda: links_of(c.roles["sto/b1"]).now_s > beats_s)
        assert {name: set(links_of(role).links) for name, role in c.roles.items()} == links
        assert [door.view() for door in c.of("broker")] == views
        await c.play("dan", site="lon")
        await ann.heard(1)


async def test_a_site_that_forgot_its_view_still_changes_it_for_everybody(tcp: bool) -> None:
    """Design 6, numbers of views: after a restart of all of a site, other sites and its own must follow its new views."""
    async with Cluster(sites=2, brokers=3, tcp=tcp) as c, c.user("ann", "lon") as ann:
        await ann.follow(*USERS)
        for _ in range(2):
            await c.crash("sto/b3")
            await c.settle()
            await c.restart("sto/b3")
            await c.settle()
        site = [name for name in c.roles if name.startswith("sto/")]
        for name in site:
            await c.crash(name)
        for name in site:
            await c.restart(name)
        await c.settle()
        await c.crash("sto/b2")
        await c.settle()
        for name in USERS:
            await c.play(name, site="sto", broker=0)
        await ann.heard(len(USERS))


def slow_to_join(options: Any) -> Any:
    """Returns options with which a process takes the view for that of an earlier one for longer than a test goes on."""
    return (
        msgspec.structs.replace(options, membership=Timing(suspect_s=0.06, dead_s=0.2, grace_s=60.0))
        if isinstance(options, BrokerOptions)
        else options
    )


async def test_the_last_broker_of_a_view_that_is_started_again_accepts_nothing_while_others_may_take_its_place(tcp: bool) -> None:
    """DPS-19: from no service, over HTTP or on its link. Nobody would hear of it where somebody takes its place who has not met it yet."""
    async with Cluster(sites=1, brokers=2, tcp=tcp, change=slow_to_join) as c, c.user("ann") as ann:
        await c.crash("sto/b1")
        await c.until(lambda: c.roles["sto/a1"].view().slots == ("b2",))
        await c.crash("sto/b2")
        await c.until(lambda: c.of("presence")[0].ready() is not None)
        await c.restart("sto/b2")
        await c.until(lambda: c.roles["sto/b2"].view().slots == ("b2",) and c.of("presence")[0].ready() is None)
        answer = await ann.ask("act", kind="play")
        assert (answer["op"], answer["code"]) == ("error", "unavailable")
        status, refused = await c.post({"topic": feed("ann"), "kind": "play", "payload": {}})
        assert (status, refused["code"]) == (503, "unavailable")
