"""Events find their way through a whole cluster, on both links."""

import json
import random
from collections import Counter

from accesspoint.messages import OPS
from infra.kernel.frames import Bye, Deliver, Gone, Heartbeat, Hello, Here
from tests.support.cluster import Cluster, lenient, unrecorded
from tests.support.user import User, feed


async def test_an_event_published_over_http_reaches_followers_at_every_site_once(tcp: bool) -> None:
    """SB-18, SB-26: followers at all sites, and only they, get it; published at a broker that need not be the owner."""
    async with Cluster(sites=3, brokers=3, aggregators=2, accesspoints=2, tcp=tcp) as c:
        async with c.user("ann", "sto") as ann, c.user("bob", "lon", 1) as bob, c.user("cyd", "ash") as cyd:
            for user in (ann, bob):
                assert (await user.follow("dan"))["installed"] == "all"
            await cyd.follow("eve")
            for n in range(3):
                await c.play("dan", site="ash", broker=n, n=n)
            for user in (ann, bob):
                events = await user.heard(3)
                assert [event["payload"]["n"] for event in events] == [0, 1, 2]
                assert [event["seq"] for event in events] == [events[0]["seq"] + n for n in range(3)]
                assert {event["site"] for event in events} == {"ash"}
            await cyd.fence()
            assert cyd.events == []


async def test_an_action_of_a_client_reaches_its_friends(tcp: bool) -> None:
    """A play goes client -> access point -> presence -> broker -> friends."""
    async with Cluster(sites=2, brokers=2, tcp=tcp) as c:
        async with c.user("ann", "sto") as ann, c.user("bob", "lon") as bob:
            await bob.follow("ann")
            assert (await ann.ask("act", kind="play", track="Ágætis byrjun"))["op"] == "ok"
            (event,) = await bob.heard(1)
            assert (event["kind"], event["payload"]) == ("play", {"track": "Ágætis byrjun"})


async def test_users_at_different_sites_who_follow_each_other_get_each_others_events(tcp: bool) -> None:
    """SB-26: both ways, and nobody gets their own."""
    async with Cluster(sites=2, brokers=2, tcp=tcp) as c, c.user("ann", "sto") as ann, c.user("bob", "lon") as bob:
        await ann.follow("bob")
        await bob.follow("ann")
        for user in (ann, bob):
            assert (await user.ask("act", kind="favourite", album="Takk"))["op"] == "ok"
        assert [event["topic"] for event in await ann.heard(1)] == [feed("bob")]
        assert [event["topic"] for event in await bob.heard(1)] == [feed("ann")]


async def test_a_publication_reaches_exactly_the_aggregators_and_users_that_a_dumb_model_names(tcp: bool) -> None:
    """SB-18: random interest that changes; per topic the aggregators that were sent it are exactly those that hold it."""
    rng = random.Random(18)
    topics = [f"t{n}" for n in range(12)]
    async with Cluster(sites=2, brokers=3, aggregators=2, accesspoints=2, tcp=tcp) as c:
        places = [(site, point) for site in ("sto", "lon") for point in (0, 1)]
        users = [c.user(f"u{n}", *place) for n, place in enumerate(places * 2)]
        follows: list[set[str]] = [set() for _ in users]
        for user in users:
            await user.__aenter__()
        for turn in range(3):
            for user, mine in zip(users, follows, strict=True):
                wish = set(rng.sample(topics, rng.randrange(4)))
                await user.ask("unsubscribe", topics=[feed(topic) for topic in mine - wish])
                await user.follow(*(wish - mine))
                mine.clear()
                mine.update(wish)
            await c.settle()
            before = len(c.plan.log)
            heard = [len(user.events) for user in users]
            for topic in topics:
                await c.play(topic, site=rng.choice(("sto", "lon")), broker=rng.randrange(3), turn=turn)
            for user, mine, old in zip(users, follows, heard, strict=True):
                await user.heard(old + len(mine))
                await user.fence()
                assert Counter(event["topic"] for event in user.events[old:]) == Counter(map(feed, mine))
            expected = {
                (topic, c.aggregator_of(*place)) for place, mine in zip(places * 2, follows, strict=True) for topic in map(feed, mine)
            }
            assert sent_to_aggregators(c, before) == Counter(expected)
        for user in users:
            await user.__aexit__()


def sent_to_aggregators(c: Cluster, since: int) -> Counter[tuple[str, str]]:
    """Returns (topic, aggregator) of every copy that a broker sent to an aggregator."""
    return Counter(
        (json.loads(body)["topic"], target)
        for source, target, frame in c.plan.log[since:]
        if isinstance(frame, Deliver) and "/b" in source and "/a" in target and "/ap" not in target
        for body in frame.bodies
    )


async def test_a_publication_crosses_each_link_once_whatever_the_number_of_clients(tcp: bool) -> None:
    """SB-16: broker -> aggregator once per aggregator, aggregator -> access point once per access point."""
    async with Cluster(sites=1, brokers=2, aggregators=2, accesspoints=4, tcp=tcp, change=lenient) as c:
        used = {c.aggregator_of("sto", point) for point in range(4)}
        users = [c.user(f"u{n}", "sto", n % 4) for n in range(12)]
        for user in users:
            await user.__aenter__()
            await user.follow("dan")
        await c.play("dan")
        for user in users:
            await user.heard(1)
        assert len(used) == 2
        for aggregator in ("sto/a1", "sto/a2"):
            assert c.copies(c.owner("dan"), aggregator) == c.copies("sto/b", aggregator) == 1
        for point in range(4):
            assert c.copies("sto/a", f"sto/ap{point + 1}") == 1
        for user in users:
            await user.__aexit__()


async def test_a_publication_crosses_a_site_link_only_to_followers_once_and_never_on(tcp: bool) -> None:
    """SB-24, SB-25: 0 copies without a follower there, 1 otherwise; a copy that came from a site is not sent to another."""
    async with Cluster(sites=3, brokers=2, accesspoints=2, tcp=tcp) as c:
        async with c.user("ann", "sto") as ann, c.user("bob", "lon") as bob, c.user("bab", "lon", 1) as bab, c.user("cyd", "ash") as cyd:
            await ann.follow("dan")
            await c.play("dan", site="sto")
            await ann.heard(1)
            assert crossings(c) == {}
            for user in (bob, bab):
                await user.follow("dan")
            await c.play("dan", site="sto")
            for user, number in ((ann, 2), (bob, 1), (bab, 1)):
                await user.heard(number)
            assert crossings(c) == {("sto", "lon"): 1}
            await cyd.follow("dan")
            await c.play("dan", site="sto", broker=1)
            for user, number in ((ann, 3), (bob, 2), (bab, 2), (cyd, 1)):
                await user.heard(number)
                await user.fence()
                assert len(user.events) == number
            assert crossings(c) == {("sto", "lon"): 2, ("sto", "ash"): 1}


def crossings(c: Cluster) -> dict[tuple[str, str], int]:
    """Returns how many copies went from one site to another so far."""
    sites = ("sto", "lon", "ash")
    counts = {(one, other): c.copies(f"{one}/", f"{other}/") for one in sites for other in sites if one != other}
    return {pair: copies for pair, copies in counts.items() if copies}


async def test_cross_site_traffic_stops_after_the_last_remote_follower_left(tcp: bool) -> None:
    """SB-28: by unsubscribing or by leaving. Where events are recorded, it goes on for as long as the window is (DPS-4)."""
    async with Cluster(sites=2, brokers=2, tcp=tcp, change=unrecorded) as c, c.user("ann", "sto") as ann:
        await ann.follow("dan")
        async with c.user("bob", "lon") as bob, c.user("cyd", "lon") as cyd:
            await bob.follow("dan")
            await cyd.follow("dan")
            await bob.ask("unsubscribe", topics=[feed("dan")])
            await c.settle()
            await c.play("dan")
            await cyd.heard(1)
            assert crossings(c) == {("sto", "lon"): 1}
        await c.until(lambda: not c.of("accesspoint", "lon")[0].core.sessions)
        await c.settle()
        await c.play("dan")
        await ann.heard(2)
        assert crossings(c) == {("sto", "lon"): 1}


async def test_who_was_offline_never_gets_what_a_user_did_meanwhile(tcp: bool) -> None:
    """SB-54: user events are for who is online; coming back brings only what happens afterwards."""
    async with Cluster(sites=1, tcp=tcp) as c:
        async with c.user("bob") as bob:
            await bob.follow("dan")
            await c.play("dan", n=1)
            await bob.heard(1)
        await c.play("dan", n=2)
        async with c.user("bob") as bob:
            await bob.follow("dan")
            await c.play("dan", n=3)
            await bob.heard(1)
            await bob.fence()
            assert [event["payload"]["n"] for event in bob.events] == [3]


async def test_no_acknowledgement_flows_and_who_is_killed_loses_what_was_on_its_way(tcp: bool) -> None:
    """SB-46: nothing flows upwards because of an event, and an event that was on its way to a dead client is not sent again."""
    async with Cluster(sites=1, tcp=tcp) as c, c.user("ann") as ann, c.user("bob") as bob:
        for user in (ann, bob):
            await user.follow("dan")
        c.plan.hold("sto/a1", "sto/ap1")
        before = len(c.plan.log)
        await c.play("dan", n=1)
        await c.until(lambda: c.copies("sto/a1", "sto/ap1") == 1)
        bob.kill()
        await c.until(lambda: len(c.of("accesspoint")[0].core.sessions) == 1)
        c.plan.release("sto/a1", "sto/ap1")
        await ann.heard(1)
        async with c.user("bob") as again:
            await again.follow("dan")
            await c.play("dan", n=2)
            await again.heard(1)
            await again.fence()
            assert [event["payload"]["n"] for event in again.events] == [2]
        assert bob.events == []
        assert c.copies("sto/b1", "sto/a1") == c.copies("sto/a1", "sto/ap1") == 2
        assert upward(c, before) == Counter()
    assert {
        "hello",
        "subscribe",
        "unsubscribe",
        "act",
        "last",
        "pull",
        "list",
        "seen",
        "read",
        "change",
        "history",
        "ping",
        "refresh",
        "private",
    } == OPS


def upward(c: Cluster, since: int) -> Counter[str]:
    """Returns what access points and aggregators told the next node above, besides signs of life, their own and their clients'."""
    return Counter(
        type(frame).__name__
        for source, _, frame in c.plan.log[since:]
        if "/a" in source and not isinstance(frame, Heartbeat | Hello | Bye | Deliver | Here | Gone)
    )


async def test_a_follower_twice_over_two_devices_gets_each_event_on_each(tcp: bool) -> None:
    """A subscription is a user's; its connections are each served."""
    async with Cluster(sites=1, tcp=tcp) as c, c.user("bob") as desktop, c.user("bob", device="mobile") as mobile:
        devices: list[User] = [desktop, mobile]
        for device in devices:
            await device.follow("dan")
        await c.play("dan")
        for device in devices:
            assert len(await device.heard(1)) == 1
