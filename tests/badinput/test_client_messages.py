"""What a client can say that is wrong: it gets the documented code, and nobody else notices."""

import json
from typing import Any

import pytest

from infra.kernel.codes import BY_NAME
from infra.kernel.shares import SHARE
from infra.kernel.websocket_reader import FRAME_COST
from tests.support.bystander import Watched
from tests.support.client_frames import client_frame

FEED = "hm://presence/user/dan/"

WRONG_MESSAGES = {
    "no JSON": (b"{", "bad-json"),
    "two values": (b'{"op":"ping"} {"op":"ping"}', "bad-json"),
    "an empty text": (b"", "bad-json"),
    "an unknown op, then no JSON": (b'{"op":"dance", x', "bad-json"),
    "a wrong type, then brackets without end": (b'{"op":"subscribe","topics":5,"x":' + b"[" * 100_000, "bad-json"),
    "brackets without end": (b"[" * 100_000, "bad-json"),
    "an action that goes deep": (b'{"op":"act","kind":"play","a":' + b"[" * 40 + b"]" * 40 + b"}", "bad-json"),
    "an array": (b'["op","ping"]', "bad-field"),
    "no op": (b"{}", "bad-field"),
    "an op that is no text": (b'{"op":1}', "bad-field"),
    "a wrong type, then a number out of range": (b'{"op":"subscribe","topics":5,"x":1e999}', "bad-field"),
    "an unknown op": (b'{"op":"dance"}', "unknown-op"),
    "a missing field": (b'{"op":"subscribe"}', "bad-field"),
    "a field of a wrong type": (b'{"op":"subscribe","topics":"hm://presence/user/dan/"}', "bad-field"),
    "a wrong choice": (b'{"op":"subscribe","topics":[],"wait":"never"}', "bad-field"),
    "an id that is no id": (b'{"op":"subscribe","topics":[],"id":{}}', "bad-field"),
    "hello twice": (b'{"op":"hello","token":""}', "hello-again"),
    "an action without a kind": (b'{"op":"act"}', "bad-field"),
    "an action that nobody knows": (b'{"op":"act","kind":"dance"}', "bad-field"),
    "a request that no service answers": (b'{"op":"pull"}', "unavailable"),
    "a wrong URI to leave": (b'{"op":"unsubscribe","topics":["hm://presence/dan"]}', "bad-topic"),
}


@pytest.mark.parametrize("name", WRONG_MESSAGES)
async def test_a_wrong_message_is_answered_with_its_code_and_the_conversation_goes_on(name: str, place: Watched) -> None:
    text, code = WRONG_MESSAGES[name]
    async with place.client() as client:
        await client.hello(place.token("eve"))
        await client.text(text)
        error = await client.next("error")
        assert (error["code"], error["number"]) == (code, BY_NAME[code].number)
        assert error["reason"]
        await place.undisturbed()
        await client.say({"op": "ping"})
        await client.next("pong")


async def test_an_error_carries_the_id_of_the_message_that_it_answers(place: Watched) -> None:
    async with place.client() as client:
        await client.hello(place.token("eve"))
        for id_ in (7, "seven", 10**30):
            await client.say({"op": "dance", "id": id_})
            assert (await client.next("error"))["id"] == id_


@pytest.mark.parametrize(
    "uri",
    [
        "",
        "presence/user/dan/",
        "hm://presence/user/dan",
        "hm://presence/user//",
        "hm://presence/user/d%20n/",
        "hm://presence/user/" + "d" * 129 + "/",
        "hm://playlist/user/dan/playlist/",
        "hm://notifications/feed/dan%new-moon/",
        "hm://presence/user/dän/",
        "HM://presence/user/dan/",
        "hm://presence/user/dan/\n",
    ],
)
async def test_a_wrong_uri_is_rejected_and_the_right_one_beside_it_installed(uri: str, place: Watched) -> None:
    """SB-1, SB-2."""
    async with place.client() as client:
        await client.hello(place.token("eve"))
        await client.say({"op": "subscribe", "id": 1, "topics": [uri, FEED], "wait": "all"})
        answer = await client.next("subscribed")
        (rejected,) = answer["rejected"]
        assert (rejected["topic"], rejected["code"], rejected["number"], "hm://" in rejected["reason"]) == (uri, "bad-topic", 4109, True)
        await place.undisturbed()
        assert (await client.next("event"))["topic"] == FEED


async def test_ten_thousand_topics_in_one_message_are_refused_as_a_whole() -> None:
    async with Watched(point={"max_message_bytes": 1 << 20}) as place, place.client() as client:
        await client.hello(place.token("eve"))
        before = place.point.core.hub.subscriptions
        await client.say({"op": "subscribe", "id": 1, "topics": [f"hm://presence/user/u{n}/" for n in range(10_000)]})
        error = await client.next("error")
        assert (error["code"], error["id"]) == ("too-many-topics", 1)
        assert "2000" in error["reason"]
        assert place.point.core.hub.subscriptions == before


async def test_ten_thousand_topics_are_too_large_a_message_as_a_rule(place: Watched) -> None:
    topics = json.dumps([f"hm://presence/user/user-{n}/" for n in range(10_000)]).encode()
    async with place.client() as client:
        await client.hello(place.token("eve"))
        await client.text(b'{"op":"subscribe","topics":%b}' % topics)
        closed, errors = await client.end()
        assert (closed, [error["code"] for error in errors]) == (4102, ["too-large"])


async def test_topics_over_the_limit_of_a_connection_are_rejected_and_those_it_has_are_not() -> None:
    async with Watched(point={"max_topics": 3}) as place, place.client() as client:
        await client.hello(place.token("eve"))
        topics = [f"hm://presence/user/u{n}/" for n in range(5)]
        for _ in range(2):  # subscribing is idempotent, at the limit too
            await client.say({"op": "subscribe", "topics": topics})
            rejected = (await client.next("subscribed"))["rejected"]
            assert [(each["topic"], each["code"]) for each in rejected] == [(topic, "too-many-topics") for topic in topics[3:]]
        await client.say({"op": "unsubscribe", "topics": topics[:1]})
        await client.say({"op": "subscribe", "topics": topics[4:]})
        assert (await client.next("subscribed"))["rejected"] == []


async def test_messages_over_the_limit_of_a_second_wait_in_the_socket_and_are_all_answered_later() -> None:
    """DPS-26: not one of them is answered with an error, or lost."""
    async with Watched(point={"max_messages_per_s": 20}) as place, place.client() as client:
        now_s = place.now_s()
        place.stop_clock(now_s)  # however long it takes
        await client.hello(place.token("eve"))
        for n in range(100):
            await client.say({"op": "unsubscribe", "topics": [], "id": n})
        await place.cluster.until(lambda: place.point.core.pace.rests == 1)
        transport = place.session("eve")._transport
        assert not transport.is_reading()
        assert len(client.messages) <= 1 + 2 * 20 + SHARE // FRAME_COST  # a burst of two seconds
        while len(client.messages) < 101:
            now_s += 1
            place.stop_clock(now_s)
            before = len(client.messages)
            await client.until(lambda: len(client.messages) > before)  # noqa: B023
        assert [message["id"] for message in client.messages[1:]] == list(range(100))
        place.stop_clock(None)


BEFORE_HELLO = {
    "a subscribe": (client_frame(1, b'{"op":"subscribe","topics":[]}'), "hello-first"),
    "a ping message": (client_frame(1, b'{"op":"ping"}'), "hello-first"),
}
BROKEN_FRAMES = {
    "a binary frame": (client_frame(2, b"\x00"), "bad-frame"),
    "a frame without a mask": (client_frame(1, b"{}", masked=False), "bad-frame"),
    "a frame with a reserved bit": (client_frame(1, b"{}", reserved=4), "bad-frame"),
    "a long ping": (client_frame(9, b"x" * 126), "bad-frame"),
    "no frame at all": (b"GET / HTTP/1.1\r\n\r\n", "bad-frame"),
    "bad UTF-8": (client_frame(1, b'{"op":"pi\xffng"}'), "bad-utf8"),
    "half a surrogate pair in UTF-8": (client_frame(1, b'{"op":"\xed\xa0\x80"}'), "bad-utf8"),
    "ten megabytes": (client_frame(1, b" " * (10 << 20)), "too-large"),
    "the header of ten megabytes": (b"\x81\xff" + (10 << 20).to_bytes(8, "big"), "too-large"),
    "ten megabytes in fragments": (b"".join(client_frame(0 if n else 1, b" " * 60_000, final=False) for n in range(175)), "too-large"),
}


@pytest.mark.parametrize("name", BEFORE_HELLO | BROKEN_FRAMES)
@pytest.mark.parametrize("welcomed", [False, True], ids=["stranger", "welcomed"])
async def test_what_breaks_the_protocol_ends_the_connection_with_its_number(name: str, welcomed: bool, place: Watched) -> None:
    frame, code = (BEFORE_HELLO | BROKEN_FRAMES)[name]
    async with place.client() as client:
        if welcomed:
            await client.hello(place.token("eve"))
        await client.send(frame)
        if name in BEFORE_HELLO and welcomed:
            await client.until(lambda: len(client.messages) == 2)
            assert client.messages[1]["op"] in ("subscribed", "pong")
            return
        await place.undisturbed()
        closed, errors = await client.end()
        assert (closed, [(error["code"], error["number"]) for error in errors]) == (BY_NAME[code].number, [(code, BY_NAME[code].number)])
        assert place.point.core.refusals[code] == 1


async def test_messages_before_a_violation_are_answered_and_those_after_it_are_not(place: Watched) -> None:
    ping = client_frame(1, b'{"op":"ping"}')
    async with place.client() as client:
        await client.hello(place.token("eve"))
        await client.send(ping + ping + client_frame(2, b"") + ping)
        await client.end()
        assert [message["op"] for message in client.messages] == ["welcome", "pong", "pong", "error"]


async def test_no_handshake_is_an_http_answer_that_teaches(place: Watched) -> None:
    headers = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "x" * 24}
    cases: list[tuple[str, str, dict[str, str], int, str]] = [
        ("GET", "/v1/connect", {}, 400, "bad-handshake"),
        ("GET", "/v1/connect", headers, 400, "bad-handshake"),
        ("POST", "/v1/connect", {}, 405, "bad-method"),
        ("GET", "/v2/connect", headers, 404, "not-found"),
    ]
    for method, path, sent, status, code in cases:
        async with place.cluster.http.request(method, f"http://{place.point.address}{path}", headers=sent) as answer:
            body: Any = json.loads(await answer.read())
            assert (answer.status, body["code"], body["number"]) == (status, code, BY_NAME[code].number)
