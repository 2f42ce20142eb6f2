"""Interest on its way up: many subscriptions become one per topic, and go away with the last one."""

import itertools
from collections import Counter
from collections.abc import Sequence

import msgspec
import pytest

from accesspoint.options import AccessPointOptions
from infra.kernel.frames import AnyFrame, Call, Subscribe, Unsubscribe
from infra.kernel.interest import Interest
from infra.kernel.topics import Topic, inbox_topic, user_topic
from segue.cluster.role_spec import RoleOptions
from tests.support.cluster import Cluster, unrecorded
from tests.support.peer import Peer
from tests.support.user import feed


def named(frames: Sequence[Subscribe | Unsubscribe]) -> Counter[bytes]:
    """Returns how often each topic is named in some changes."""
    return Counter(topic for frame in frames for topic in frame.topics)


async def test_subscribing_twice_leaves_one_subscription(tcp: bool) -> None:
    """SB-3: the pair (user, topic) is a set's member, at every hop: one event each, and one unsubscribe ends it."""
    async with Cluster(sites=1, tcp=tcp) as c, c.user("ann") as ann, c.user("eve") as eve:
        await ann.follow("dan", "dan")
        await ann.follow("dan")
        assert c.of("accesspoint")[0].core.hub.subscriptions == 1
        assert named(c.frames(Subscribe, "sto/ap1")) == named(c.frames(Subscribe, "sto/a1")) == {user_topic("dan"): 1}
        await c.play("dan")
        await ann.heard(1)
        await ann.fence()
        assert len(ann.events) == 1
        await ann.ask("unsubscribe", topics=[feed("dan")])
        await eve.follow("dan")
        await c.play("dan")
        await eve.heard(1)
        await ann.fence()
        assert len(ann.events) == 1


async def test_a_disconnect_withdraws_what_that_connection_wanted_and_nothing_else(tcp: bool) -> None:
    """SB-10: also what another connection of the same user wants stays."""
    async with Cluster(sites=1, tcp=tcp) as c, c.user("bob") as bob, c.user("ann") as phone:
        await bob.follow("dan", "eve")
        await phone.follow("fay")
        async with c.user("ann") as desktop:
            await desktop.follow("dan", "fay", "gil", "hal")
        await c.until(lambda: len(c.of("accesspoint")[0].core.sessions) == 2)
        await c.settle()
        gone = {user_topic("gil"): 1, user_topic("hal"): 1}
        assert named(c.frames(Unsubscribe, "sto/ap1")) == named(c.frames(Unsubscribe, "sto/a1")) == gone
        for user in ("dan", "eve", "fay", "gil"):
            await c.play(user)
        assert [event["topic"] for event in await bob.heard(2)] == [feed("dan"), feed("eve")]
        assert [event["topic"] for event in await phone.heard(1)] == [feed("fay")]
        assert c.of("broker")[0].core.unmatched == 1


def with_notification(options: RoleOptions) -> RoleOptions:
    if isinstance(options, AccessPointOptions):
        return msgspec.structs.replace(options, services=options.services | {"notification": ["sto/n1"]})
    return options


async def test_a_client_that_connects_causes_one_bulk_subscribe_and_one_pull(tcp: bool) -> None:
    """SB-11: its sixty topics go up in one frame, after its own inbox; the notification service is asked once, and its answer
    passed on."""

    def answer(call: Call) -> bytes:
        return b'{"op":"notifications","id":null,"items":[],"next":0,"more":false,"unread":0}'

    friends = [f"f{n}" for n in range(60)]
    async with Cluster(sites=1, tcp=tcp, change=with_notification) as c, Peer(c, "notification", "sto/n1", answer) as service:
        await c.until(lambda: c.of("accesspoint")[0].core.calls.has("notification"))
        before = len(c.frames(Subscribe, "sto/ap1"))
        async with c.user("ann", client="laptop") as ann:
            await ann.follow(*friends)
            assert (await ann.answer(lambda m: m["op"] == "notifications"))["items"] == []
            bulks = c.frames(Subscribe, "sto/ap1")[before:]
            assert [sorted(bulk.topics) for bulk in bulks] == [[inbox_topic("ann")], sorted(map(user_topic, friends))]
            assert pulls(service.of(Call)) == [("ann", "laptop", "pull")]


def pulls(calls: Sequence[AnyFrame]) -> list[tuple[str, str, str]]:
    return [(call.user, call.client, call.op) for call in calls if isinstance(call, Call)]


@pytest.mark.parametrize(
    ("follower", "source", "target", "counter"),
    [
        ("sto", "sto/ap1", "sto/a1", "accesspoint_events_stale_total"),
        ("sto", "sto/a1", "sto/b1", "aggregator_events_stale_total"),
        ("lon", "lon/b1", "sto/b1", "broker_site_events_stale_total"),
    ],
)
async def test_what_still_comes_for_a_topic_that_nobody_wants_any_more_is_counted_where_it_ends(
    follower: str, source: str, target: str, counter: str
) -> None:
    async with Cluster(sites=2, change=unrecorded) as c, c.user("ann", follower) as ann:
        await ann.follow("dan")
        c.plan.hold(source, target)
        await ann.ask("unsubscribe", topics=[feed("dan")])
        await c.play("dan", site="sto", broker=0)
        await c.until(lambda: c.roles[source].counters()[counter] == 1)
        c.plan.release(source, target)
        assert sum(role.counters().get(counter, 0) for role in c.roles.values()) == 1


async def test_many_followers_of_a_topic_are_one_subscription_of_their_aggregator(tcp: bool) -> None:
    """SB-14: n subscribers at an aggregator, one subscribe to the broker, and only to the topic's owner."""
    async with Cluster(sites=1, brokers=3, accesspoints=2, tcp=tcp) as c:
        users = [c.user(f"u{n}", "sto", n % 2) for n in range(6)]
        for user in users:
            await user.__aenter__()
            await user.follow("dan")
        assert named(c.frames(Subscribe, "sto/ap")) == {user_topic("dan"): 2}
        assert named(c.frames(Subscribe, "sto/a1")) == {user_topic("dan"): 1}
        assert named(c.frames(Subscribe, "sto/a1", c.owner("dan"))) == {user_topic("dan"): 1}
        for user in users:
            await user.__aexit__()


async def test_the_broker_hears_of_leaving_when_and_only_when_the_last_follower_leaves(tcp: bool) -> None:
    """SB-15: by unsubscribing, by closing and by dying, over two access points."""
    async with Cluster(sites=1, brokers=2, accesspoints=2, tcp=tcp) as c:
        users = [c.user(f"u{n}", "sto", n % 2) for n in range(5)]
        for user in users:
            await user.__aenter__()
            await user.follow("dan")
        ways = itertools.cycle(("unsubscribe", "close", "kill"))
        for left, (user, way) in enumerate(zip(users, ways, strict=False), 1):
            if way == "unsubscribe":
                await user.ask("unsubscribe", topics=[feed("dan")])
            elif way == "close":
                await user.__aexit__()
            else:
                user.kill()
            await c.until(lambda left=left: followers(c, "dan") == len(users) - left)  # type: ignore[misc]
            await c.settle()
            assert named(c.frames(Unsubscribe, "sto/a1")) == ({user_topic("dan"): 1} if left == len(users) else {})
        for user in users:
            await user.__aexit__()


def followers(c: Cluster, user: str) -> int:
    return sum(len(point.core.hub.topics.get(user_topic(user), ())) for point in c.of("accesspoint"))


async def test_a_subscription_appears_at_the_counterparts_of_its_broker_and_nowhere_else(tcp: bool) -> None:
    """SB-23: registered at broker i of one site, it is known to broker i of every other site, and to no other broker."""
    topics = [user_topic(f"t{n}") for n in range(40)]
    async with Cluster(sites=3, brokers=3, tcp=tcp, change=unrecorded) as c, c.user("ann", "sto") as ann, c.user("bob", "lon") as bob:
        await ann.follow(*(f"t{n}" for n in range(30)))
        await bob.follow(*(f"t{n}" for n in range(20, 40)))
        brokers = {f"{each.site}/{each.node}": each for each in c.of("broker")}
        for name, broker in brokers.items():
            assert wanted(broker.core.interest) == {topic for topic in topics if broker.ring.owner(topic) == broker.node}, name
        assert len({broker.ring.owner(topic) for topic in topics}) == 3
        await bob.ask("unsubscribe", topics=[feed(f"t{n}") for n in range(20, 40)])
        await c.settle()
        for broker in brokers.values():
            assert wanted(broker.core.interest) == {topic for topic in topics[:30] if broker.ring.owner(topic) == broker.node}


def wanted(interest: Interest) -> set[Topic]:
    return {topic for _, topic in interest.wanted(-1)}
