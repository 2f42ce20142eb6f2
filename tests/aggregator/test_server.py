"""The aggregator as a process: whom it admits, and how it leaves."""

import pytest
from structlog.testing import capture_logs

from infra.kernel.errors import Refused
from infra.kernel.frames import Hello, View
from infra.kernel.roles import ACCESSPOINT, BROKER
from tests.support.cluster import Cluster


def hello(role: str = ACCESSPOINT, site: str = "sto") -> Hello:
    """Returns the greeting of a node of `role` at `site`."""
    return Hello(role, "x1", site, 1, 0, View(0, ()))


async def test_it_admits_access_points_of_its_site_and_nobody_else() -> None:
    async with Cluster(sites=2) as c:
        aggregator = c.roles["sto/a1"]
        aggregator.admit(hello())
        for stranger in (hello(role=BROKER), hello(site="lon")):
            with pytest.raises(Refused, match="wrong-peer"):
                aggregator.admit(stranger)


async def test_one_that_nobody_is_linked_to_leaves_at_once_and_admits_nobody_any_more() -> None:
    async with Cluster(sites=1, aggregators=2) as c:
        idle = next(role for role in c.of("aggregator") if not role.points.staying and not len(role.points))
        await idle.drain()
        assert idle.ready() == "draining"
        with pytest.raises(Refused) as refused:
            idle.admit(hello())
        assert refused.value.code.name == "draining"


@pytest.mark.parametrize("follows", [True, False])
async def test_one_that_is_the_last_says_whose_events_are_lost(follows: bool) -> None:
    """Where nobody follows anything any more, such as when a whole site is stopped in order, nothing is lost."""
    async with Cluster(sites=1, aggregators=1) as c, c.user("ann") as ann:
        (last,) = c.of("aggregator")
        await ann.follow("bob")
        if not follows:
            await c.roles["sto/ap1"].drain()
        with capture_logs() as lines:
            await last.drain()
        assert [line["points"] for line in lines if line["event"].startswith("no other aggregator")] == ([1] if follows else [])
