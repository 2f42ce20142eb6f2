"""`subscribed` is an honest word (design 4.1): what it says about sites was true when it was said."""

import asyncio
import random
from typing import Any

from tests.support.cluster import Cluster, impatient
from tests.support.user import feed


async def test_installed_at_all_sites_means_that_an_event_from_any_of_them_arrives_at_once(tcp: bool) -> None:
    """The answer "all" is followed by a publication, at any site and broker, that is delivered."""
    rng = random.Random(41)
    async with Cluster(sites=3, brokers=2, tcp=tcp) as c, c.user("ann", "lon") as ann:
        for n in range(30):
            answer = await ann.follow(f"t{n}", wait="all")
            assert (answer["installed"], answer["missing_sites"]) == ("all", [])
            await c.play(f"t{n}", site=rng.choice(("sto", "lon", "ash")), broker=rng.randrange(2))
            await ann.heard(n + 1)


async def test_installed_locally_means_that_an_event_of_the_own_site_arrives_at_once(tcp: bool) -> None:
    """The answer "local" is given by the owner at the own site, whichever broker that is."""
    async with Cluster(sites=2, brokers=3, tcp=tcp) as c, c.user("ann", "lon") as ann:
        for n in range(30):
            assert (await ann.follow(f"t{n}", wait="local"))["installed"] == "local"
            await c.play(f"t{n}", site="lon", broker=n % 3)
            await ann.heard(n + 1)


async def test_nothing_is_said_before_the_owner_and_its_counterparts_hold_it(tcp: bool) -> None:
    """ "local" waits for the broker, "all" for the other site: each answer comes when the frame that it waits for is let go."""
    async with Cluster(sites=2, tcp=tcp) as c, c.user("ann") as ann, c.user("bob") as bob:
        c.plan.hold("sto/b1", "lon/b1")
        everywhere = asyncio.create_task(ann.follow("dan", wait="all"))
        assert (await bob.follow("dan", wait="local"))["installed"] == "local"
        await ann.fence()
        assert not everywhere.done()
        c.plan.release("sto/b1", "lon/b1")
        assert (await everywhere)["installed"] == "all"
        c.plan.hold("sto/a1", "sto/b1")
        here = asyncio.create_task(ann.follow("eve", wait="local"))
        await c.until(lambda: len(c.plan.held["sto/a1", "sto/b1"]) > 0)
        await ann.fence()
        assert not here.done()
        c.plan.release("sto/a1", "sto/b1")
        assert (await here)["installed"] == "local"


async def test_a_site_that_is_cut_off_is_missing_whether_the_topic_is_new_or_not(tcp: bool) -> None:
    """ "partial" after `install_s`, also for a topic that was installed everywhere before the cut; "all" after healing."""
    async with Cluster(sites=3, brokers=2, tcp=tcp, change=impatient) as c, c.user("ann") as ann, c.user("bob") as bob:
        await ann.has_installed("old")
        c.partition("sto", "lon")
        await unlinked(c, "sto", "lon")
        for topic in ("new", "old"):
            assert said(await bob.follow(topic)) == ("partial", ["lon"]), topic
        await bob.has_installed("old", wait="local")
        c.heal()
        await c.settle()
        async with c.user("cyd") as cyd:
            await cyd.has_installed("old", "new")
            for topic in ("old", "new"):
                await c.play(topic, site="lon")
            for user in (bob, cyd):
                assert [event["topic"] for event in await user.heard(2)] == [feed("old"), feed("new")]


def said(answer: dict[str, Any]) -> tuple[str, list[str]]:
    return answer["installed"], answer["missing_sites"]


async def unlinked(c: Cluster, one: str, other: str) -> None:
    """Waits until both sides have noticed that they cannot reach each other."""

    def linked(here: str, there: str) -> bool:
        return any(link.peer.site == there for each in c.of("broker", here) for link in each.links.links)

    await c.until(lambda: not linked(one, other) and not linked(other, one))


async def test_a_site_that_was_never_met_is_missing_too(tcp: bool) -> None:
    """Whoever starts while a site is cut off knows of it from the configuration: silence about it would be a lie."""
    async with Cluster(sites=2, tcp=tcp, change=impatient) as c:
        c.partition("sto", "lon")
        for name in ("sto/ap1", "sto/a1", "sto/b1"):
            await c.crash(name)
        for name in ("sto/b1", "sto/a1", "sto/ap1"):
            await c.restart(name)
        await c.settle()
        async with c.user("ann") as ann:
            assert said(await ann.follow("dan")) == ("partial", ["lon"])
            c.heal()
            await c.settle()
            await ann.has_installed("dan")


async def test_without_an_aggregator_nothing_is_called_installed(tcp: bool) -> None:
    """Also what was installed before its loss: the own site is missing then."""
    async with Cluster(sites=1, tcp=tcp, change=impatient) as c, c.user("ann") as ann, c.user("bob") as bob:
        await ann.has_installed("dan")
        await c.crash("sto/a1")
        await c.until(lambda: c.of("accesspoint")[0].ready() is not None)
        assert said(await bob.follow("dan", wait="local")) == ("partial", ["sto"])
        await c.restart("sto/a1")
        await c.settle()
        await bob.has_installed("dan", wait="local")
        await c.play("dan")
        for user in (ann, bob):
            await user.heard(1)


async def test_without_the_owner_nothing_of_its_site_is_called_installed(tcp: bool) -> None:
    """Also what was installed at the owner before its loss."""
    async with Cluster(sites=2, tcp=tcp, change=impatient) as c, c.user("ann") as ann, c.user("bob") as bob:
        await ann.has_installed("dan")
        await c.crash("sto/b1")
        await c.until(lambda: not c.of("accesspoint", "sto")[0].core.announcer.reached["sto"])
        assert said(await bob.follow("dan", wait="local")) == ("partial", ["lon", "sto"])
        await c.restart("sto/b1")
        await c.settle()
        await bob.has_installed("dan")
        await c.play("dan", site="lon")
        for user in (ann, bob):
            await user.heard(1)
