"""A broker that is late, in a cluster: presence for the other site is conflated, and the client learns how much it did not get."""

import msgspec

from broker.options import BrokerOptions
from broker.overload_options import OverloadOptions
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
