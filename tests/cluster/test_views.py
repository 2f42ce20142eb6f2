"""Events that reach a broker under another view than its own (design 6)."""

import asyncio

import msgspec

from infra.kernel.frames import Publish
from infra.kernel.membership import Timing
from infra.kernel.ring import Ring
from infra.kernel.topics import user_topic
from segue.process import RoleOptions
from tests.support.cluster import FAST, QUICK, Cluster
from tests.support.user import feed

SLOTS = ("b1", "b2", "b3")


def patient(options: RoleOptions) -> RoleOptions:
    """Silence is suspicious only after a long while: a view that is held back stays away for the whole test."""
    link = msgspec.structs.replace(FAST, silent_s=30.0)
    timing = Timing(suspect_s=QUICK.suspect_s, dead_s=30.0, grace_s=QUICK.grace_s)
    changes = {"link": link, "membership": timing}
    return msgspec.structs.replace(options, **{name: value for name, value in changes.items() if hasattr(options, name)})


def user_between(before: str, after: str) -> str:
    """A user whose feed belongs to `before` without b3 and to `after` with it."""
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
        b1, b2, b3 = (c.roles[f"sto/{slot}"].broker for slot in SLOTS)
        await c.until(lambda: b1.view().slots == b3.view().slots == SLOTS)
        await c.until(lambda: user_topic(user) in b3.core.interest.rows and "b3" in b1.mesh.client.links)
        assert b2.view().slots == SLOTS[:2]
        posted = asyncio.create_task(c.play(user, broker=1))
        await ann.heard(1)
        for other in others:
            c.plan.release(other, "sto/b2")
        await posted
        await c.settle()
        await ann.fence()
        assert len(ann.events) == 1
        assert [(each.source, each.target) for each in c.plan.log if isinstance(each.frame, Publish)] == [
            ("sto/b2", "sto/b1"),
            ("sto/b1", "sto/b3"),
        ]


async def test_an_event_between_brokers_whose_views_contradict_each_other_ends_and_is_not_called_accepted(tcp: bool) -> None:
    """Each names another as the owner: after two hops the event is given up, counted, and rejected as unavailable."""
    async with Cluster(sites=1, brokers=3, tcp=tcp) as c:
        for slot, believed in zip(SLOTS, ("b2", "b3", "b1"), strict=True):
            c.roles[f"sto/{slot}"].broker._router.ring = Ring((believed,))
        status, answer = await c.post([{"topic": feed("dan"), "kind": "play", "payload": {}}])
        assert (status, answer["accepted"]) == (202, 0)
        assert [(each["index"], each["code"]) for each in answer["rejected"]] == [(0, "unavailable")]
        assert len(c.frames(Publish)) == 2
        assert sum(each.broker.counters()["broker_events_misrouted_total"] for each in c.of("broker")) == 1
