"""The HTTP handlers of the notification module: what is wrong is said, and harms nobody else."""

import asyncio
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest

from infra.kernel.topics import MAX_ID
from infra.runtime.http.web import SHORT_BODY_BYTES
from notification.handlers import MAX_NOTICES, MAX_PREFERENCES_BYTES
from notification.shards import PARTS
from rule_engine.facts import CLASSES
from rule_engine.fields import CHOICES, MAX_MUTED
from rule_engine.preferences import Preferences, parse
from tests.support.cluster import Cluster
from tests.support.samples import service_token
from tests.support.stored import album, decided, me, stored

NDJSON = {"Content-Type": "application/x-ndjson"}


@pytest.fixture
async def cluster(tmp_path: Path) -> AsyncIterator[Cluster]:
    async with stored(tmp_path) as c:
        yield c


def lines(*documents: Any) -> bytes:
    return b"\n".join(json.dumps(each).encode() for each in documents)


def header(number: int, **fields: Any) -> dict[str, Any]:
    return {key: value for key, value in album(number, **fields).items() if key != "followers"}


@pytest.mark.parametrize(
    ("change", "status", "code", "reason"),
    [
        ({"topic": "hm://presence/user/ann/"}, 403, "forbidden", "one of kind user"),
        ({"topic": "hm://notifications/inbox/ann/"}, 403, "forbidden", "one of kind inbox"),
        ({"topic": "hm://notifications/feed/ann%friend-joined/"}, 403, "forbidden", "artist topics"),
        ({"topic": "nowhere"}, 400, "bad-topic", "hm://"),
        ({"id": ""}, 400, "bad-field", "repeat a notice with the same one"),
        ({"id": "x" * 65}, 400, "bad-field", "1 to 64 characters"),
        ({"kind": "New Album"}, 400, "bad-field", "kind must be"),
        ({"payload": []}, 400, "bad-field", "payload must be a JSON object"),
        ({"payload": {"text": "x" * (16 << 10)}}, 413, "too-large", "over the limit"),
        ({"producer": "a b"}, 400, "bad-field", "producer"),
        ({"followers": []}, 400, "bad-field", "nobody to tell"),
        ({"followers": ["ann", "a b"]}, 400, "bad-field", "'a b' is no user name"),
        ({"followers": ["ann", "bob\ncyd"]}, 400, "bad-field", "is no user name"),
        ({"followers": ["ann", ""]}, 400, "bad-field", "is no user name"),
        ({"pages": [{"followers": ["ann"]}, {"followers": ["x" * 129]}]}, 400, "bad-field", "is no user name"),
        ({"follower": ["ann"]}, 400, "bad-field", "unknown field `follower`"),
        ({"pages": [{"followers": ["ann"] * 1001}]}, 400, "bad-field", "1000"),
    ],
)
async def test_a_wrong_notice_is_refused_with_what_is_wrong_and_nothing_of_it_is_stored(
    cluster: Cluster, change: dict[str, Any], status: int, code: str, reason: str
) -> None:
    answer_status, answer = await cluster.notify(album(1, "ann") | change)
    assert (answer_status, answer["code"]) == (status, code)
    assert reason in answer["reason"]
    status, answer = await cluster.notify(album(2, "ann"))
    assert (status, answer["accepted"]) == (202, 1)


@pytest.mark.parametrize("service", ["presence", "notification", "operator", "radio"])
async def test_only_the_three_services_notify(cluster: Cluster, service: str) -> None:
    """SB-45: and each about its own topics."""
    status, answer = await cluster.notify(album(1, "ann"), service=service)
    assert (status, answer["code"]) == (403, "forbidden")


async def test_a_user_notifies_nobody_and_a_service_has_no_settings(cluster: Cluster) -> None:
    url = f"http://{cluster.of('notification')[0].address}/v1/notifications"
    async with cluster.http.post(url, json=album(1, "ann"), headers={"Authorization": f"Bearer {cluster.token('ann')}"}) as answer:
        assert (answer.status, (await answer.json())["code"]) == (403, "forbidden")
    async with cluster.http.post(url, json=album(1, "ann")) as answer:
        assert (answer.status, (await answer.json())["code"]) == (401, "bad-token")


async def test_of_an_array_each_stands_for_itself(cluster: Cluster) -> None:
    status, answer = await cluster.notify([album(1, "ann"), album(2), album(3, "ann", "bob"), 7])
    assert status == 202
    assert [each["accepted"] for each in answer["accepted"]] == [1, 2]
    assert [(each["index"], each["code"]) for each in answer["rejected"]] == [(1, "bad-field"), (3, "bad-field")]


async def test_an_audience_is_streamed_in_pages_of_any_number(cluster: Cluster) -> None:
    """SB-37: exactly one row for each follower, in both lanes, and one item."""
    names = [f"u{n}" for n in range(2500)]
    pages = [{"followers": names[at : at + 700]} for at in range(0, len(names), 700)]
    status, answer = await cluster.notify(lines(header(1), *pages) + b"\n\n", headers=NDJSON)
    assert (status, answer["accepted"]) == (202, 2500)
    await decided(cluster, 2500)
    store = cluster.of("notification")[0].stored.store
    rows = [row for some in (await store.rows(dict.fromkeys(range(PARTS), 0), 10_000)).values() for row in some]
    assert sorted(row.user for row in rows) == sorted(names)
    assert {len(await store.items(name, 0, 10)) for name in names[::100]} == {1}


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "bad-json"),
        (b"{", "bad-json"),
        (lines(header(1), {"followers": ["ann"]}, {"followers": "ann"}), "bad-field"),
        (lines(header(1)) + b"\n" + b"x" * (300 << 10), "too-large"),
    ],
)
async def test_a_stream_that_is_wrong_is_refused_and_may_be_repeated(cluster: Cluster, body: bytes, code: str) -> None:
    """Whoever was reached before that is not told twice when it is mended."""
    _, answer = await cluster.notify(body, headers=NDJSON)
    assert answer["code"] == code
    status, answer = await cluster.notify(lines(header(1), {"followers": ["ann", "bob"]}), headers=NDJSON)
    assert (status, answer["accepted"]) == (202, 2)
    await decided(cluster, 2)
    async with cluster.user("ann") as ann:
        assert len((await ann.pull(since=0))["items"]) == 1


async def test_a_stream_that_breaks_off_is_not_accepted_and_goes_on_when_it_is_repeated(cluster: Cluster) -> None:
    """The sender dies in the middle; with the same id it tells the rest, and nobody twice."""
    broken = asyncio.Event()

    async def body() -> AsyncIterator[bytes]:
        yield lines(header(1), {"followers": ["ann"]}) + b"\n"
        await cluster.until(lambda: cluster.of("notification")[0].stored.worker.decided == 1)
        broken.set()
        raise ConnectionError("the sender dies")

    with pytest.raises((aiohttp.ClientError, ConnectionError)):
        await _post(cluster, body())
    assert broken.is_set()
    status, answer = await cluster.notify(lines(header(1), {"followers": ["ann", "bob"]}), headers=NDJSON)
    assert (status, answer["accepted"], answer["duplicate"]) == (202, 2, True)
    await decided(cluster, 2)
    for user in ("ann", "bob"):
        async with cluster.user(user) as client:
            assert [item["mark"] for item in (await client.pull(since=0))["items"]] == [1]


async def _post(cluster: Cluster, body: AsyncIterator[bytes]) -> None:
    url = f"http://{cluster.of('notification')[0].address}/v1/notifications"
    headers = {"Authorization": f"Bearer {service_token('artist')}"} | NDJSON
    async with cluster.http.post(url, data=body, headers=headers) as answer:
        await answer.read()


async def test_the_same_notice_twice_at_once_is_stored_once(cluster: Cluster) -> None:
    answers = await asyncio.gather(*(cluster.notify(album(1, "ann", "bob")) for _ in range(8)))
    assert [status for status, _ in answers] == [202] * 8
    assert sorted(answer["duplicate"] for _, answer in answers) == [False] + [True] * 7
    await decided(cluster, 2)
    async with cluster.user("ann") as ann:
        assert len((await ann.pull(since=0))["items"]) == 1


@pytest.mark.parametrize(
    ("preferences", "reason"),
    [
        ({"email": "nobody"}, "address"),
        ({"tz": "Mars/Olympus"}, "IANA"),
        ({"channels": {"new-albun": {"email": False}}}, "did you mean new-album"),
        ({"muted": ["bjork"]}, "artist:<id>"),
        ({"quiet": {"from": "25:00", "to": "07:00"}}, "22:00"),
        ({"colour": "blue"}, "colour"),
    ],
)
async def test_wrong_preferences_are_refused_and_the_old_ones_hold(cluster: Cluster, preferences: dict[str, Any], reason: str) -> None:
    await me(cluster, "ann", "PUT", "preferences", {"tz": "Europe/Oslo"})
    status, answer = await me(cluster, "ann", "PUT", "preferences", preferences)
    assert (status, answer["code"]) == (400, "bad-field")
    assert reason in answer["reason"]
    _, kept = await me(cluster, "ann", "GET", "preferences")
    assert kept["tz"] == "Europe/Oslo"


async def test_a_device_must_be_one_that_may_be_called(cluster: Cluster) -> None:
    """Endpoints are strangers' URLs; and where no pushes are sent there is no key."""
    for endpoint in ("http://push.example.org/x", "https://127.0.0.1/x", "ftp://push.example.org/x", "https://localhost/x"):
        status, answer = await me(cluster, "ann", "POST", "devices", {"endpoint": endpoint, "keys": {"p256dh": "x", "auth": "y"}})
        assert (status, answer["code"]) == (400, "bad-field"), endpoint
    async with cluster.http.get(f"http://{cluster.of('notification')[0].address}/v1/push-key") as answer:
        assert answer.status == 404


async def test_why_says_so_too_when_somebody_was_not_among_the_followers(cluster: Cluster) -> None:
    await cluster.presence_knows()
    await cluster.notify(album(1, "ann"))
    await decided(cluster, 1)
    status, why = await me(cluster, "ann", "GET", "why/bjork-1")
    assert (status, why["mark"], why["types"], why["reasons"]) == (200, 1, ["in-client"], ["offline-row"])
    status, answer = await me(cluster, "bob", "GET", "why/bjork-1")
    assert (status, answer["code"]) == (404, "not-found")
    assert "not among those" in answer["reason"]


async def test_who_drains_takes_nothing_new(cluster: Cluster) -> None:
    await cluster.of("notification")[0].drain()
    status, answer = await cluster.notify(album(1, "ann"))
    assert (status, answer["code"]) == (503, "draining")


async def test_a_stream_of_a_revoked_service_ends_and_no_further_page_of_it_is_stored(cluster: Cluster) -> None:
    """DPS-28: also one that says nothing more."""
    answers: list[tuple[int, Any]] = []
    said: list[asyncio.Event] = [asyncio.Event(), asyncio.Event()]

    async def stream(number: int, ends: bool) -> AsyncIterator[bytes]:
        yield lines(header(number), {"followers": ["ann"]}) + b"\n"
        await said[ends].wait()
        yield lines({"followers": ["bob"]}) + b"\n"

    async def post(number: int, ends: bool) -> None:
        url = f"http://{cluster.of('notification')[0].address}/v1/notifications"
        headers = NDJSON | {"Authorization": f"Bearer {service_token('artist')}"}
        async with cluster.http.post(url, data=stream(number, ends), headers=headers) as answer:
            answers.append((answer.status, await answer.json()))

    posts = [asyncio.create_task(post(1, True)), asyncio.create_task(post(2, False))]
    await decided(cluster, 2)
    status, _ = await cluster.operate("POST", "/v1/revocations", {"service": "artist", "issued_before": time.time() + 60})
    assert status == 200
    said[True].set()
    await asyncio.gather(*posts)
    assert [(status, answer["code"]) for status, answer in answers] == [(401, "token-revoked")] * 2
    assert cluster.of("notification")[0].counters()["notification_rows_total"] == 2


async def test_an_array_of_too_many_notices_is_refused_as_a_whole_and_nothing_of_it_is_stored(cluster: Cluster) -> None:
    """The sender divides it, and sends all of it again."""
    several = [album(number, "ann") for number in range(MAX_NOTICES + 1)]
    status, answer = await cluster.notify(several)
    assert (status, answer["code"]) == (413, "too-large")
    assert f"{MAX_NOTICES + 1} notices" in answer["reason"]
    assert f"at most {MAX_NOTICES}" in answer["reason"]
    status, answer = await cluster.notify(several[:MAX_NOTICES])
    assert (status, answer["rejected"]) == (202, [])
    assert [each["duplicate"] for each in answer["accepted"]] == [False] * MAX_NOTICES


@pytest.mark.parametrize(
    ("method", "path", "limit"), [("POST", "devices", SHORT_BODY_BYTES), ("PUT", "preferences", MAX_PREFERENCES_BYTES)]
)
async def test_a_body_may_be_as_long_as_its_route_needs(cluster: Cluster, method: str, path: str, limit: int) -> None:
    """Users' requests are short; those of services have the whole of `max_body_bytes`."""
    status, answer = await me(cluster, "ann", method, path, {"endpoint": "x" * limit})
    assert (status, answer["code"]) == (413, "too-large")
    assert f"limit of {limit} bytes" in answer["reason"]


async def test_a_body_without_a_length_is_read_no_further_than_its_route_needs(cluster: Cluster) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        for _ in range(3):
            yield b" " * (SHORT_BODY_BYTES // 2)

    url = f"http://{cluster.of('notification')[0].address}/v1/me/devices"
    headers = {"Authorization": f"Bearer {cluster.token('ann')}", "Content-Type": "application/json"}
    async with cluster.http.post(url, data=pieces(), headers=headers) as answer:
        assert (answer.status, (await answer.json())["code"]) == (413, "too-large")


def test_the_longest_preferences_that_are_taken_fit_into_their_bound() -> None:
    muted = tuple(f"playlist:{'a' * MAX_ID}/{str(number).rjust(MAX_ID, 'b')}" for number in range(MAX_MUTED))
    channels = {cls: dict.fromkeys(CHOICES, False) for cls in CLASSES}
    longest = Preferences(email=f"ann@{'a' * 246}.org", channels=channels, muted=muted)
    body = json.dumps(msgspec.to_builtins(longest), indent=4).encode()
    assert parse(body) == longest
    assert len(body) <= MAX_PREFERENCES_BYTES
