"""A site of real processes under a capacity limit, with a decision service that is one of them."""

import asyncio
from pathlib import Path

import aiohttp
import pytest

from analytics.offloading.plan import PlanOptions
from infra.runtime.tokens import ensure_secret, read_secret
from segue.cluster.fleet import Child, Fleet
from segue.cluster.shape import Shape
from segue.cluster.tokens import service_token, user_token
from tests.support.user import User, feed

DEADLINE_S = 90.0
# One second, so that nobody waits long, and no room for anything: whatever has events leaves real time, and nothing else does.
PLAN = PlanOptions(capacity=0, threshold=1, period_s=1.0, survey_s=0.9, weight=1.0, overlap_ms=0)


@pytest.mark.e2e
@pytest.mark.slow
async def test_a_service_of_its_own_decides_by_the_clock_and_clients_are_told(tmp_path: Path) -> None:
    """WA-29 on real processes: on schedule, from what brokers and access points tell, within the capacity."""
    secret = read_secret(ensure_secret(tmp_path))
    async with (
        asyncio.timeout(DEADLINE_S),
        Fleet(list(Shape(decision=PLAN, presence=0).options()), tmp_path / "secret.key", tmp_path) as fleet,
    ):
        (point,), (broker,), (decision,) = (fleet.of(role) for role in ("accesspoint", "broker", "decision"))
        async with User(point.door, user_token(secret, "ann")) as ann, aiohttp.ClientSession() as http:
            while (await ann.follow("loud", "quiet", wait="local"))["installed"] != "local":
                pass
            publishing = asyncio.create_task(publish(http, broker, secret))
            try:
                told = await ann.answer(lambda message: message["op"] == "offloaded")
                assert told["left"] == [feed("loud")]
            finally:
                publishing.cancel()
                await asyncio.gather(publishing, return_exceptions=True)
            async with http.get(f"{decision.admin}/v1/stats") as answer:
                (role,) = (await answer.json())["roles"]
            assert role["counters"]["decision_rounds_total"] > 0
            assert role["counters"]["decision_failures_total"] == 0


async def publish(http: aiohttp.ClientSession, broker: Child, secret: bytes) -> None:
    """Publishes at `broker` one event of one user after the other, and none of anybody else."""
    headers = {"Authorization": f"Bearer {service_token(secret, 'presence')}"}
    event = {"topic": feed("loud"), "kind": "play", "payload": {}}
    while True:
        async with http.post(f"http://{broker.door}/v1/events", json=event, headers=headers) as answer:
            assert answer.status in (202, 503), await answer.text()
        await asyncio.sleep(0.05)  # the load: at most 20 events a second of one user, which is what makes the topic loud
