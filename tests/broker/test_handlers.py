"""The handlers for publishing services: what is accepted, what is rejected by its position, and what is said when it cannot be."""

import asyncio
import json
import random
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any

import aiohttp
import msgspec
import pytest

from broker.event_router import Done
from broker.grants import PublishingGrants
from broker.handlers import MAX_REJECTED, PATH, EventHandlers
from broker.options import BrokerOptions
from broker.server import Broker
from infra.kernel.errors import Refused
from infra.kernel.events import Event
from infra.kernel.membership import Timing
from infra.runtime.context import Context
from infra.runtime.http.door import Head
from infra.runtime.logs import get_logger
from infra.runtime.tokens import AuthOptions, Keys, Verifier, issue
from infra.runtime.wire.memory import MemoryNetwork
from segue.cluster.role_spec import RoleOptions
from tests.support.bystander import Watched
from tests.support.cluster import SECRET, Cluster, lenient
from tests.support.samples import service_token
from tests.support.user import User


def event(number: int = 0, user: str = "fay", **fields: Any) -> dict[str, Any]:
    return {"topic": f"hm://presence/user/{user}/", "kind": "play", "payload": {"n": number}} | fields


def lines(events: Sequence[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in events)


async def in_pieces(body: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(body), size):
        yield body[start : start + size]


@pytest.fixture
async def place() -> AsyncIterator[Watched]:
    """Yields a site with one broker."""
    async with Watched() as place:
        yield place


@pytest.fixture
async def ann(place: Watched) -> AsyncIterator[User]:
    """Yields a client who follows fay."""
    async with place.cluster.user("ann") as ann:
        await ann.follow("fay")
        yield ann


async def heard(ann: User, numbers: list[int]) -> None:
    """Waits until `ann` has got these events and no others."""
    await ann.heard(len(numbers))
    await ann.fence()
    assert [event["payload"]["n"] for event in ann.events] == numbers


async def test_one_event_an_array_and_lines_are_accepted_and_counted(place: Watched, ann: User) -> None:
    """Design 4.2."""
    assert await place.post(json.dumps(event(1)).encode()) == (202, {"accepted": 1, "rejected": []})
    assert await place.post(json.dumps([event(2), event(3)]).encode()) == (202, {"accepted": 2, "rejected": []})
    assert await place.post(lines([event(4), event(5)]), "application/x-ndjson") == (202, {"accepted": 2, "rejected": []})
    await heard(ann, [1, 2, 3, 4, 5])
    counters = place.door.counters()
    assert counters["broker_events_accepted_total"] == 6  # one is the bystander's
    assert counters["broker_http_requests_total"] == 4
    assert counters["broker_events_rejected_total"] == {}


def cloud(number: int, **fields: Any) -> dict[str, Any]:
    """Returns a CloudEvent of fay's."""
    told = {"specversion": "1.0", "id": str(number), "source": "/players/7", "type": "org.example.play"}
    return told | {"subject": "hm://presence/user/fay/", "data": {"n": number}} | fields


async def test_cloud_events_are_accepted_and_the_same_source_and_id_again_is_heard_once(place: Watched, ann: User) -> None:
    one, many = "application/cloudevents+json", "application/cloudevents-batch+json; charset=utf-8"
    assert await place.post(json.dumps(cloud(1)).encode(), one) == (202, {"accepted": 1, "rejected": []})
    assert await place.post(json.dumps(cloud(1)).encode(), one) == (202, {"accepted": 1, "rejected": []})
    status, answer = await place.post(json.dumps([cloud(1), cloud(2), cloud(3, subject="bob"), cloud(4)]).encode(), many)
    assert (status, answer["accepted"], [(each["index"], each["code"]) for each in answer["rejected"]]) == (202, 3, [(2, "bad-topic")])
    await heard(ann, [1, 2, 4])
    status, answer = await place.post(json.dumps(cloud(5, subject="")).encode(), one)
    assert (status, answer["code"]) == (400, "bad-field")
    assert "it is the topic" in answer["reason"]


@pytest.mark.parametrize("content_type", ["application/json", "Application/JSON; charset=utf-8", "application/x-ndjson", ""])
async def test_nothing_is_a_right_number_of_events(content_type: str, place: Watched) -> None:
    """An empty array, lines that are all empty."""
    body = b" \n\r\n" if "nd" in content_type else b" [ ] "
    assert await place.post(body, content_type) == (202, {"accepted": 0, "rejected": []})
    if "nd" in content_type:
        assert await place.post(b"", content_type) == (202, {"accepted": 0, "rejected": []})
    else:
        status, answer = await place.post(b"", content_type)
        assert (status, answer["code"]) == (400, "bad-json")


@pytest.mark.parametrize("size", [1, 7, 64, 1000])
async def test_lines_may_be_cut_anywhere_and_are_published_as_they_come(size: int, place: Watched, ann: User) -> None:
    body = lines([event(1), event(2, kind="Wrong"), event(3)]) + b"\r\n\n" + lines([event(4)])[:-1]
    status, answer = await place.post(in_pieces(body, size), "application/x-ndjson")
    assert (status, answer["accepted"]) == (202, 3)
    assert [(each["index"], each["code"], each["number"]) for each in answer["rejected"]] == [(1, "bad-field", 4105)]
    await heard(ann, [1, 3, 4])


async def test_a_stream_of_lines_is_published_while_it_lasts(place: Watched, ann: User) -> None:
    arrived = asyncio.Event()

    async def stream() -> AsyncIterator[bytes]:
        yield lines([event(1)])
        await arrived.wait()
        yield lines([event(2)])

    posting = asyncio.create_task(place.post(stream(), "application/x-ndjson"))
    await ann.heard(1)
    assert not posting.done()
    arrived.set()
    assert await posting == (202, {"accepted": 2, "rejected": []})
    await heard(ann, [1, 2])


async def test_an_id_that_was_seen_on_the_topic_is_accepted_and_published_once(place: Watched, ann: User) -> None:
    """So repeating what was not answered is safe."""
    for body in ([event(1, id="a"), event(1, id="a"), event(2, id="b")], [event(1, id="a"), event(3, id="c")]):
        assert await place.post(json.dumps(body).encode()) == (202, {"accepted": len(body), "rejected": []})
    await heard(ann, [1, 2, 3])
    assert place.door.counters()["broker_events_duplicate_total"] == 2


async def test_rejected_events_are_named_in_their_order_and_the_right_ones_published(place: Watched, ann: User) -> None:
    artist = "hm://notifications/feed/abba%new-album/"
    body = [event(1), event(2, topic="hm://x/"), event(3), event(4, kind=""), event(5, topic=artist), 6, event(7)]
    status, answer = await place.post(json.dumps(body).encode())
    assert (status, answer["accepted"]) == (202, 3)
    assert [(each["index"], each["code"], each["number"]) for each in answer["rejected"]] == [
        (1, "bad-topic", 4109),
        (3, "bad-field", 4105),
        (4, "forbidden", 4204),
        (5, "bad-field", 4105),
    ]
    assert place.door.counters()["broker_events_rejected_total"] == {"bad-topic": 1, "bad-field": 2, "forbidden": 1}
    await heard(ann, [1, 3, 7])


async def test_what_is_over_the_quota_is_rejected_by_its_position_among_what_is_wrong_and_the_rest_published() -> None:
    """DPS-26."""

    def change(options: RoleOptions) -> RoleOptions:
        return msgspec.structs.replace(options, max_topic_events_per_s=1.0) if isinstance(options, BrokerOptions) else options

    async with Watched(change=change) as place, place.cluster.user("ann") as ann:
        await ann.follow("fay", "gus")
        body = [event(1), event(2, kind=""), event(3), event(4), event(5, user="gus"), event(6), event(7, kind="")]
        status, answer = await place.post(json.dumps(body).encode())
        assert (status, answer["accepted"]) == (202, 3)
        rejected = [(1, "bad-field"), (3, "rate-limited"), (5, "rate-limited"), (6, "bad-field")]
        assert [(each["index"], each["code"]) for each in answer["rejected"]] == rejected
        assert place.door.counters()["broker_events_rejected_total"] == {"bad-field": 2, "rate-limited": 2}
        await ann.heard(3)
        await ann.fence()
        assert sorted(each["payload"]["n"] for each in ann.events) == [1, 3, 5]


async def test_a_connection_goes_on_after_a_refusal(place: Watched) -> None:
    host, _, port = place.door.address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    for path, status in (("/v1/nothing", 404), ("/v1/events", 401), ("/v1/events", 401)):
        writer.write(f"POST {path} HTTP/1.1\r\nHost: b1\r\nContent-Length: 2\r\n\r\n[]".encode())
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 %d " % status)
        assert (b"WWW-Authenticate: Bearer" in head) == (status == 401)
        (length,) = [int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.startswith(b"Content-Length")]
        assert json.loads(await reader.readexactly(length))["code"]
    writer.close()
    await writer.wait_closed()


async def test_one_that_drains_takes_nothing_new_and_says_when_to_come_back() -> None:
    async with Watched(brokers=2) as place:
        second = place.cluster.of("broker")[1]
        await second.drain()
        assert second.ready() == "draining"
        token = issue(SECRET, service="presence", ttl_s=600, now_s=time.time())
        url, headers = f"http://{second.address}/v1/events", {"Authorization": f"Bearer {token}"}
        async with place.cluster.http.post(url, headers=headers, json=event()) as answer:
            assert (answer.status, (await answer.json())["code"]) == (503, "draining")
            assert (answer.headers["Retry-After"], answer.headers["Connection"]) == ("1", "close")


async def test_one_that_is_not_in_the_view_of_its_site_yet_says_so() -> None:
    """It has just come, and nobody knows yet whether the other one lives."""
    sites, timing = {"sto": {"b1": "sto/b1", "b2": "sto/b2"}}, Timing(grace_s=1000.0)
    options = BrokerOptions(site="sto", slot="b1", sites=sites, door="127.0.0.1:0", membership=timing)
    context = Context(network=MemoryNetwork(), log=get_logger("broker", "b1", "sto"), rng=random.Random(1))
    broker = Broker(options, context, Verifier(AuthOptions(), Keys(secret=SECRET), lambda: None).service)
    await broker.start()
    try:
        headers = {"Authorization": f"Bearer {service_token('presence')}"}
        async with aiohttp.ClientSession() as http, http.post(f"http://{broker.address}{PATH}", headers=headers, json=event()) as answer:
            said = await answer.json()
        assert (answer.status, said["code"], said["reason"]) == (503, "unavailable", "not in the site's view yet")
    finally:
        await broker.close()


@pytest.mark.parametrize("lost", ["before", "after"])
async def test_an_event_whose_owner_is_lost_is_unavailable_and_the_others_are_accepted(lost: str) -> None:
    """Alone the status says it, before its owner was asked as well as after."""
    # On a busy machine the other broker would own the topic by the time it is asked.
    async with Cluster(sites=1, brokers=2, change=lenient) as cluster:
        users = {cluster.owner(f"u{n}"): f"u{n}" for n in range(20)}
        mine, theirs = event(user=users["sto/b1"], id="m"), event(user=users["sto/b2"], id="t")
        door = cluster.of("broker")[0]
        cluster.partition("sto/b1", "sto/b2")
        if lost == "before":
            await cluster.crash("sto/b2")
        posts = [asyncio.create_task(cluster.post(body)) for body in (theirs, [mine, theirs])]
        if lost == "after":
            await cluster.until(lambda: door.mesh.client.forwarder.forwarded == 2)
            assert not any(post.done() for post in posts)
            await cluster.crash("sto/b2")
        (status, alone), (_, among) = await asyncio.gather(*posts)
        assert (status, alone["code"], "the same id is safe" in alone["reason"]) == (503, "unavailable", True)
        assert (among["accepted"], [(each["index"], each["code"]) for each in among["rejected"]]) == (1, [(1, "unavailable")])
        assert door.counters()["broker_events_rejected_total"] == {"unavailable": 2}
        assert door.counters()["broker_events_accepted_total"] == 1


async def test_a_stream_of_events_whose_owner_is_lost_is_given_up() -> None:
    async with Cluster(sites=1, brokers=2, change=lenient) as cluster:
        users = {cluster.owner(f"u{n}"): f"u{n}" for n in range(20)}
        door = cluster.of("broker")[0]
        cluster.partition("sto/b1", "sto/b2")
        await cluster.crash("sto/b2")
        part = lines([event(user=users["sto/b2"])] * 2 * MAX_REJECTED)
        status, answer = await cluster.post(part, headers={"Content-Type": "application/x-ndjson"})
        assert (status, answer["code"]) == (503, "unavailable")
        assert MAX_REJECTED < door.counters()["broker_events_rejected_total"]["unavailable"] < 2 * MAX_REJECTED


async def test_a_stream_ends_with_the_token_that_it_was_begun_with() -> None:
    """DPS-27: it may last for days, and is looked at again as every request is."""
    wall_s, published = 1000.0, list[Event]()
    token = issue(SECRET, service="presence", ttl_s=60, now_s=wall_s)
    head = Head("POST", PATH, "", {b"authorization": f"Bearer {token}".encode(), b"content-type": b"application/x-ndjson"}, True)

    def submit(events: Sequence[Event], hops: int, done: Done) -> None:
        published.extend(events)
        done([])

    handlers = EventHandlers(
        BrokerOptions(site="sto", slot="b1", sites={"sto": {"b1": "sto/b1"}}),
        PublishingGrants(Verifier(AuthOptions(leeway_s=0), Keys(secret=SECRET), lambda: None).service, lambda: wall_s, lambda: wall_s),
        lambda: wall_s,
        now=lambda: wall_s,
        prefix="p",
        submit=submit,
        check_open=lambda: None,
    )
    streams = [handlers.exchange(head) for _ in range(2)]
    wall_s += 59
    for stream in streams:
        stream.chunk(lines([event(1)]))
    wall_s += 2
    with pytest.raises(Refused, match="token-expired"):
        streams[0].chunk(lines([event(2)]))
    with pytest.raises(Refused, match="token-expired"):
        streams[1].end()
    assert len(published) == 2
