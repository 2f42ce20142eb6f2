"""Brokers that leave and come back while services publish: nobody misses an event, nobody gets one twice."""

import asyncio
from collections import Counter, defaultdict

import pytest

from tests.support.cluster import Cluster
from tests.support.user import User

USERS = [f"u{n}" for n in range(8)]


class Publisher:
    """Publishes on all feeds, round after round, through one broker of each site, until it is stopped."""

    def __init__(self, c: Cluster, brokers: dict[str, int]) -> None:
        self.accepted: Counter[tuple[str, str]] = Counter()
        self._c, self._brokers, self._stop = c, brokers, False

    async def run(self) -> None:
        while not self._stop:
            for site, broker in self._brokers.items():
                batch = [
                    {"topic": f"hm://presence/user/{user}/", "kind": "play", "payload": {"n": self.accepted[user, site]}} for user in USERS
                ]
                status, answer = await self._c.post(batch, site=site, broker=broker)
                assert (status, answer["rejected"]) == (202, []), answer
                self.accepted.update((user, site) for user in USERS)

    async def rounds(self, number: int) -> None:
        """Wait until so many more rounds are through."""
        goal = self.accepted.total() + number * len(USERS) * len(self._brokers)
        await self._c.until(lambda: self.accepted.total() >= goal or self.task.done())

    async def __aenter__(self) -> "Publisher":
        self.task = asyncio.create_task(self.run())
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._stop = True
        await self.task


@pytest.mark.parametrize("leaving", ["sto/b1", "sto/b3"])
async def test_a_broker_that_leaves_and_comes_back_costs_no_event(tcp: bool, leaving: str) -> None:
    """Leaving -> the others take over -> it is closed -> it starts again: every accepted event reaches every follower
    at both sites once, in order per topic and site, and crosses the site link once (SB-24). The lowest slot issues views, so it
    is tried too."""
    async with Cluster(sites=2, brokers=3, aggregators=2, accesspoints=2, tcp=tcp) as c:
        async with c.user("ann", "sto") as ann, c.user("bob", "sto", 1) as bob, c.user("cyd", "lon") as cyd:
            for user in (ann, bob, cyd):
                await user.follow(*USERS)
            async with Publisher(c, {"sto": 1, "lon": 1}) as publisher:
                await publisher.rounds(3)
                await c.leave(leaving)
                await publisher.rounds(3)
                await c.restart(leaving)
                await c.settle()
                await publisher.rounds(3)
            for user in (ann, bob, cyd):
                await user.heard(publisher.accepted.total())
                await user.fence()
                assert in_order(user) == {key: list(range(count)) for key, count in publisher.accepted.items()}
            for here, there in (("sto", "lon"), ("lon", "sto")):
                assert c.copies(f"{here}/", f"{there}/") == sum(n for (_, site), n in publisher.accepted.items() if site == here)


async def test_the_last_broker_of_a_site_waits_for_no_successor() -> None:
    """All of them leave, one after the other: each hands over to those that stay, the last one goes at once."""
    async with Cluster(sites=1, brokers=3) as c, c.user("ann") as ann:
        await ann.follow(*USERS)
        for name in ("sto/b1", "sto/b3"):
            await c.leave(name)
            for user in USERS:
                await c.play(user)
        await ann.heard(2 * len(USERS))
        async with asyncio.timeout(c.of("broker")[0].broker.options.drain_s / 2):
            await c.leave("sto/b2")


async def test_a_broker_that_leaves_takes_nothing_new_and_passes_on_what_still_comes(tcp: bool) -> None:
    """Its door answers 503 `draining`; the other broker, which has not heard of it yet, has its event accepted."""
    async with Cluster(sites=1, brokers=2, tcp=tcp) as c, c.user("ann") as ann:
        user = next(user for user in USERS if c.owner(user) == "sto/b2")
        await ann.follow(user)
        event = {"topic": f"hm://presence/user/{user}/", "kind": "play", "payload": {}}
        for source in ("sto/b2", "sto/a1", "sto/p1"):
            c.plan.hold(source, "sto/b1")
        leaving = asyncio.create_task(c.roles["sto/b2"].drain())
        await c.until(lambda: c.roles["sto/b2"].broker.mesh.draining)
        status, answer = await c.post(event, broker=1)
        assert (status, answer["code"]) == (503, "draining")
        asked = asyncio.create_task(c.post(event, broker=0))
        await ann.heard(1)
        for source in ("sto/b2", "sto/a1", "sto/p1"):
            c.plan.release(source, "sto/b1")
        assert (await asked)[0] == 202
        await leaving
        await c.leave("sto/b2")
        assert (await c.post(event, broker=0))[0] == 202
        await ann.heard(2)


def in_order(user: User) -> dict[tuple[str, str], list[int]]:
    """What came of each feed from each site, in the order in which it came."""
    found: dict[tuple[str, str], list[int]] = defaultdict(list)
    for event in user.events:
        found[event["topic"].split("/")[-2], event["site"]].append(event["payload"]["n"])
    return dict(found)
