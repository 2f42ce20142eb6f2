"""Clients of Server-Sent Events at a real access point: what they hear, how they come back, how they end."""

import asyncio
import json
import time
from collections.abc import AsyncIterator

import pytest

from accesspoint.point import write_point
from infra.runtime.tokens import issue
from tests.support.bystander import Watched
from tests.support.cluster import SECRET, Cluster
from tests.support.event_source import EventSource

MIX = "hm://playlist/user/ann/playlist/mix/"


@pytest.fixture
async def c() -> AsyncIterator[Cluster]:
    async with Cluster(sites=1) as c:
        yield c


def stream(c: Cluster, *topics: str, user: str = "eve", last_id: str = "", **headers: str) -> EventSource:
    return EventSource(c.of("accesspoint")[0].address, c.token(user), list(topics or (MIX,)), last_id=last_id, **headers)


async def change(c: Cluster, *numbers: int) -> None:
    """Changes a playlist, once for each of `numbers`."""
    events = [{"topic": MIX, "kind": "changed", "payload": {"n": n}} for n in numbers]
    assert (await c.post(events, service="playlist"))[1]["accepted"] == len(numbers)


async def test_it_hears_what_is_published_and_goes_on_where_it_was(c: Cluster) -> None:
    async with stream(c) as source:
        assert (await source.next("welcome"))["user"] == "eve"
        assert (await source.next("subscribed"))["rejected"] == []
        await change(c, 1)
        event = await source.next()
        assert (event["op"], event["topic"], event["payload"]) == ("event", MIX, {"n": 1})
        here = await source.until_id()
    await change(c, 2, 3)
    async with stream(c, last_id=here) as source:
        # With a position alone, what was on its way when it was told may come again.
        heard = [(await source.next())["payload"]["n"] for _ in range(2)]
        while heard[-1] != 3:
            heard.append((await source.next())["payload"]["n"])
        assert heard in ([2, 3], [1, 2, 3])
        answer = await source.next("subscribed")
        assert (answer["recovered"], answer["lost"]) == (True, [])
        await change(c, 4)
        assert (await source.next())["payload"] == {"n": 4}


async def test_no_position_is_told_before_all_that_was_missed_has_come(c: Cluster) -> None:
    async with stream(c) as source:
        await source.next("subscribed")
        await change(c, 1)
        here = await source.until_id()
    await change(c, 2)
    async with stream(c, last_id=here) as source:
        await source.next("subscribed")
        assert source.last_id == here


@pytest.mark.parametrize(("last_id", "told"), [("7", "gap"), (write_point("sto", {99: 7}) or "", "subscribed")])
async def test_it_is_told_when_nobody_knows_what_it_missed(c: Cluster, last_id: str, told: str) -> None:
    async with stream(c, last_id=last_id) as source:
        said = await source.next(told)
        if told == "gap":
            assert (said["topics"], said["reason"]) == ([MIX], "expired")
        else:
            assert (said["recovered"], [each["topic"] for each in said["lost"]]) == (False, [MIX])
        await source.next("subscribed") if told == "gap" else None
        await change(c, 1)
        assert (await source.next())["payload"] == {"n": 1}


@pytest.mark.parametrize(
    ("topic", "token", "headers", "status", "code"),
    [
        (MIX, "no.such.token", {}, 401, "bad-token"),
        (MIX, "", {}, 401, "bad-token"),
        ("", "good", {}, 400, "bad-field"),
        (MIX, "good", {"Origin": "https://evil.example"}, 403, "origin-refused"),
    ],
)
async def test_what_cannot_be_is_refused_with_a_status_so_that_no_browser_comes_back(
    c: Cluster, topic: str, token: str, headers: dict[str, str], status: int, code: str
) -> None:
    shown = c.token("eve") if token == "good" else token
    async with EventSource(c.of("accesspoint")[0].address, shown, [topic], **headers) as source:
        assert (source.status, json.loads(source.answer)["code"]) == (status, code)


async def test_a_token_may_stand_in_a_header_and_a_topic_that_is_none_spoils_no_other(c: Cluster) -> None:
    authorization = {"Authorization": f"Bearer {c.token('eve')}"}
    async with EventSource(c.of("accesspoint")[0].address, "", [MIX, "hm://nothing/"], **authorization) as source:
        assert [(each["topic"], each["code"]) for each in (await source.next("subscribed"))["rejected"]] == [("hm://nothing/", "bad-topic")]
        await change(c, 1)
        assert (await source.next())["payload"] == {"n": 1}


async def test_it_is_sent_elsewhere_by_a_drain_and_told_when_to_come_back(c: Cluster) -> None:
    async with stream(c) as source:
        await source.next("subscribed")
        draining = asyncio.create_task(c.of("accesspoint")[0].drain())
        assert (await source.next("refused"))["code"] == "going-away"
        assert 0 <= source.retry_ms <= 5_000
        await source.end()
    await draining


async def test_a_stream_ends_with_its_token() -> None:
    async with Watched() as place:
        short = issue(SECRET, user="eve", ttl_s=20, now_s=time.time())
        async with EventSource(place.point.address, short, [MIX]) as source:
            await source.next("subscribed")
            place.later(25.0)
            assert (await source.next("refused"))["code"] == "token-expired"
            await source.end()


async def test_it_has_signs_of_life_and_is_never_taken_for_silent() -> None:
    async with Watched() as place, stream(place.cluster) as source:
        await source.next("subscribed")
        place.later(31.0)
        await source.until_comment()
        assert place.point.now() - place.session("eve").heard_s < 30.0


async def test_who_says_more_is_not_listened_to(c: Cluster) -> None:
    async with stream(c) as source:
        await source.next("subscribed")
        source.say(b"GET / HTTP/1.1\r\n\r\n")
        with pytest.raises((EOFError, ConnectionError)):
            await source.next()
        await c.until(lambda: not c.of("accesspoint")[0].core.sessions)
