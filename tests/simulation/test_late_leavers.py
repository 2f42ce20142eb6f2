"""A broker that leaves while nobody else is in the view, and takes too long for that."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from .births import hashed_by_birth
from .world import SimulatedWorld

LISTS = [f"hm://playlist/user/ann/playlist/p{n}/" for n in range(8)]
# Half of it is over before who comes may be in the view, for which it waits for 2.5 s.
DRAIN_S = 4.0


class LeftSite:
    """A site of two brokers with copies, of which b2 is alone in the view, and a client there that follows playlists."""

    def __init__(self, seed: int) -> None:
        self.world = SimulatedWorld(seed, brokers=2, aggregators=2, accesspoints=1, copies=1)
        for name, options in self.world.options.items():
            if name.startswith("sto/b"):
                self.world.options[name] = msgspec.structs.replace(options, drain_s=DRAIN_S)  # type: ignore[type-var]
        self.heard: list[dict[str, Any]] = []

    async def begin(self) -> None:
        for name in self.world.options:
            await self.world.start(name)
        await self.until(lambda: not self.world.unsettled())
        self.left = self.world.roles["sto/b2"]
        client = await self.world.connect("ann", self.world.of("accesspoint", "sto")[0], self.heard.append)
        client.say({"op": "subscribe", "id": 1, "topics": LISTS, "recover": True})
        await self.until(lambda: any(each["op"] == "subscribed" for each in self.heard))
        self.world.kill("sto/b1")
        # So young a broker accepts nothing alone for a second more: others might be about to take its place.
        await self.until(lambda: self.left.view().slots == ("b2",) and self.left.ready() is None)

    async def until(self, condition: Callable[[], bool]) -> None:
        for _ in range(60_000):
            if condition():
                return
            await asyncio.sleep(0.001)
        raise AssertionError("it did not come")

    async def come(self) -> None:
        """Starts b1, and waits until it and b2 are linked."""
        await self.world.start("sto/b1")
        come = self.world.roles["sto/b1"].mesh.client.links
        await self.until(lambda: "b1" in self.left.mesh.client.links and "b2" in come)

    async def publish(self) -> None:
        events = [{"topic": topic, "kind": "changed", "id": f"e{n}", "payload": {"n": n}} for n, topic in enumerate(LISTS)]
        status, answer = await self.world.publish(self.left, events)
        assert (status, answer["accepted"]) == (202, len(LISTS))
        await self.until(lambda: len(self.numbers()) == len(LISTS))

    def numbers(self) -> list[int]:
        return [each["payload"]["n"] for each in self.heard if each["op"] == "event"]

    async def heartbeat(self) -> None:
        """Waits until the access point has heard again up to where everything has come."""
        own = self.world.of("accesspoint", "sto")[0].core.recoveries.own
        known = dict(own.stamps)
        await self.until(lambda: own.stamps != known)

    def lose_aggregator(self) -> None:
        feeding = next(each for each in self.world.of("aggregator", "sto") if len(each.points))
        self.world.kill(f"sto/{feeding.node}")


@pytest.mark.parametrize("seed", [1, 2, 4])
def test_what_one_has_brought_that_leaves_too_late_does_not_come_again_by_the_next_aggregator(seed: int) -> None:
    """DPS-11, DPS-13: it looked like one that is dead, so aggregators forgot up to where it had given everything."""
    site = LeftSite(seed)

    async def live() -> None:
        await site.begin()
        await site.publish()
        site.heard.clear()  # where there is another site, the death of b1 may have cost something of it
        await site.come()
        leaving = asyncio.create_task(site.world.leave("sto/b2"))
        # What moves waits for the other site, and aggregators hear from the new owner first that it owns everything.
        site.world.internet.cut("lon", "sto")
        await site.until(lambda: site.left.view().slots == ("b1",))
        for name in ("sto/a1", "sto/a2"):
            site.world.internet.cut("sto/b2", name)
        await site.heartbeat()
        site.lose_aggregator()
        await asyncio.sleep(0.1)
        site.world.internet.heal()
        await leaving
        await site.until(lambda: not site.world.unsettled())
        assert site.numbers() == []
        assert not [each for each in site.heard if each["op"] == "gap"]

    try:
        with hashed_by_birth():
            site.world.loop.run_until_complete(live())
    finally:
        site.world.close()
