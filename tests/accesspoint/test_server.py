"""The access point on real sockets: slow clients that catch up, draining, several on one port, life and death of a connection."""

import asyncio
import random
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

import msgspec
import pytest
from structlog.testing import capture_logs
from websockets.asyncio.client import connect

from infra.kernel.codes import BY_NAME
from infra.runtime.listening import CannotListen
from infra.runtime.tokens import Identity
from segue.cluster.factory import RoleFactory
from tests.support.bystander import Watched, points
from tests.support.client_frames import client_frame
from tests.support.cluster import Cluster
from tests.support.raw_client import RawClient
from tests.support.user import User, feed

SMALL = {"send_buffer_bytes": 4096, "write_buffer_bytes": 4096, "stalled_s": 1000.0}
PLAYLIST = "hm://playlist/user/dan/playlist/mix/"
FEEDS = [feed("fay"), feed("gus")]


@pytest.fixture
async def place() -> AsyncIterator[Watched]:
    """Yields a site whose access point has small buffers."""
    async with Watched(point=SMALL) as place:
        yield place


async def publish(place: Watched, number: int) -> None:
    """Publishes one event of a kilobyte on each topic."""
    payload = {"n": number, "x": "x" * 1000}
    await place.cluster.post([{"topic": topic, "kind": "play", "payload": payload} for topic in FEEDS])
    await place.cluster.post({"topic": PLAYLIST, "kind": "add", "payload": payload}, service="playlist")


def events(client: RawClient, topic: str) -> list[dict[str, Any]]:
    return [message for message in client.messages if message.get("topic") == topic]


def newest(client: RawClient) -> list[int]:
    return [event["payload"]["n"] for topic in (*FEEDS, PLAYLIST) for event in events(client, topic)[-1:]]


async def test_one_that_catches_up_has_the_newest_of_each_feed_and_the_number_of_those_it_skipped(place: Watched) -> None:
    """Design 5.3, and the promise on numbers: a skip is never taken for a loss. Playlist events are never skipped."""
    point = place.point
    async with place.client(receive_buffer_bytes=4096) as client:
        await client.hello(place.token("eve"))
        await client.say({"op": "subscribe", "topics": [*FEEDS, PLAYLIST], "wait": "all"})
        await client.next("subscribed")
        last = -1
        for _ in range(3):  # it stops and catches up again and again
            while not point.core.slow.paused:
                await publish(place, last := last + 1)
            for _ in range(10):
                await publish(place, last := last + 1)
            await place.undisturbed()
            await client.until(lambda: newest(client) == [last] * 3)
            await place.cluster.until(lambda: not point.core.slow.paused)
        skipped = 0
        for topic in FEEDS:
            for before, after in pairwise(events(client, topic)):
                assert after["seq"] == before["seq"] + after.get("skipped", 0) + 1
            skipped += sum(event.get("skipped", 0) for event in events(client, topic))
        assert [event["payload"]["n"] for event in events(client, PLAYLIST)] == list(range(last + 1))
        counters = point.counters()
        assert skipped > 0
        assert (counters["accesspoint_skipped_total"], counters["accesspoint_evictions_total"]) == (skipped, 0)
        assert (counters["accesspoint_outbox_bytes"], counters["accesspoint_paused_connections"]) == (0, 0)


async def test_what_is_skipped_shows_in_the_figures_while_it_waits(place: Watched) -> None:
    async with place.client(receive_buffer_bytes=4096) as client:
        await client.hello(place.token("eve"))
        await client.say({"op": "subscribe", "topics": FEEDS, "wait": "all"})
        await client.next("subscribed")
        counters = place.point.counters()
        # The kernel may take what waits for a moment, so each figure is looked at while the client is stopped.
        while counters["accesspoint_skipped_total"] < 10 or not 2000 < counters["accesspoint_outbox_bytes"] < 3000:
            await publish(place, 0)
            counters = place.point.counters()
        assert counters["accesspoint_paused_connections"] == 1


# Draining.


async def test_draining_sends_every_client_away_with_a_hint_and_they_find_their_events_elsewhere() -> None:
    """SIGTERM ends here. Reconnecting is spread over `reconnect_within_ms`."""
    async with Watched(accesspoints=2, point={"reconnect_within_ms": 700}) as place:
        old = place.cluster.of("accesspoint")[1]
        users = [place.cluster.user(f"u{n}", point=1) for n in range(5)]
        for user in users:
            await user.__aenter__()
            await user.follow("fay")
        await old.drain()
        assert old.ready() == "draining"
        assert (len(old.core.sessions), old.core.disconnects) == (0, {"going-away": 5})
        hints = []
        for user in users:
            error = await user.answer(lambda message: message["op"] == "error")
            assert (error["code"], error["number"]) == ("going-away", 4000)
            hints.append(error["reconnect_in_ms"])
            await user.until(lambda user=user: user.closed is not None)  # type: ignore[misc]
            assert user.closed == (4000, BY_NAME["going-away"].text)
            await user.__aexit__()
        assert all(0 <= hint <= 700 for hint in hints)
        assert len(set(hints)) > 1
        await place.undisturbed()
        async with place.cluster.user("u0") as user:
            await user.follow("fay")
            await place.cluster.play("fay", n=1)
            await user.heard(1)


async def test_one_that_drains_takes_nobody_new() -> None:
    async with Cluster(sites=1) as cluster:
        point = cluster.of("accesspoint")[0]
        async with RawClient(point.address) as client, RawClient(point.address, shy=True) as late:
            await client.hello(cluster.token("eve"))
            await cluster.until(lambda: point._http.connections == 1)
            start_s, draining = point.now(), asyncio.create_task(point.drain())
            await client.until(lambda: client.messages[-1]["op"] == "error")
            await late.shake_hands()
            assert late.refusal == (503, "going-away", "1")
            with pytest.raises(ConnectionRefusedError):
                await RawClient(point.address).__aenter__()
            await cluster.until(lambda: point.now() > start_s + 0.3)
            assert not draining.done()  # the goodbye has been said, and not been answered
            await client.end()
        await draining


async def test_clients_are_sent_away_at_the_stated_rate_and_those_who_stay_get_their_events() -> None:
    async with Cluster(sites=1, change=points(drain_per_s=4.0)) as cluster:
        point = cluster.of("accesspoint")[0]
        users = [await cluster.user(f"u{n}").__aenter__() for n in range(5)]
        for user in users:
            await user.follow("dan")
        start_s = point.now()
        draining = asyncio.create_task(point.drain())
        await users[0].until(lambda: users[0].closed is not None)
        await cluster.play("dan", n=1)
        await users[4].heard(1)
        assert users[0].events == []
        await draining
        assert point.now() - start_s >= 4 / 4.0
        for user in users:
            await user.__aexit__()


async def test_draining_takes_as_long_as_so_many_clients_need_whatever_is_left_for_the_last_one() -> None:
    """The deadline follows from their number: at a fixed one, those beyond it would be cut off without a word."""
    async with Cluster(sites=1, change=points(drain_per_s=20.0, drain_s=0.6)) as cluster:
        users = [await cluster.user(f"u{n}").__aenter__() for n in range(16)]
        with capture_logs() as lines:
            await cluster.of("accesspoint")[0].drain()
        assert not [line for line in lines if line["event"] == "clients left behind"]
        for user in users:
            await user.until(lambda user=user: user.closed is not None)  # type: ignore[misc]
            assert user.closed == (4000, BY_NAME["going-away"].text)
            await user.__aexit__()


async def test_draining_ends_in_time_whoever_stays() -> None:
    async with Cluster(sites=1, change=points(drain_per_s=4.0, drain_s=0.1)) as cluster:
        point = cluster.of("accesspoint")[0]
        async with RawClient(point.address) as one, RawClient(point.address) as other:
            for client in (one, other):  # they never answer the goodbye
                await client.hello(cluster.token("eve"))
            await cluster.until(lambda: len(point.core.sessions) == 2)
            with capture_logs() as lines:
                await point.drain()
            assert [line["clients"] for line in lines if line["event"] == "clients left behind"] == [2]


async def test_before_anybody_is_sent_away_others_are_told_to_send_nobody_here() -> None:
    """`/readyz` says so while everybody is still served, newcomers too."""
    async with Cluster(sites=1, change=points(drain_wait_s=60.0)) as cluster, cluster.user("ann") as ann:
        point = cluster.of("accesspoint")[0]
        await ann.follow("dan")
        draining = asyncio.create_task(point.drain())
        await cluster.until(lambda: point.ready() == "draining")
        async with cluster.user("bob") as bob:
            await bob.follow("dan")
            await cluster.play("dan")
            await asyncio.gather(ann.heard(1), bob.heard(1))
        assert (ann.closed, point.counters()["accesspoint_draining"]) == (None, 1)
        draining.cancel()


# Doors.


async def test_several_access_points_share_one_port_and_all_of_them_get_clients() -> None:
    """SO_REUSEPORT: the kernel chooses (design 3)."""
    async with Cluster(sites=1, accesspoints=2, change=points(reuse_port=True)) as cluster:
        first, second = cluster.of("accesspoint")
        third = RoleFactory(cluster.network("sto/ap3"), cluster._verifier, random.Random(3)).make(
            msgspec.structs.replace(first.options, node="ap3", door=first.address)
        )
        cluster.roles["sto/ap3"] = third
        await third.start()
        await cluster.settle()
        assert third.address == first.address != second.address
        users: list[User] = []
        while not (first.core.sessions and third.core.sessions):
            assert len(users) < 64, "the kernel sends everybody to the same one"
            users.append(await cluster.user(f"u{len(users)}").__aenter__())
            await users[-1].follow("dan")
        await cluster.play("dan", n=1)
        for user in users:
            await user.heard(1)
            await user.__aexit__()


async def test_a_port_that_is_taken_is_an_error_that_leaves_nothing_behind() -> None:
    async with Cluster(sites=1) as cluster:
        first = cluster.of("accesspoint")[0]
        options = msgspec.structs.replace(first.options, node="ap2", door=first.address)
        second = RoleFactory(cluster.network("sto/ap2"), cluster._verifier, random.Random(3)).make(options)
        with pytest.raises(CannotListen, match=f"accesspoint.door: cannot listen on {first.address} .*in use"):
            await second.start()
        await second.close()


async def test_connections_over_the_limit_are_refused_and_those_there_are_go_on() -> None:
    async with Watched(point={"max_connections": 2}) as place:
        async with place.client():
            async with place.client() as third:
                assert third.refusal == (503, "overloaded", "1")
            await place.undisturbed()
        await place.cluster.until(lambda: len(place.point.core.sessions) == 1)
        async with place.client() as client:
            await client.hello(place.token("eve"))


async def test_a_defect_of_ours_is_logged_and_answered_without_its_details() -> None:
    users = ["bystander", "eve"]

    def verify(token: str, wall_s: float) -> Identity:
        if token == "defect":
            raise ZeroDivisionError("of our making")
        return Identity(users.pop(0), 1e12)

    async with Watched(verify=verify) as place, place.client() as client:
        with capture_logs() as lines:
            await client.say({"op": "hello", "token": "defect"})
            error = await client.next("error")
        assert (error["code"], error["reason"]) == ("internal-error", BY_NAME["internal-error"].text)
        assert [line["event"] for line in lines if line["log_level"] == "error"] == ["a message could not be handled"]
        assert place.point.counters()["accesspoint_refused_total"] == {"internal-error": 1}
        await client.hello(place.token("eve"))  # it is not fatal


async def test_a_client_that_leaves_politely_is_answered_with_its_own_number(place: Watched) -> None:
    async with connect(f"ws://{place.point.address}/v1/connect", subprotocols=["segue.v1"], compression=None) as ws:  # type: ignore[list-item]
        await ws.close(4321, "enough")
        assert (ws.close_code, place.point.core.disconnects) == (4321, {"closed": 1})
    async with place.client() as client:
        await client.send(client_frame(8, b""))
        assert await client.end() == (1000, [])


async def test_a_client_that_cannot_be_sent_away_keeps_no_other_from_being_told() -> None:
    async with Cluster(sites=1) as c, c.user("ann") as ann, c.user("bob") as bob:
        (point,) = c.of("accesspoint")
        first, whole = next(iter(point.core.sessions)), point.core.farewell

        def farewell(session: Any) -> None:
            if session is first and bob.closed is None:
                raise KeyError("oops")
            whole(session)

        point.core.farewell = farewell
        await point.drain()
        for user in (ann, bob):
            await user.until(lambda user=user: user.closed is not None)  # type: ignore[misc]
            assert user.closed is not None
            assert user.closed[0] == BY_NAME["going-away"].number
