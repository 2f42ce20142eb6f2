"""What the HTTP door says to what it cannot or will not answer."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.kernel.codes import ALL
from infra.kernel.errors import Refused
from infra.runtime.http.door import Response, json_error
from tests.support.http_desk import HANDSHAKE, MAX_BODY_BYTES, Answers, Desk, answered, get, only, post, send


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    async with Desk(max_unanswered=4, max_connections=3) as made:
        yield made


@pytest.mark.parametrize("code", ALL, ids=lambda code: code.name)
def test_a_refusal_is_answered_with_the_status_and_the_row_of_the_table(code: Any) -> None:
    response = json_error(Refused(code.name, "because"))
    assert response.status == code.http
    assert json.loads(response.body) == {"code": code.name, "number": code.number, "reason": "because"}
    assert (("Retry-After", "1") in response.headers) == (code.http in (429, 503))
    assert f"HTTP/1.1 {code.http} ".encode() in response.encode()


REFUSED = {
    "unknown path": (get("/nowhere"), 404, "not-found"),
    "no path": (get("*", method="OPTIONS"), 404, "not-found"),
    "wrong method": (get("/echo", method="DELETE"), 405, "bad-method"),
    "refused by the factory": (post("/closed", b"short"), 403, "forbidden"),
    "no handshake": (get("/ws"), 400, "bad-handshake"),
    "no GET": (get("/ws", method="POST"), 405, "bad-method"),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_a_refused_head_is_answered_and_the_connection_goes_on(desk: Desk, name: str) -> None:
    request, status, code = REFUSED[name]
    assert only(desk.serve(request))[:2] == (status, code)
    assert [found for found, _ in answered(desk.serve(request + get("/echo")))] == [status, 200]


CHUNKED = get("/echo", "Transfer-Encoding: chunked", method="POST")
WRONG = {
    "TLS": (b"\x16\x03\x01\x02\x00\x01\x00", 400, "bad-request"),
    "unknown version": (b"GET /echo HTTP/3.0\r\n\r\n", 400, "bad-request"),
    "two lengths": (get("/echo", "Content-Length: 1", "Content-Length: 2"), 400, "bad-request"),
    "length and chunks": (get("/echo", "Content-Length: 1", "Transfer-Encoding: chunked"), 400, "bad-request"),
    "the same length twice": (get("/echo", "Content-Length: 1", "Content-Length: 1"), 400, "bad-request"),
    "a list of lengths": (get("/echo", "Content-Length: 1, 1"), 400, "bad-request"),
    "a length with a sign": (get("/echo", "Content-Length: +1"), 400, "bad-request"),
    "a blank before the colon": (get("/echo", "Content-Length : 1"), 400, "bad-request"),
    "chunks and length": (get("/echo", "Transfer-Encoding: chunked", "Content-Length: 1"), 400, "bad-request"),
    "a length in the trailer": (CHUNKED + b"0\r\nContent-Length: 5\r\n\r\n", 400, "bad-request"),
    "chunks twice": (get("/echo", "Transfer-Encoding: chunked", "Transfer-Encoding: chunked", method="POST"), 400, "bad-request"),
    "another coding": (get("/echo", "Transfer-Encoding: gzip, chunked", method="POST"), 400, "bad-request"),
    "a coding in quotes": (get("/echo", 'Transfer-Encoding: "chunked"', method="POST"), 400, "bad-request"),
    "a coding after chunks": (get("/echo", "Transfer-Encoding: chunked, gzip", method="POST"), 400, "bad-request"),
    "chunks in HTTP/1.0": (CHUNKED.replace(b"HTTP/1.1", b"HTTP/1.0") + b"0\r\n\r\n", 400, "bad-request"),
    "chunks in HTTP/1.0 kept alive": (
        get("/echo", "Connection: keep-alive", "Transfer-Encoding: chunked", method="POST").replace(b"HTTP/1.1", b"HTTP/1.0")
        + b"0\r\n\r\n",
        400,
        "bad-request",
    ),
    "a folded header": (get("/echo", "X-One: a\r\n b"), 400, "bad-request"),
    "a folded coding": (get("/echo", "Transfer-Encoding:\r\n chunked", method="POST"), 400, "bad-request"),
    "bare line feeds": (get("/echo").replace(b"\r\n", b"\n"), 400, "bad-request"),
    "one bare line feed": (get("/echo", "X-One: a\nX-Two: b"), 400, "bad-request"),
    "a bare carriage return": (get("/echo", "X-One: a\rX-Two: b"), 400, "bad-request"),
    "bare line feeds in chunks": (CHUNKED + b"1\nx\n0\n\n", 400, "bad-request"),
    "a line feed in a chunk's extension": (CHUNKED + b"1;a\nb\r\nx\r\n0\r\n\r\n", 400, "bad-request"),
    "a negative chunk": (CHUNKED + b"-1\r\nx\r\n0\r\n\r\n", 400, "bad-request"),
    "a chunk size that overflows": (CHUNKED + b"f" * 17 + b"\r\nx\r\n0\r\n\r\n", 400, "bad-request"),
    "a chunk longer than it says": (CHUNKED + b"1\r\nxGET /echo HTTP/1.1\r\n", 400, "bad-request"),
    "a zero byte": (get("/echo", "X-One: a\0b"), 400, "bad-request"),
    "no host": (b"GET /echo HTTP/1.1\r\n\r\n", 400, "bad-request"),
    "two hosts": (get("/echo", "Host: y"), 400, "bad-request"),
    "the same host twice": (get("/echo", "Host: x"), 400, "bad-request"),
    "two hosts in HTTP/1.0": (get("/echo", "Host: y").replace(b"HTTP/1.1", b"HTTP/1.0"), 400, "bad-request"),
    "no version": (b"GET /echo\r\n\r\n", 400, "bad-request"),
    "a version that is spoken in frames": (get("/echo").replace(b"HTTP/1.1", b"HTTP/2.0"), 400, "bad-request"),
    "a handshake without host": (HANDSHAKE.replace(b"Host: x\r\n", b""), 400, "bad-request"),
    "a handshake with two hosts": (HANDSHAKE.replace(b"Host: x\r\n", b"Host: x\r\nHost: y\r\n"), 400, "bad-request"),
    "chunk without size": (CHUNKED + b"not a number\r\n", 400, "bad-request"),
    "proxy": (get("x:443", method="CONNECT"), 400, "bad-request"),
    "upgrade with body": (post("/echo", b"x", "Upgrade: h2c", "Connection: Upgrade"), 400, "bad-request"),
    "long header": (get("/echo", "X-Long: " + "x" * 9000), 413, "too-large"),
    "a header very often": (get("/echo", *(["X-A-Name-Of-Some-Length: 1"] * 400)), 413, "too-large"),
    "endless header": (get("/echo", "X-Endless: " + "x" * 9000)[:-4], 413, "too-large"),
    "endless trailer": (CHUNKED + b"0\r\nX-Endless: " + b"x" * 20000, 413, "too-large"),
    "long body announced": (get("/echo", f"Content-Length: {MAX_BODY_BYTES + 1}", "Expect: 100-continue", method="POST"), 413, "too-large"),
    "long body": (CHUNKED + b"5000\r\n" + b"x" * 20480, 413, "too-large"),
    "refused with a long body": (get("/closed", "Content-Length: 100000", method="POST"), 403, "forbidden"),
    "refused before the body": (get("/closed", "Content-Length: 5", "Expect: 100-continue", method="POST"), 403, "forbidden"),
    "refused in the body": (get("/stream", "Content-Length: 500", method="POST") + b"hey!", 400, "bad-json"),
    "defect": (get("/broken"), 500, "internal-error"),
    "other subprotocol": (HANDSHAKE.replace(b"segue.v1", b"segue.v9"), 400, "bad-handshake"),
    "old handshake": (HANDSHAKE.replace(b"HTTP/1.1", b"HTTP/1.0"), 400, "bad-handshake"),
    "no room for the WebSocket": (HANDSHAKE.replace(b"/ws", b"/ws?full"), 503, "overloaded"),
}


@pytest.mark.parametrize("name", WRONG)
async def test_what_cannot_be_read_on_is_answered_at_once_and_ends_the_connection(desk: Desk, name: str) -> None:
    request, status, code = WRONG[name]
    transport = desk.serve(request)
    found = only(transport)
    assert found[:2] == (status, code)
    assert found[2]["Connection"] == "close"
    assert transport.half_closed, "a full close could reset the connection before the answer is read"
    assert only(send(transport, b"rest" * 5000)) == found


async def test_a_wrong_method_is_told_the_right_ones_and_head_gets_no_body(desk: Desk) -> None:
    assert only(desk.serve(get("/echo", method="DELETE")))[2]["Allow"] == "GET, POST"
    transport = desk.serve(get("/echo", method="HEAD"))
    assert transport.written.startswith(b"HTTP/1.1 405 ")
    assert transport.written.endswith(b"\r\n\r\n")


async def test_a_refused_answer_is_an_answer_whenever_it_comes(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    transport = desk.serve(get("/later") * 3)
    desk.later[0].set_exception(Refused("rate-limited"))
    desk.later[1].set_exception(ZeroDivisionError("of our making"))
    desk.later[2].cancel()
    await asyncio.sleep(0)
    assert [status for status, _ in answered(transport)] == [429, 500, 503]
    assert b"making" not in transport.written
    assert "of our making" in caplog.text


async def test_every_refusal_is_counted_once_whoever_says_it() -> None:
    """DPS-26: by the door itself, by a handler at once or later, by a defect, and to one who keeps us waiting."""
    async with Desk() as desk:
        for request in (
            get("/nowhere"),
            get("/ws"),
            get("/echo", method="DELETE"),
            post("/closed", b"short"),
            get("/broken"),
            get("/echo"),
        ):
            desk.serve(request)
        desk.serve(get("/later"))
        desk.later[0].set_exception(Refused("rate-limited"))
        await asyncio.sleep(0)
        desk.serve(b"garbage\r\n\r\n")
        desk.serve(b"GET /echo HTTP/1.1\r\n")
        desk.sweep(1_000)
    once = ("not-found", "bad-handshake", "bad-method", "forbidden", "internal-error", "rate-limited", "bad-request", "hello-timeout")
    assert desk.door.refusals == dict.fromkeys(once, 1)


async def test_an_error_comes_after_the_answers_that_are_owed(desk: Desk) -> None:
    transport = desk.serve(get("/later") + b"garbage\r\n\r\n")
    assert transport.writes == []
    desk.later[0].set_result(Response(200, b"1"))
    await asyncio.sleep(0)
    assert [(status, headers.get("Connection")) for status, headers, _ in Answers(transport).found] == [(200, None), (400, "close")]


@given(st.lists(st.binary(max_size=40) | st.sampled_from([get("/echo"), post("/echo", b"x"), HANDSHAKE, b"\r\n\r\n"]), max_size=5))
@settings(max_examples=80)
def test_garbage_gets_answers_with_documented_codes_whole_or_byte_by_byte(parts: list[bytes]) -> None:
    async def serve(chunks: list[bytes]) -> tuple[bytes, bool]:
        desk = Desk()
        transport = desk.serve(*chunks)
        desk.door.close()
        return transport.written, transport.half_closed

    stream = b"".join(parts)
    whole = asyncio.run(serve([stream]))
    assert asyncio.run(serve([stream[n : n + 1] for n in range(len(stream))])) == whole
