"""Events find their way through a whole cluster, on both links."""

import pytest

from tests.support.cluster import Cluster


@pytest.fixture(params=[False, True], ids=["memory", "tcp"])
def tcp(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


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
