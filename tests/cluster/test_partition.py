"""Sites and brokers that cannot reach each other, and what happens when they can again."""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from infra.kernel.membership import CALM
from tests.support.cluster import QUICK, Cluster, impatient, unrecorded
from tests.support.user import User, feed


async def test_a_cut_between_sites_stops_what_crosses_it_and_nothing_else(tcp: bool) -> None:
    """SB-61: local delivery and the third site go on; a new subscription is `partial`; after healing interest is
    reconciled, in both directions, what was missed comes, and nothing comes twice."""
    async with Cluster(sites=3, brokers=2, tcp=tcp, change=impatient) as c:
        async with c.user("ann", "sto") as ann, c.user("bob", "lon") as bob, c.user("cyd", "ash") as cyd:
            everybody = (ann, bob, cyd)
            for user in everybody:
                await user.has_installed("dan", "eve")
            await c.until(lambda: all(broker.mesh.era() for broker in c.of("broker")))
            c.partition("sto", "lon")
            await c.settle()
            await bob.ask("unsubscribe", topics=[feed("eve")])
            answer = await ann.follow("fay")
            assert (answer["installed"], answer["missing_sites"]) == ("partial", ["lon"])
            await c.play("dan", site="sto", n=1)
            await c.play("dan", site="lon", n=2)
            assert await payloads(ann, 1) == {1}
            assert await payloads(bob, 1) == {2}
            assert await payloads(cyd, 2) == {1, 2}
            c.heal()
            await c.settle()
            await c.play("dan", site="sto", n=3)
            await c.play("fay", site="lon", n=4)
            await c.play("eve", site="sto", n=5)
            assert await payloads(ann, 5) == {1, 2, 3, 4, 5}
            assert await payloads(bob, 3) == {1, 2, 3}
            assert await payloads(cyd, 4) == {1, 2, 3, 5}
            for user in everybody:
                await user.fence()
                assert twice(user) == []


async def payloads(user: User, number: int) -> set[int]:
    return {event["payload"]["n"] for event in await user.heard(number)}


def twice(user: User) -> list[Any]:
    numbers = Counter((event["topic"], event["site"], event["epoch"], event["seq"]) for event in user.events)
    return [number for number, count in numbers.items() if count > 1]


async def test_a_site_that_is_cut_off_from_all_others_goes_on_alone(tcp: bool) -> None:
    """SB-61: both missing sites are named; after healing all three are whole again."""
    async with (
        Cluster(sites=3, tcp=tcp, change=lambda options: unrecorded(impatient(options))) as c,
        c.user("ann", "sto") as ann,
        c.user("bob", "lon") as bob,
    ):
        c.partition("sto", "lon")
        c.partition("sto", "ash")
        await c.settle()
        answer = await ann.follow("dan")
        assert (answer["installed"], answer["missing_sites"]) == ("partial", ["ash", "lon"])
        assert (await bob.follow("dan"))["missing_sites"] == ["sto"]
        await c.play("dan", site="ash", n=1)
        await c.play("dan", site="sto", n=2)
        assert await payloads(bob, 1) == {1}
        assert await payloads(ann, 1) == {2}
        c.heal()
        await c.settle()
        await c.play("dan", site="ash", n=3)
        assert await payloads(ann, 2) == {2, 3}
        assert await payloads(bob, 2) == {1, 3}


async def test_after_a_partition_inside_a_site_the_higher_view_wins(tcp: bool) -> None:
    """Design 6: a broker that hears nobody and the other two issue views of their own; once they hear of each other all go by one
    view, with a higher number."""
    async with Cluster(sites=2, brokers=3, tcp=tcp) as c, c.user("ann", "sto") as ann, c.user("bob", "lon") as bob:
        users = [f"u{n}" for n in range(12)]
        for user in (ann, bob):
            await user.follow(*users)
        for other in c.roles.keys() - {"sto/b1"}:
            c.partition("sto/b1", other)
        views = {each.node: each.view for each in c.of("broker", "sto")}
        await c.until(lambda: (views["b1"]().slots, views["b2"]().slots) == (("b1",), ("b2", "b3")))
        split = max(view().number for view in views.values())
        c.heal()
        await c.settle()
        assert {view() for view in views.values()} == {views["b1"]()}
        assert views["b1"]().number > split
        assert views["b1"]().slots == ("b1", "b2", "b3")
        for n, followed in enumerate(users):
            await c.play(followed, site="sto", broker=n % 3)
        for user in (ann, bob):
            await user.heard(len(users))
            await user.fence()
            assert sorted(topics(user)) == sorted(map(feed, users))


async def test_two_brokers_that_only_cannot_see_each_other_do_not_outbid_each_other(tcp: bool) -> None:
    """Design 6: both are heard by the aggregators and by the other site, which tell each of the other's views: one of the two
    gives way and stays calm for a while, and events reach everybody through either of them."""
    async with Cluster(sites=2, brokers=2, aggregators=2, tcp=tcp) as c, c.user("ann", "sto") as ann, c.user("bob", "lon") as bob:
        users = [f"u{n}" for n in range(8)]
        for user in (ann, bob):
            await user.follow(*users)
        c.partition("sto/b1", "sto/b2")
        views = {each.node: each.view for each in c.of("broker", "sto")}
        await c.until(lambda: views["b1"]() == views["b2"]() and len(views["b1"]().slots) == 1)
        brokers = c.of("broker", "sto")
        passed_s = brokers[0].links.now_s + CALM * QUICK.dead_s
        held: set[int] = set()

        def passed() -> bool:
            held.add(views["b1"]().number)
            return all(each.links.now_s > passed_s for each in brokers)

        await c.until(passed)
        assert len(held) <= 3  # by their number alone they may be far apart: each life of a broker begins at its own
        c.heal()
        await c.settle()
        for followed in users:
            await c.play(followed, site="sto")
        for user in (ann, bob):
            await user.heard(len(users))
            await user.fence()
            assert sorted(topics(user)) == sorted(map(feed, users))


def topics(user: User) -> Iterable[str]:
    return (event["topic"] for event in user.events)
