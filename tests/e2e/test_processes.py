"""Two sites of real processes on real TCP, seen by programs that share no code with Segue: `websockets` and plain HTTP."""

import asyncio
import time
import zlib
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from accesspoint.options import AccessPointOptions
from infra.runtime.tokens import ensure_secret, read_secret
from segue.cluster.fleet import Child, Fleet
from segue.cluster.shape import SITES, Shape
from segue.cluster.tokens import service_token, user_token
from tests.support.user import User, feed

# In what time is tested where time is counted in heartbeats (tests/cluster/test_failover.py); here the machine may be busy.
DEADLINE_S = 60.0
TRY_S = 0.2
LOAD_S = 60.0
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
                await user.has_installed(*FRIENDS)
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
    """Kills the broker of the lowest slot of `fleet`, which issued the views, and checks what `users` get."""
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
    """Publishes event `number` of `friend` at `broker`; returns whether it was accepted."""
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


@pytest.mark.e2e
async def test_an_aggregator_that_is_stopped_under_load_costs_no_event(tmp_path: Path) -> None:
    """Services publish while SIGTERM ends one of two aggregators: every follower gets every accepted event once, in order, and no
    number is missing."""
    secret = read_secret(ensure_secret(tmp_path))
    options = list(Shape(brokers=2, aggregators=2, accesspoints=4).options())
    async with Fleet(options, tmp_path / "secret.key", tmp_path) as fleet, aiohttp.ClientSession() as http, AsyncExitStack() as stack:
        await all_ready(http, fleet)
        points = fleet.of("accesspoint")
        users = [await stack.enter_async_context(User(point.door, user_token(secret, point.node))) for point in points]
        for user in users:
            await user.has_installed(*FRIENDS)
        leaving, _ = fleet.of("aggregator")
        assert {moved(options, leaving.node) for options in options if isinstance(options, AccessPointOptions)} == {True, False}
        last = dict.fromkeys(users, 0)
        published = 0
        async with asyncio.timeout(LOAD_S):
            leaving_s, ended = 2.0, asyncio.create_task(leaving.process.wait())
            begun_s = time.monotonic()
            while not ended.done() or not all(len(user.events) > last[user] + 100 for user in users):
                await publish_all(http, fleet, secret, published)
                published += len(FRIENDS)
                if leaving_s and time.monotonic() - begun_s > leaving_s:
                    leaving.process.terminate()
                    leaving_s = 0.0
                if not ended.done():
                    last = {user: len(user.events) for user in users}
        assert ended.result() == 0
        for user in users:
            await user.heard(published)
            for friend in FRIENDS:
                events = [event for event in user.events if event["topic"] == feed(friend)]
                assert [event["payload"]["number"] for event in events] == list(range(0, published, len(FRIENDS)))
                assert [event["seq"] for event in events] == [events[0]["seq"] + n for n in range(len(events))]


def moved(options: AccessPointOptions, node: str) -> bool:
    """Returns whether an access point begins with the aggregator `node`."""
    return options.aggregators[zlib.crc32(options.node.encode()) % len(options.aggregators)].endswith(node)


async def publish_all(http: aiohttp.ClientSession, fleet: Fleet, secret: bytes, number: int) -> None:
    """Publishes event `number` of every friend."""
    events = [{"topic": feed(friend), "kind": "play", "payload": {"number": number}} for friend in FRIENDS]
    headers = {"Authorization": f"Bearer {service_token(secret, 'presence')}"}
    async with http.post(f"http://{fleet.of('broker')[0].door}/v1/events", json=events, headers=headers) as answer:
        assert (answer.status, (await answer.json())["rejected"]) == (202, [])
