"""Two sites of real processes on real TCP, seen by programs that share no code with Segue: `websockets` and plain HTTP."""

import asyncio
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from infra.runtime.tokens import ensure_secret, read_secret
from segue.fleet import Child, Fleet
from segue.shape import SITES, Shape
from segue.state import service_token, user_token
from tests.support.user import User, feed

# In what time is tested where time is counted in heartbeats (tests/cluster/test_failover.py); here the machine may be busy.
DEADLINE_S = 60.0
TRY_S = 0.2
# Enough topics that each of two brokers owns some of them.
FRIENDS = tuple(f"friend-{n}" for n in range(8))


def followers_of_all(fleet: Fleet, secret: bytes) -> list[User]:
    return [User(fleet.of("accesspoint", site)[0].door, user_token(secret, f"listener-{site}")) for site in SITES[:2]]


@pytest.mark.e2e
async def test_sites_of_real_processes_deliver_survive_a_kill_and_drain(tmp_path: Path) -> None:
    """SB-18, SB-26: what is published over HTTP and what a client does reach followers at both sites. Design 6: the topics of
    a broker that is killed are served again; an access point that stops says going-away to its clients (4.1)."""
    secret = read_secret(ensure_secret(tmp_path))
    options = list(Shape(sites=SITES[:2], brokers=2).options())
    async with Fleet(options, tmp_path / "secret.key", tmp_path) as fleet, aiohttp.ClientSession() as http:
        await all_ready(http, fleet)
        sto, lon = followers_of_all(fleet, secret)
        async with sto, lon:
            for user in (sto, lon):
                assert (await user.follow(*FRIENDS))["installed"] == "all"
            await check_delivery(http, fleet, secret, (sto, lon))
            await check_kill(http, fleet, secret, (sto, lon))
            await check_drain(fleet, lon)


async def check_delivery(http: aiohttp.ClientSession, fleet: Fleet, secret: bytes, users: tuple[User, User]) -> None:
    async with asyncio.timeout(DEADLINE_S):
        for number, friend in enumerate(FRIENDS):
            while not await publish(http, fleet.of("broker")[number % 4], secret, friend, number):
                pass  # brokers that have just started may not have found each other; the id makes trying again safe
    async with User(fleet.of("accesspoint", "lon")[0].door, user_token(secret, FRIENDS[0])) as friend_itself:
        async with asyncio.timeout(DEADLINE_S):
            while (await friend_itself.ask("act", kind="play", number=99))["op"] != "ok":
                pass  # an access point that started before presence looks for it again within two seconds
    for user in users:
        events = await user.heard(len(FRIENDS) + 1)
        assert sorted(event["payload"]["number"] for event in events) == [*range(len(FRIENDS)), 99]


async def check_kill(http: aiohttp.ClientSession, fleet: Fleet, secret: bytes, users: tuple[User, User]) -> None:
    """The broker that is killed is the lowest slot, the one that issued the views."""
    victim, survivor = fleet.of("broker", "sto")
    victim.process.kill()
    killed_s = time.monotonic()
    number = 1_000
    while silent := [friend for friend in FRIENDS if not all(has_heard_since_the_kill(user, friend) for user in users)]:
        assert time.monotonic() - killed_s < DEADLINE_S, f"{silent} are not served {DEADLINE_S} s after the kill"
        for friend in silent:
            number += 1
            await publish(http, survivor, secret, friend, number)
        with suppress(TimeoutError):
            async with asyncio.timeout(TRY_S):
                await asyncio.gather(*(until_heard(user, silent) for user in users))


async def check_drain(fleet: Fleet, user: User) -> None:
    (point,) = fleet.of("accesspoint", "lon")
    point.process.terminate()
    goodbye = await user.answer(lambda message: message["op"] == "error")
    assert (goodbye["code"], goodbye["reconnect_in_ms"] >= 0) == ("going-away", True)
    await user.until(lambda: user.closed is not None)
    assert user.closed is not None
    assert user.closed[0] == 4000
    async with asyncio.timeout(DEADLINE_S):
        assert await point.process.wait() == 0


async def until_heard(user: User, friends: list[str]) -> None:
    await user.until(lambda: all(has_heard_since_the_kill(user, friend) for friend in friends))


def has_heard_since_the_kill(user: User, friend: str) -> bool:
    return any(event["topic"] == feed(friend) and event["payload"]["number"] > 1_000 for event in user.events)


async def publish(http: aiohttp.ClientSession, broker: Child, secret: bytes, friend: str, number: int) -> bool:
    """Whether the event was accepted."""
    event = {"topic": feed(friend), "kind": "play", "payload": {"number": number}, "id": f"event-{number}"}
    headers = {"Authorization": f"Bearer {service_token(secret, 'presence')}"}
    async with http.post(f"http://{broker.door}/v1/events", json=event, headers=headers) as answer:
        document: dict[str, Any] = await answer.json()
        return answer.status == 202 and not document["rejected"]


async def all_ready(http: aiohttp.ClientSession, fleet: Fleet) -> None:
    async def until_ready(child: Child) -> None:
        while True:
            async with http.get(f"{child.admin}/readyz") as answer:
                if answer.status == 200:
                    return

    async with asyncio.timeout(DEADLINE_S):
        await asyncio.gather(*(until_ready(child) for child in fleet.children))
