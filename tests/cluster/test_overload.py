"""A broker that is late, in a cluster: presence for the other site is conflated, and the client learns how much it did not get."""

from collections.abc import Callable
from contextlib import AsyncExitStack

import msgspec

from accesspoint.options import AccessPointOptions
from broker.options import BrokerOptions
from broker.overload_options import OverloadOptions
from infra.kernel.gains import gain_of
from infra.kernel.topics import user_topic
from segue.cluster.role_spec import RoleOptions
from tests.support.cluster import Cluster, unrecorded
from tests.support.user import feed

# A loop is always later than this.
ALWAYS = OverloadOptions(enabled=True, late_s=1e-9)


def overloaded(options: RoleOptions) -> RoleOptions:
    """Has brokers hold presence, and no windows: what waits can come from nowhere else."""
    options = unrecorded(options)
    return msgspec.structs.replace(options, overload=ALWAYS) if isinstance(options, BrokerOptions) else options


async def test_of_what_waits_for_another_site_the_newest_comes_and_says_what_it_replaced(tcp: bool) -> None:
    """DPS-20, DPS-21: events that came and events that were skipped are all there were, and nobody of this site waits."""
    async with Cluster(sites=2, tcp=tcp, change=overloaded) as c, c.user("ann", "lon") as ann, c.user("ben") as ben:
        await ann.follow("dan")
        await ben.follow("dan")
        broker, published = c.roles["sto/b1"], 0
        while not broker.counters()["broker_overload_conflated_total"]:
            await c.post([{"topic": feed("dan"), "kind": "play", "payload": {"n": published + n}} for n in range(10)])
            published += 10
        await c.until(lambda: bool(ann.events) and ann.events[-1]["payload"]["n"] == published - 1)
        skipped = sum(event.get("skipped", 0) for event in ann.events)
        assert len(ann.events) + skipped == published
        counters = broker.counters()
        assert skipped == counters["broker_overload_conflated_total"] > 0
        assert (counters["broker_overload_held_bytes"], counters["broker_overload_shed_total"]) == (0, {"user": 0})
        assert len(await ben.heard(published)) == published


def counting(options: RoleOptions) -> RoleOptions:
    """Has access points tell how many follow, and brokers of the other site hold presence."""
    options = overloaded(options)
    return msgspec.structs.replace(options, tells_followers=True) if isinstance(options, AccessPointOptions) else options


async def told(c: Cluster, followers: dict[str, int], expected: Callable[[int], range]) -> None:
    """Waits until the broker of the first site knows such gains of these users at the other one."""
    site, far = c.roles["sto/b1"], c.roles["lon/b1"]

    def gains() -> dict[str, int]:
        (outlet,) = site.subscribers.outlets.everyone
        rows = far.core.interest.rows
        return {user: outlet.gains[rows[topic]] for user in followers if (topic := user_topic(user)) in rows}

    await c.until(lambda: (found := gains()).keys() == followers.keys() and all(found[user] in expected(followers[user]) for user in found))


def near(followers: int) -> range:
    """Returns the gains that may be told of so many: each of three hops may keep an older one while it is nearly right."""
    return range(gain_of(followers) - 1, gain_of(followers) + 2)


async def test_brokers_learn_how_many_clients_of_another_site_follow(tcp: bool) -> None:
    """DPS-20, DPS-22: from two access points by way of an aggregator and a broker, rising and falling. What most follow comes first."""
    async with Cluster(sites=2, accesspoints=2, tcp=tcp, change=counting) as c, AsyncExitStack() as stack:
        users = [await stack.enter_async_context(c.user(f"u{n}", "lon", n % 2)) for n in range(24)]
        for user in users:
            await user.follow("dan")
        for user in users[:3]:
            await user.follow("eve")
        await told(c, {"dan": 24, "eve": 3}, near)
        came: list[str] = []
        while came[-2:] != [feed("dan"), feed("eve")]:  # now and then the loop is in time, and both go at once
            await c.post([{"topic": feed(user), "kind": "play", "payload": {}} for user in ("eve", "dan")])
            came = [event["topic"] for event in await users[0].heard(len(came) + 2)]
        for user in users[2:]:
            await user.ask("unsubscribe", topics=[feed("dan")])
        await told(c, {"dan": 2, "eve": 3}, near)


async def test_where_access_points_do_not_tell_nothing_is_told_or_kept(tcp: bool) -> None:
    """DPS-20: it costs nothing where it is off."""
    async with Cluster(sites=2, tcp=tcp, change=overloaded) as c, c.user("ann", "lon") as ann:
        await ann.follow("dan")
        await told(c, {"dan": 1}, lambda followers: range(1))
        assert c.roles["lon/b1"].core.gains.of([0]) == c.roles["lon/a1"].core.gains.of([0]) == b""
