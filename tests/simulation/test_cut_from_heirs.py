"""An owner and its heir that do not reach each other, though everybody else reaches both."""

import asyncio
from itertools import permutations
from typing import Any

import pytest

from infra.kernel.topics import parse_topic

from .births import hashed_by_birth
from .world import SimulatedWorld

LISTS = [f"hm://playlist/user/ann/playlist/p{n}/" for n in range(40)]
BROKERS = ("b1", "b2", "b3")
# With the times of the defaults, in virtual seconds.
STOPS_AT_MOST_S = 3.0


class CutSite:
    """A site of three brokers with copies, and a client that follows one playlist, of which `one` is the owner and `other` the heir."""

    def __init__(self, seed: int, one: str, other: str) -> None:
        self.world = SimulatedWorld(seed, sites=1, brokers=3, aggregators=1, accesspoints=1, copies=1)
        self.one, self.other = one, other
        self.topic = ""
        self.heard: list[dict[str, Any]] = []

    async def begin(self) -> None:
        for name in self.world.options:
            await self.world.start(name)
        await self.whole()
        ring = self.world.roles["sto/b1"].ring
        self.topic = next(each for each in LISTS if (ring.owner(parse_topic(each)), ring.heir(parse_topic(each))) == (self.one, self.other))
        client = await self.world.connect("ann", self.world.of("accesspoint")[0], self.heard.append)
        client.say({"op": "subscribe", "id": 1, "topics": [self.topic], "recover": True})
        await self.until(lambda: any(each["op"] == "subscribed" for each in self.heard))

    async def until(self, condition: Any) -> None:
        for _ in range(6000):
            if condition():
                return
            await asyncio.sleep(0.01)
        raise AssertionError("it did not come")

    async def whole(self) -> None:
        """Waits until every heir has everything."""
        brokers = self.world.of
        await self.until(lambda: not self.world.unsettled() and not any(broker.heirs.uncopied for broker in brokers("broker")))

    def cut(self) -> None:
        for source, target in ((self.one, self.other), (self.other, self.one)):
            self.world.internet.cut(f"sto/{source}", f"sto/{target}")

    async def accepted(self, n: int, door: str) -> None:
        """Publishes an event at a broker, and repeats that at the next one until it is accepted, as services do."""
        event = {"topic": self.topic, "kind": "changed", "id": f"e{n}", "payload": {"n": n}}
        doors = [door, *(each for each in BROKERS if each != door)]
        while True:
            for each in doors:
                status, answer = await self.world.publish(self.world.roles[f"sto/{each}"], [event])
                if status == 202 and answer["accepted"] == 1:
                    return
            await asyncio.sleep(0.01)

    def numbers(self) -> list[int]:
        return [each["payload"]["n"] for each in self.heard if each["op"] == "event"]


@pytest.mark.parametrize(("one", "other"), list(permutations(BROKERS, 2)))
def test_an_owner_that_alone_does_not_reach_its_heir_holds_its_topics_for_three_seconds_at_most(one: str, other: str) -> None:
    """DPS-18: nobody gets what no heir has. Where neither issues views, topics were held until the link was back."""
    for seed in (1, 2):
        site = CutSite(seed, one, other)

        async def live(site: CutSite = site) -> None:
            await site.begin()
            await site.accepted(0, one)
            site.cut()
            cut_s = site.world.loop.now_s
            async with asyncio.timeout(2 * STOPS_AT_MOST_S):
                await asyncio.gather(*(site.accepted(n, door) for n, door in enumerate(BROKERS, 1)))
            assert site.world.loop.now_s - cut_s <= STOPS_AT_MOST_S
            views = {broker.view() for broker in site.world.of("broker")}
            await asyncio.sleep(30)
            assert {broker.view() for broker in site.world.of("broker")} == views, "nobody is outbid"
            assert [view.slots for view in views] == [tuple(slot for slot in BROKERS if slot != max(one, other))]
            site.world.internet.heal()
            await site.whole()
            assert all(broker.view().slots == BROKERS for broker in site.world.of("broker"))
            await site.accepted(4, one)
            await site.until(lambda: 4 in site.numbers())
            assert sorted(site.numbers()) == [0, 1, 2, 3, 4]

        try:
            with hashed_by_birth():
                site.world.loop.run_until_complete(live())
        finally:
            site.world.close()
