"""What a publishing service can send that is wrong: the status and the code say what, and nobody else notices."""

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from infra.kernel.codes import BY_NAME
from tests.support.bystander import Watched

EVENT = {"topic": "hm://presence/user/eve/", "kind": "play", "payload": {}}
NDJSON = "application/x-ndjson"


def event(**changed: Any) -> bytes:
    """Returns an event as JSON, with some fields changed, or left out if they are None."""
    return json.dumps({name: value for name, value in {**EVENT, **changed}.items() if value is not None}).encode()


BROKEN: dict[str, tuple[bytes, str]] = {
    "no JSON": (b"{", "bad-json"),
    "two values": (event() + event(), "bad-json"),
    "a byte order mark": (b"\xef\xbb\xbf" + event(), "bad-json"),
    "brackets without end": (b'{"topic":' + b"[" * 10_000, "bad-field"),
    "a payload of brackets without end": (b'{"payload":{"a":' + b"[" * 10_000, "bad-json"),
    "half a surrogate pair": (event(payload={"a": "?"}).replace(b"?", rb"\ud800"), "bad-json"),
    "a control character in a text": (event(payload={"a": "?"}).replace(b"?", b"\r"), "bad-json"),
}
WRONG: dict[str, tuple[bytes, str]] = {
    "a text": (b'"play"', "bad-field"),
    "a missing field": (event(kind=None), "bad-field"),
    "an unknown field": (event(to="everybody"), "bad-field"),
    "a field of a wrong type": (event(topic=7), "bad-field"),
    "a wrong topic": (event(topic="hm://presence/user/eve"), "bad-topic"),
    "a wrong kind": (event(kind="Play!"), "bad-field"),
    "a wrong id": (event(id="a b"), "bad-field"),
    "a payload that is a list": (event(payload=[]), "bad-field"),
    "a payload that is a text": (event(payload="loud"), "bad-field"),
    "a payload that goes deep": (event(payload={"a": 0}).replace(b"0", b"[" * 40 + b"]" * 40), "bad-json"),
    "a payload that is too large": (event(payload={"a": "x" * (16 << 10)}), "too-large"),
    "bad UTF-8 in the payload": (event(payload={"a": "?"}).replace(b"?", b"\xff"), "bad-utf8"),
    "bad UTF-8 in the topic": (event(topic="?").replace(b"?", b"\xff"), "bad-utf8"),
    "bad UTF-8 in a name": (event(b=1).replace(b'"b"', b'"\xff"'), "bad-utf8"),
}


@pytest.mark.parametrize("name", BROKEN | WRONG)
async def test_a_wrong_event_is_refused_alone_and_rejected_by_its_position_among_right_ones(name: str, place: Watched) -> None:
    body, code = (BROKEN | WRONG)[name]
    status, answer = await place.post(body)
    assert (status, answer["code"], answer["number"]) == (BY_NAME[code].http, code, BY_NAME[code].number)
    assert answer["reason"]
    requests = [(b"\n".join([event(), body, event()]), NDJSON)]
    if name in WRONG:
        requests.append((b"[%b]" % b",".join([event(), body, event()]), "application/json"))
    for request, content_type in requests:
        status, answer = await place.post(request, content_type)
        assert (status, answer["accepted"]) == (202, 2)
        assert [(each["index"], each["code"], each["number"]) for each in answer["rejected"]] == [(1, code, BY_NAME[code].number)]
    assert place.door.door.handlers.rejected == {code: 1 + len(requests)}


@pytest.mark.parametrize("body", [b"", b" ", b"[", b"[{},", b"[{}]]", b"[" * 100_000])
async def test_a_body_that_is_no_json_is_refused_as_a_whole(body: bytes, place: Watched) -> None:
    status, answer = await place.post(body)
    assert (status, answer["code"]) == (400, "bad-json")


async def test_a_body_of_another_kind_is_refused_before_it_is_read(place: Watched) -> None:
    zipped = gzip.compress(event())
    for status, answer in (
        await place.post(event(), "text/plain"),
        await place.post(event(), "application/json+ld; charset=utf-8"),
        await place.post(zipped, "application/gzip"),
        await place.post(zipped, **{"Content-Encoding": "gzip"}),
    ):
        assert (status, answer["code"], answer["number"]) == (415, "bad-content-type", 4115)


@pytest.mark.parametrize(
    ("method", "path", "status", "code"),
    [("GET", "/v1/events", 405, "bad-method"), ("PUT", "/v1/events", 405, "bad-method"), ("POST", "/v2/events", 404, "not-found")],
)
async def test_a_request_for_something_else_is_told_so(method: str, path: str, status: int, code: str, place: Watched) -> None:
    async with place.cluster.http.request(method, f"http://{place.door.address}{path}") as answer:
        assert (answer.status, (await answer.json())["code"]) == (status, code)
        assert answer.headers.get("Allow") == ("POST" if status == 405 else None)


@pytest.mark.parametrize("chunked", [False, True], ids=["length", "chunked"])
async def test_a_body_over_the_limit_is_refused_while_it_is_being_sent(chunked: bool, place: Watched) -> None:
    body = b"[" + b",".join([event()] * 40_000) + b"]"
    status, answer = await place.post(pieces(body) if chunked else body)
    assert (status, answer["code"]) == (413, "too-large")


async def pieces(body: bytes) -> AsyncIterator[bytes]:
    for start in range(0, len(body), 1 << 16):
        yield body[start : start + (1 << 16)]


async def test_a_line_that_is_too_long_is_rejected_and_the_next_one_accepted(place: Watched) -> None:
    body = event() + b"\n" + b" " * (1 << 19) + b"\n" + event()
    status, answer = await place.post(body, NDJSON)
    assert (status, answer["accepted"]) == (202, 2)
    assert [(each["index"], each["code"]) for each in answer["rejected"]] == [(1, "too-large")]


async def test_a_line_that_is_too_long_is_rejected_by_its_position_and_those_around_it_accepted(place: Watched) -> None:
    body = event() + b"\n" + event(payload={"a": "x" * 100_000}) + b"\n" + event()
    status, answer = await place.post(pieces(body), NDJSON)
    assert (status, answer["accepted"], [(each["index"], each["code"]) for each in answer["rejected"]]) == (202, 2, [(1, "too-large")])


async def test_a_line_without_end_is_refused_while_it_is_being_sent(place: Watched) -> None:
    status, answer = await place.post(event() + b"\n" + b" " * (2 << 20), NDJSON)
    assert (status, answer["code"]) == (413, "too-large")


async def test_a_stream_of_nothing_but_rubbish_is_refused_as_a_whole_and_soon(place: Watched) -> None:
    """Half a million wrong events in a megabyte must not get an answer of seventy."""
    status, answer = await place.post(b"0\n" * 500_000, NDJSON)
    assert (status, answer["code"]) == (400, "bad-field")
    assert "over 1000 events were rejected, the first at 0" in answer["reason"]
    await place.undisturbed()


@pytest.mark.parametrize("one", [b"0", event()], ids=["rubbish", "events"])
async def test_an_array_has_so_many_events_because_it_is_dealt_with_in_one_turn(one: bytes, place: Watched) -> None:
    """DPS-26."""
    status, answer = await place.post(b"[" + b",".join([one] * 1001) + b"]", "application/json")
    assert (status, answer["code"]) == (413, "too-large")
    assert answer["reason"] == "an array of 1001 events; send at most 1000, or NDJSON, which may be of any length"
    await place.undisturbed()


async def test_what_is_no_http_is_answered_and_closed(place: Watched) -> None:
    host, _, port = place.door.address.rpartition(":")
    for garbage in (b"\x16\x03\x01\x02\x00\x01\x00", b"segue\r\n\r\n", b"POST /v1/events HTTP/1.1\r\nContent-Length: -1\r\n\r\n"):
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(garbage)
        async with asyncio.timeout(30):
            answer = await reader.read()
        assert answer.startswith(b"HTTP/1.1 400 ")
        assert b'"bad-request"' in answer
        writer.close()
        await writer.wait_closed()
