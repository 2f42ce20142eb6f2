"""The pusher against a real receiver that decrypts and verifies."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.kernel.errors import ConfigError, Refused
from notification.letter import Line
from notification.outcome import Outcome, OutcomeState
from notification.push import (
    MAX_PAYLOAD_BYTES,
    MAX_WAITING_PER_HOST,
    Pusher,
    PushOptions,
    Subscription,
    check_endpoint,
    collapse_key,
    push_payload,
    wait_s,
)
from notification.vapid import Vapid
from tests.support.eventually import eventually
from tests.support.push_receiver import HANG, PushReceiver

CONTACT = "mailto:ops@example.org"
NOW_S = 1_795_000_000.0
SHORT_S = 0.1
DAY_S = 86_400
Answer = tuple[int, dict[str, str], str]

GOOD = Subscription(
    "https://push.example.org/send/abc",
    "BP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A8",
    "AAAAAAAAAAAAAAAAAAAAAA",
)


@pytest.fixture(scope="module")
def vapid(tmp_path_factory: pytest.TempPathFactory) -> Vapid:
    return Vapid.ensure(tmp_path_factory.mktemp("state"))


@contextlib.asynccontextmanager
async def pusher(vapid: Vapid, **options: Any) -> AsyncIterator[Pusher]:
    defaults: dict[str, Any] = {"contact": CONTACT, "allow_loopback": True, "timeout_s": 5.0}
    made = Pusher(PushOptions(**(defaults | options)), vapid, lambda: NOW_S)
    try:
        yield made
    finally:
        await made.close()


async def push_once(vapid: Vapid, answer: Answer) -> Outcome:
    async with PushReceiver() as receiver, pusher(vapid) as sender:
        receiver.answers.append(answer)
        return await sender.send(receiver.subscription(), b"hello", 60)


async def test_a_push_arrives_encrypted_and_signed_with_our_key(vapid: Vapid) -> None:
    """SB-42: push goes through the vendor's gateway, by its protocol."""
    payload = msgspec.json.encode({"title": "New album by Björk"})
    async with PushReceiver() as receiver, pusher(vapid) as sender:
        outcome = await sender.send(receiver.subscription(), payload, 3600, "high", collapse_key("hm://x/"))
    assert outcome.state is OutcomeState.DELIVERED
    [push] = receiver.pushes
    assert push.payload == payload
    assert push.public_key == vapid.public_key
    assert push.claims["sub"] == CONTACT
    assert NOW_S < push.claims["exp"] <= NOW_S + DAY_S
    shown = {name: push.headers[name] for name in ("TTL", "Urgency", "Content-Encoding", "Topic")}
    assert shown == {"TTL": "3600", "Urgency": "high", "Content-Encoding": "aes128gcm", "Topic": collapse_key("hm://x/")}


async def test_one_host_that_does_not_answer_leaves_places_to_others(vapid: Vapid) -> None:
    """It has its share of the places and a line with an end; who finds that full tries again later."""
    async with PushReceiver() as receiver, pusher(vapid, max_connections=6, max_connections_per_host=2, timeout_s=600.0) as sender:
        receiver.answers[:] = [(HANG, {}, "")] * 2
        at = receiver.subscription()
        elsewhere = msgspec.structs.replace(at, endpoint=at.endpoint.replace("127.0.0.1", "localhost"))
        waiting = [asyncio.create_task(sender.send(at, b"hello", 60)) for _ in range(MAX_WAITING_PER_HOST)]
        await eventually(lambda: receiver.at_once == 2)
        assert (await sender.send(elsewhere, b"hello", 60)).state is OutcomeState.DELIVERED
        full = await sender.send(at, b"hello", 60)
        assert full.state is OutcomeState.RETRY
        assert "127.0.0.1" in full.reason
        receiver.let_go()
        assert receiver.most_at_once == 3
        await asyncio.gather(*waiting)


async def test_a_push_without_a_topic_replaces_none(vapid: Vapid) -> None:
    async with PushReceiver() as receiver, pusher(vapid) as sender:
        await sender.send(receiver.subscription(), b"hello", 60)
    assert "Topic" not in receiver.pushes[0].headers


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (200, OutcomeState.DELIVERED),
        (201, OutcomeState.DELIVERED),
        (202, OutcomeState.DELIVERED),
        (400, OutcomeState.FAILED),
        (401, OutcomeState.FAILED),
        (403, OutcomeState.FAILED),
        (404, OutcomeState.GONE),
        (408, OutcomeState.RETRY),
        (410, OutcomeState.GONE),
        (413, OutcomeState.FAILED),
        (429, OutcomeState.RETRY),
        (500, OutcomeState.RETRY),
        (503, OutcomeState.RETRY),
    ],
)
async def test_what_the_service_answers_decides_what_comes_next(status: int, state: OutcomeState, vapid: Vapid) -> None:
    outcome = await push_once(vapid, (status, {}, '{"reason": "Because"}'))
    assert outcome.state is state
    assert f"127.0.0.1 answers {status}" in outcome.reason
    assert "Because" in outcome.reason


async def test_the_wait_that_the_service_asks_for_is_told(vapid: Vapid) -> None:
    assert (await push_once(vapid, (429, {"Retry-After": "120"}, ""))).retry_after_s == 120


@pytest.mark.parametrize(
    ("header", "expected_s"),
    [
        ("120", 120.0),
        ("0", 0.0),
        ("9999999999", DAY_S),
        ("Wed, 18 Nov 2026 11:07:40 GMT", 60.0),
        ("Wed, 18 Nov 2020 11:07:40 GMT", 0.0),
        ("soon", None),
        ("-5", None),
        ("²", None),
        ("", None),
        (None, None),
    ],
)
def test_retry_after_is_seconds_or_a_date_and_bounded(header: str | None, expected_s: float | None) -> None:
    assert wait_s(header, NOW_S) == expected_s


async def test_a_redirect_is_not_followed(vapid: Vapid) -> None:
    async with PushReceiver() as receiver, pusher(vapid) as sender:
        receiver.answers.append((307, {"Location": f"{receiver.origin}/push/elsewhere"}, ""))
        assert (await sender.send(receiver.subscription(), b"hello", 60)).state is OutcomeState.FAILED
        assert receiver.requests == 1


async def test_a_service_that_hangs_costs_no_more_than_the_timeout(vapid: Vapid) -> None:
    async with PushReceiver() as receiver, pusher(vapid, timeout_s=SHORT_S) as sender:
        receiver.answers.append((HANG, {}, ""))
        async with asyncio.timeout(30):
            outcome = await sender.send(receiver.subscription(), b"hello", 60)
        assert outcome.state is OutcomeState.RETRY
        assert f"did not answer within {SHORT_S:g} s" in outcome.reason


async def test_nobody_there_is_to_be_tried_again(vapid: Vapid) -> None:
    async with PushReceiver() as receiver:
        subscription = receiver.subscription()
    async with pusher(vapid) as sender:
        assert (await sender.send(subscription, b"hello", 60)).state is OutcomeState.RETRY


async def test_a_push_goes_to_a_name_as_well(vapid: Vapid) -> None:
    async with PushReceiver() as receiver, pusher(vapid) as sender:
        receiver.origin = receiver.origin.replace("127.0.0.1", "localhost")
        assert (await sender.send(receiver.subscription(), b"hello", 60)).state is OutcomeState.DELIVERED


async def test_many_pushes_at_once_use_a_bounded_number_of_connections(vapid: Vapid) -> None:
    async with PushReceiver() as receiver, pusher(vapid, max_connections=3) as sender:
        outcomes = await asyncio.gather(*(sender.send(receiver.subscription(), b"hello", 60) for _ in range(20)))
        assert {outcome.state for outcome in outcomes} == {OutcomeState.DELIVERED}
        assert receiver.most_at_once <= 3


async def test_a_payload_that_is_too_large_is_not_sent(vapid: Vapid) -> None:
    async with PushReceiver() as receiver, pusher(vapid) as sender:
        assert (await sender.send(receiver.subscription(), b"x" * MAX_PAYLOAD_BYTES, 60)).state is OutcomeState.DELIVERED
        assert (await sender.send(receiver.subscription(), b"x" * (MAX_PAYLOAD_BYTES + 1), 60)).state is OutcomeState.FAILED
        assert receiver.requests == 1


async def test_a_subscription_that_was_stored_under_laxer_rules_is_not_called(vapid: Vapid) -> None:
    async with PushReceiver() as receiver, pusher(vapid, allow_loopback=False) as sender:
        assert (await sender.send(receiver.subscription(), b"hello", 60)).state is OutcomeState.FAILED
        assert receiver.requests == 0


async def test_keys_that_nothing_can_be_encrypted_for_are_final(vapid: Vapid) -> None:
    async with PushReceiver() as receiver, pusher(vapid) as sender:
        broken = msgspec.structs.replace(receiver.subscription(), p256dh="AAAA")
        assert (await sender.send(broken, b"hello", 60)).state is OutcomeState.FAILED


async def test_a_closed_pusher_sends_nothing_and_may_be_closed_again(vapid: Vapid) -> None:
    async with PushReceiver() as receiver, pusher(vapid) as sender:
        await sender.close()
        assert (await sender.send(receiver.subscription(), b"hello", 60)).state is OutcomeState.RETRY
        assert receiver.requests == 0


async def test_closing_waits_for_the_pushes_under_way(vapid: Vapid) -> None:
    async with PushReceiver() as receiver, pusher(vapid, timeout_s=600.0, max_connections=4) as sender:
        receiver.answers += [(HANG, {}, "")] * 2
        pushes = [asyncio.create_task(sender.send(receiver.subscription(), b"hello", 60)) for _ in range(3)]
        await eventually(lambda: receiver.at_once == 2)
        closing = asyncio.create_task(sender.close())
        await asyncio.sleep(0)  # it has begun
        assert not closing.done()
        receiver.let_go()
        await closing
        assert all(push.done() for push in pushes)
        reasons = [(await push).reason for push in pushes]
    assert [reason == "this node is closing" for reason in reasons] == [False, False, True]


async def test_a_status_counts_also_where_the_rest_of_the_answer_never_comes(vapid: Vapid) -> None:
    async def cut_short(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 201 Created\r\nContent-Length: 100\r\n\r\n")
        await writer.drain()
        await reader.read()
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        ended.set()

    ended = asyncio.Event()
    async with await asyncio.start_server(cut_short, "127.0.0.1", 0) as server:
        async with pusher(vapid, timeout_s=SHORT_S) as sender:
            endpoint = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/push"
            assert (await sender.send(msgspec.structs.replace(GOOD, endpoint=endpoint), b"hello", 60)).state is OutcomeState.DELIVERED
        async with asyncio.timeout(30):
            await ended.wait()


def test_a_good_subscription_is_taken() -> None:
    GOOD.check()


@pytest.mark.parametrize(
    "endpoint",
    [
        "",
        "push.example.org/send/abc",
        "http://push.example.org/send/abc",
        "ftp://push.example.org/",
        "https://user:password@push.example.org/",
        "https://push.example.org/a b",
        "https://push.example.org/\r\nHost: x",
        "https://püsh.example.org/",
        "https://push.example.org:99999/",
        "https://push.example.org/" + "a" * 2048,
        "https://localhost/",
        "https://intranet/",
        "https://127.0.0.1/",
        "https://127.1/",
        "https://2130706433/",
        "https://0x7f.1/",
        "https://10.0.0.0x1/",
        "https://169.254.169.254/latest/meta-data/",
        "https://[::1]/",
        "https://[::ffff:10.0.0.1]/",
        "https://a\\@push.example.org/",
        f"https://{'a' * 64}.example.org/",
        f"https://{'a.' * 127}org/",
        "https://push..example.org/",
        "https://%6c%6fcalhost/",
    ],
)
def test_an_endpoint_that_is_not_on_the_public_internet_behind_https_is_refused(endpoint: str) -> None:
    with pytest.raises(Refused, match="bad-field: endpoint"):
        msgspec.structs.replace(GOOD, endpoint=endpoint).check()


@settings(max_examples=60)
@given(st.text(max_size=60) | st.from_regex(r"https?://[!-~]{0,40}", fullmatch=True))
def test_any_text_is_an_endpoint_or_refused(endpoint: str) -> None:
    with contextlib.suppress(Refused):
        url = check_endpoint(endpoint, allow_loopback=True)
        assert url.scheme == "https" or url.host in ("localhost", "127.0.0.1")
        assert url.user is None


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:8080/push", "http://localhost/push", "https://localhost/push"])
def test_this_machine_is_called_only_where_the_operator_allows_it(endpoint: str) -> None:
    subscription = msgspec.structs.replace(GOOD, endpoint=endpoint)
    subscription.check(allow_loopback=True)
    with pytest.raises(Refused, match="bad-field"):
        subscription.check()


@pytest.mark.parametrize("endpoint", ["http://10.0.0.1/", "https://10.0.0.1/", "http://push.example.org/", "ftp://localhost/"])
def test_allowing_this_machine_allows_nothing_else(endpoint: str) -> None:
    with pytest.raises(Refused, match="bad-field"):
        msgspec.structs.replace(GOOD, endpoint=endpoint).check(allow_loopback=True)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ({"auth": "AAAA"}, "auth must be 16 bytes"),
        ({"auth": "?" * 22}, "auth must be 16 bytes"),
        ({"auth": "A" * 21}, "auth must be 16 bytes"),
        ({"p256dh": "AAAA"}, "p256dh must be an uncompressed"),
        ({"p256dh": "B" + "A" * 86}, "no point of the curve"),
    ],
)
def test_keys_of_the_wrong_form_are_refused(wrong: dict[str, str], complaint: str) -> None:
    with pytest.raises(Refused, match=complaint):
        msgspec.structs.replace(GOOD, **wrong).check()


def test_a_contact_that_push_services_would_refuse_is_a_mistake_in_the_configuration(vapid: Vapid) -> None:
    with pytest.raises(ConfigError, match=r"push\.contact 'ops' must be like mailto:"):
        Pusher(PushOptions(contact="ops"), vapid)


def test_a_push_says_what_to_show_and_fits_whatever_a_payload_holds() -> None:
    line = Line(
        topic=f"hm://playlist/user/{'u' * 128}/playlist/{'p' * 128}/",
        cls="playlist",
        kind="track-added",
        ts_ms=1_795_000_000_000,
        id="i" * 64,
        payload={"playlist_name": "🎵" * 10_000, "track_name": '"\\' * 10_000, "user": "字" * 10_000},
    )
    payload = push_payload(line)
    assert len(payload) <= MAX_PAYLOAD_BYTES
    shown = msgspec.json.decode(payload)
    assert set(shown) == {"title", "body", "topic", "class", "kind", "ts", "id"}
    assert shown["title"].startswith("字字字")


def test_collapse_keys_are_equal_for_equal_texts_only_and_fit_the_header() -> None:
    assert collapse_key("a") == collapse_key("a") != collapse_key("b")
    assert len(collapse_key("a" * 1000)) == 32


def test_the_state_directory_is_where_the_key_lives(tmp_path: Path) -> None:
    assert Vapid.ensure(tmp_path).public_key == Vapid.ensure(tmp_path).public_key
