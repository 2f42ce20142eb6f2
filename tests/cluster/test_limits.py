"""How many may subscribe to a node, and what becomes of one more."""

from collections import Counter
from contextlib import AsyncExitStack

import pytest

from infra.kernel import interest
from infra.kernel.frames import Heartbeat, Hello
from infra.kernel.interest import MAX_LINKS
from tests.support.cluster import Cluster
from tests.support.peer import Peer
from tests.support.user import feed


@pytest.mark.parametrize(("role", "target", "callee"), [("accesspoint", "sto/a1", "aggregator"), ("aggregator", "sto/b1", "broker")])
async def test_as_many_may_subscribe_as_a_mask_has_bits_and_one_more_is_refused_until_somebody_leaves(
    role: str, target: str, callee: str
) -> None:
    """Of the cluster one is there already. Who is refused has no link for a moment, so nothing is announced in vain."""
    async with AsyncExitStack() as stack:
        c = await stack.enter_async_context(Cluster(sites=1))
        node = c.roles[target].links
        others = [await stack.enter_async_context(Peer(c, role, f"sto/x{n}")) for n in range(MAX_LINKS - 1)]
        for other in others:
            await other.dial(target, callee)
        async with Peer(c, role, "sto/late") as late:
            late.node.dial(target, callee, "sto")
            await c.until(lambda: node.refused >= 3)  # it goes on trying
            assert (late.up, late.lost) == ({}, [])
            assert c.frames(Hello, target, "sto/late") == []
            await others[0].node.close()
            await c.until(lambda: target in late.up)
            await c.until(lambda: bool(c.frames(Heartbeat, target, "sto/late")))
            assert late.lost == []


async def test_an_access_point_for_which_an_aggregator_has_no_room_goes_to_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three at each; all that were at the aggregator that dies would go to the next one."""
    monkeypatch.setattr(interest, "MAX_LINKS", 3)
    async with Cluster(sites=1, aggregators=3, accesspoints=6) as c, AsyncExitStack() as stack:
        await c.crash("sto/a1")
        await c.settle()
        assert Counter(c.aggregator_of("sto", point) for point in range(6)) == {"sto/a2": 3, "sto/a3": 3}
        users = [await stack.enter_async_context(c.user(f"u{point}", point=point)) for point in range(6)]
        for user in users:
            await user.follow("dan")
        await c.play("dan")
        assert [[event["topic"] for event in await user.heard(1)] for user in users] == [[feed("dan")]] * 6
