"""What happens in a cluster when as much waits as may."""

import msgspec

from aggregator.options import AggregatorOptions
from broker.options import BrokerOptions
from infra.kernel.frames import Subscribe
from infra.kernel.ring import Ring
from infra.kernel.topics import user_topic
from segue.cluster.role_spec import RoleOptions
from tests.support.cluster import Cluster, impatient
from tests.support.user import feed


async def test_a_link_on_which_subscriptions_pile_up_is_closed_and_everything_is_announced_anew(tcp: bool) -> None:
    """Nothing of them is dropped: once the broker reads again, it holds exactly what is wanted."""

    def change(options: RoleOptions) -> RoleOptions:
        if isinstance(options, AggregatorOptions):
            return msgspec.structs.replace(options, max_link_queue_bytes=1000, max_link_bytes=5000)
        return impatient(options, 0.05)

    async with Cluster(sites=1, tcp=tcp, change=change) as c, c.user("ann") as ann:
        await ann.follow("before")
        aggregator = c.roles["sto/a1"]
        c.plan.hold("sto/a1", "sto/b1")
        names = [f"a-rather-long-name-{n}" for n in range(300)]
        assert (await ann.follow(*names))["installed"] == "partial"
        assert aggregator.counters()["aggregator_links_slow_total"] == 1
        assert aggregator.counters()["aggregator_protocol_errors_total"] == 0
        await ann.ask("unsubscribe", topics=[feed("before")])
        c.plan.release("sto/a1", "sto/b1")
        await c.settle()
        await c.play(names[-1])
        assert [event["topic"] for event in await ann.heard(1)] == [feed(names[-1])]
        wanted = [topic for frame in c.frames(Subscribe, "sto/a1", "sto/b1") for topic in frame.topics]
        assert wanted.count(user_topic(names[0])) >= 2


async def test_events_of_another_site_that_find_no_room_end_the_handover_in_order(tcp: bool) -> None:
    """Who has announced itself gets all of them; the broker waits for one that never will."""

    def change(options: RoleOptions) -> RoleOptions:
        if isinstance(options, BrokerOptions):
            return msgspec.structs.replace(options, max_handover_bytes=1000)
        return options

    async with Cluster(sites=2, tcp=tcp, change=change) as c, c.user("ann", "lon") as ann:
        await ann.follow("dan")
        broker = c.roles["lon/b1"]
        broker.handover.begin(Ring(("b2",)), ["nobody"])
        for n in range(2):
            await c.play("dan", site="sto", n=n)
        await c.until(lambda: broker.core.site_events == 0 and broker.counters()["broker_handover_bytes"] > 500)
        assert ann.events == []
        await c.play("dan", site="sto", n=2)
        assert [event["payload"]["n"] for event in await ann.heard(3)] == [0, 1, 2]
        counters = broker.counters()
        assert (counters["broker_handover_bytes"], counters["broker_handover_overflow_total"]) == (0, 1)
