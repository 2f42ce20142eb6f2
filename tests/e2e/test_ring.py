"""Brokers and aggregators of real processes are stopped and started under load, as operators do it: nobody notices (DPS-16)."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Mapping
from itertools import count
from pathlib import Path

import aiohttp
import pytest

from infra.runtime.tokens import ensure_secret, read_secret
from segue.cluster.fleet import Child, Fleet
from segue.cluster.shape import Shape
from segue.cluster.tokens import service_token, user_token
from segue.sdk.operator import Operator
from tests.support.eventually import eventually
from tests.support.user import User, feed

FRIENDS = tuple(f"friend-{n}" for n in range(8))
PUBLISHED_EVERY_S = 0.005
DEADLINE_S = 60.0


class ProcessLoad:
    """A service that publishes all the time at brokers that are open. What is refused, or not answered, is repeated with its id."""

    def __init__(self, http: aiohttp.ClientSession, fleet: Fleet, secret: bytes) -> None:
        self.accepted: Counter[str] = Counter()
        self.closed: set[str] = set()
        self._http, self._fleet, self._secret = http, fleet, secret

    async def run(self) -> None:
        for turn in count():
            friend = FRIENDS[turn % len(FRIENDS)]
            event = {"topic": feed(friend), "kind": "play", "payload": {"n": self.accepted[friend]}, "id": f"event-{turn}"}
            while not await self._publish(event, turn):
                turn += 1
            self.accepted[friend] += 1
            await asyncio.sleep(PUBLISHED_EVERY_S)

    async def _publish(self, event: Mapping[str, object], turn: int) -> bool:
        doors = [child.door for child in self._fleet.of("broker") if child.node not in self.closed]
        headers = {"Authorization": f"Bearer {service_token(self._secret, 'presence')}"}
        async with self._http.post(f"http://{doors[turn % len(doors)]}/v1/events", json=event, headers=headers) as answer:
            return answer.status == 202 and not (await answer.json())["rejected"]


async def stopped(load: ProcessLoad, child: Child) -> None:
    """Stops a process by SIGTERM, and waits for its end. A load balancer would send services elsewhere."""
    load.closed.add(child.node)
    child.process.terminate()
    async with asyncio.timeout(DEADLINE_S):
        assert await child.process.wait() == 0


async def until_settled(fleet: Fleet, secret: bytes, *slots: str) -> None:
    """Waits until exactly these brokers have their full share, and all are done with that."""
    url = next(f"http://{child.door}" for child in fleet.of("broker") if child.node == slots[0])
    async with Operator(url, service_token(secret, "operator")) as operator:

        async def is_settled() -> bool:
            ring = await operator.ring()
            return ring.is_there and ring.share_of == dict.fromkeys(slots, 256)

        await eventually(is_settled, "the ring is not settled", deadline_s=DEADLINE_S, poll_s=0.1)


@pytest.mark.e2e
@pytest.mark.slow
async def test_from_three_brokers_to_five_and_back_and_a_rolling_restart_under_load_cost_no_event(tmp_path: Path) -> None:
    """DPS-16: 0 lost, 0 twice, in order, seen by a client that shares no code with Segue."""
    secret = read_secret(ensure_secret(tmp_path))
    options = list(Shape(brokers=5, aggregators=2, presence=0, policy="open").options())
    async with Fleet(options, tmp_path / "secret.key", tmp_path) as fleet, aiohttp.ClientSession() as http:
        await until_settled(fleet, secret, "b1", "b2", "b3", "b4", "b5")
        load = ProcessLoad(http, fleet, secret)
        for slot in ("b4", "b5"):
            await stopped(load, next(child for child in fleet.of("broker") if child.node == slot))
        (point,) = fleet.of("accesspoint")
        async with User(point.door, user_token(secret, "ann")) as ann:
            await ann.has_installed(*FRIENDS)
            publishing = asyncio.create_task(load.run())
            try:
                await change_everything(load, fleet, secret)
            finally:
                publishing.cancel()
            # The one that was under way may have been accepted or not; all that were answered must have come.
            await eventually(
                lambda: len(ann.events) >= load.accepted.total(), lambda: f"{len(ann.events)} of {load.accepted}", deadline_s=DEADLINE_S
            )
            found: dict[str, list[int]] = defaultdict(list)
            for event in ann.events:
                found[event["topic"].split("/")[-2]].append(event["payload"]["n"])
            for friend, numbers in found.items():
                assert numbers == list(range(len(numbers)))
                assert len(numbers) - load.accepted[friend] in (0, 1)


async def change_everything(load: ProcessLoad, fleet: Fleet, secret: bytes) -> None:
    """Takes the site from three brokers to five and back, and restarts each broker and aggregator of it, one after the other."""

    async def started(slot: str) -> None:
        await fleet.start_again(next(child for child in fleet.children if child.node == slot))
        load.closed.discard(slot)

    async def stop(slot: str) -> None:
        await stopped(load, next(child for child in fleet.children if child.node == slot))

    await asyncio.gather(started("b4"), started("b5"))
    await until_settled(fleet, secret, "b1", "b2", "b3", "b4", "b5")
    await asyncio.gather(stop("b4"), stop("b5"))
    await until_settled(fleet, secret, "b1", "b2", "b3")
    for slot, other in (("b1", "b2"), ("b3", "b1")):
        await stop(slot)
        await started(slot)
        await until_settled(fleet, secret, *sorted({"b1", "b2", "b3"}, key=lambda each, other=other: each != other))  # type: ignore[misc]
    for node in ("a1", "a2"):
        await stop(node)
        await started(node)
        await until_settled(fleet, secret, "b1", "b2", "b3")
