"""The HTTP door, byte for byte: order, bounds, refusals, time-outs. `test_http_loopback` has the real sockets."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from httptools import HttpResponseParser
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.kernel.codes import ALL
from infra.kernel.errors import Refused
from infra.kernel.websocket_handshake import accept_key
from infra.runtime.http import Answer, BufferedExchange, Exchange, Factory, Head, HttpDoor, HttpLimits, Response, json_error
from tests.support.recording_transport import RecordingTransport

MAX_BODY_BYTES = 20_000
KEY = "dGhlIHNhbXBsZSBub25jZQ=="
HANDSHAKE = (
    "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    f"Sec-WebSocket-Key: {KEY}\r\nSec-WebSocket-Protocol: segue.v1\r\n\r\n"
).encode()


class Stream(Exchange):
    """Takes a body piece by piece, and no exclamation marks."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    def chunk(self, data: bytes) -> None:
        if b"!" in data:
            raise Refused("bad-json", "no shouting")
        self._pieces.append(data)

    def end(self) -> Answer:
        return Response(202, b"%d" % len(self._pieces))


class Remembering(asyncio.Protocol):
    """Takes over from HTTP and remembers what it got."""

    def __init__(self) -> None:
        self.transport: asyncio.BaseTransport | None = None
        self.received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        assert self.transport is not None
        self.received += data


class Desk:
    """A door with a small service behind it: echo at once, later when the test says so, a stream, a WebSocket."""

    def __init__(self, **limits: Any) -> None:
        self.later: list[asyncio.Future[Response]] = []
        self.heads: list[Head] = []
        self.pieces: list[bytes] = []
        self.taken_over: list[Remembering] = []
        answering = {("GET", "/echo"): self.echo, ("POST", "/echo"): self.echo, ("GET", "/later"): self.wait}
        refusing: dict[tuple[str, str], Factory] = {
            ("POST", "/stream"): lambda head: Stream(self.pieces),
            ("POST", "/closed"): self.refuse,
            ("GET", "/broken"): self.break_down,
        }
        self.door = HttpDoor(
            {route: self.buffered(answer) for route, answer in answering.items()} | refusing,
            {"/ws": self.take_over},
            HttpLimits(**limits),
        )

    def buffered(self, answer: Any) -> Any:
        return lambda head: BufferedExchange(head, answer, MAX_BODY_BYTES)

    def echo(self, head: Head, body: bytes) -> Answer:
        self.heads.append(head)
        return Response(200, body or head.query.encode(), "text/plain")

    def wait(self, head: Head, body: bytes) -> Answer:
        self.later.append(asyncio.get_running_loop().create_future())
        return self.later[-1]

    def refuse(self, head: Head) -> Exchange:
        raise Refused("forbidden", "not yours")

    def break_down(self, head: Head) -> Exchange:
        raise ZeroDivisionError("of our making")

    def take_over(self, head: Head) -> asyncio.Protocol:
        if head.query == "full":
            raise Refused("overloaded")
        self.taken_over.append(Remembering())
        return self.taken_over[-1]

    def connect(self) -> RecordingTransport:
        return RecordingTransport(self.door.protocol_factory())

    def serve(self, *chunks: bytes) -> RecordingTransport:
        """A new connection that sent `chunks`."""
        return send(self.connect(), *chunks)

    def sweep(self, after_s: float) -> None:
        self.door.sweep(asyncio.get_running_loop().time() + after_s)


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    made = Desk(max_unanswered=4, max_connections=3)
    yield made
    made.door.close()
    await made.door.drained()


def send(transport: RecordingTransport, *chunks: bytes) -> RecordingTransport:
    for chunk in chunks:
        assert isinstance(transport.protocol, asyncio.Protocol)
        transport.protocol.data_received(chunk)
    return transport


def get(target: str, *headers: str, method: str = "GET") -> bytes:
    return "\r\n".join([f"{method} {target} HTTP/1.1", "Host: x", *headers, "", ""]).encode()


def post(target: str, body: bytes, *headers: str) -> bytes:
    return get(target, f"Content-Length: {len(body)}", *headers, method="POST") + body


class Answers:
    """What was answered: one (status, headers, body) for each response, as an independent parser reads them."""

    def __init__(self, transport: RecordingTransport) -> None:
        self.found: list[tuple[int, dict[str, str], bytes]] = []
        self._headers: dict[str, str] = {}
        self._body = b""
        self._parser = HttpResponseParser(self)
        self._parser.feed_data(transport.written)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._headers[name.decode()] = value.decode()

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        self.found.append((self._parser.get_status_code(), self._headers, self._body))
        self._headers, self._body = {}, b""


def answered(transport: RecordingTransport) -> list[tuple[int, bytes]]:
    return [(status, body) for status, _, body in Answers(transport).found]


def only(transport: RecordingTransport) -> tuple[int, str, dict[str, str]]:
    """Status, code and headers of the one answer, which is an error."""
    [(status, headers, body)] = Answers(transport).found
    error = json.loads(body)
    assert set(error) == {"code", "number", "reason"}
    return status, error["code"], headers


# Requests and their order


async def test_a_request_reaches_its_exchange_and_its_answer_the_client(desk: Desk) -> None:
    transport = desk.serve(post("/echo", b"hello", "X-Twice: a", "x-twice: b"))
    assert answered(transport) == [(200, b"hello")]
    [head] = desk.heads
    assert (head.method, head.path, head.query, head.keep_alive) == ("POST", "/echo", "", True)
    assert head.headers == {b"host": b"x", b"content-length": b"5", b"x-twice": b"a, b"}


async def test_a_query_is_kept_apart_from_the_path(desk: Desk) -> None:
    transport = desk.serve(get("/echo?a=%20b&c"), get("http://x/echo?absolute"))
    assert answered(transport) == [(200, b"a=%20b&c"), (200, b"absolute")]


@given(st.lists(st.binary(max_size=300), min_size=1, max_size=4), st.sampled_from([1, 7, 100, 1 << 20]))
@settings(max_examples=40, deadline=None)
def test_requests_in_any_chunking_get_the_same_answers(bodies: list[bytes], size: int) -> None:
    async def serve() -> None:
        desk = Desk()
        stream = b"".join(post("/echo", body) for body in bodies)
        transport = desk.serve(*(stream[start : start + size] for start in range(0, len(stream), size)))
        assert answered(transport) == [(200, body) for body in bodies]
        desk.door.close()

    asyncio.run(serve())


async def test_all_answers_to_one_chunk_leave_in_one_write(desk: Desk) -> None:
    transport = desk.serve(get("/echo?1") + get("/nowhere") + get("/echo?2"))
    assert [status for status, _ in answered(transport)] == [200, 404, 200]
    assert len(transport.writes) == 1


async def test_a_late_answer_holds_back_those_behind_it_and_then_all_leave_in_order(desk: Desk) -> None:
    transport = desk.serve(get("/later") + get("/echo?2") + get("/later"))
    assert transport.writes == []
    desk.later[1].set_result(Response(200, b"3"))
    await asyncio.sleep(0)
    assert transport.writes == []
    desk.later[0].set_result(Response(200, b"1"))
    await asyncio.sleep(0)
    assert answered(transport) == [(200, b"1"), (200, b"2"), (200, b"3")]
    assert len(transport.writes) == 1


async def test_unanswered_requests_are_bounded_by_not_reading_on(desk: Desk) -> None:
    padding = "X-Padding: " + "p" * 5000  # so that a request is most of what is parsed at once
    requests = [get(f"/later?{n}", padding) for n in range(12)]
    transport = desk.serve(b"".join(requests))
    assert not transport.reading
    assert 4 <= len(desk.later) <= 6
    send(transport, get("/echo?13"))
    for n in range(12):
        desk.later[n].set_result(Response(200, b"%d" % n))
        await asyncio.sleep(0)
    assert answered(transport) == [*((200, b"%d" % n) for n in range(12)), (200, b"13")]
    assert transport.reading


async def test_more_known_answers_than_the_bound_do_not_stop_the_reading(desk: Desk) -> None:
    transport = desk.serve(b"".join(get(f"/echo?{n}", "X-Padding: " + "p" * 5000) for n in range(20)))
    assert answered(transport) == [(200, b"%d" % n) for n in range(20)]
    assert transport.reading


async def test_a_client_that_does_not_read_its_answers_is_not_read(desk: Desk) -> None:
    transport = desk.connect()
    protocol = transport.protocol
    write, full = transport.write, [True]

    def write_to_full_buffer(data: Any) -> None:
        write(data)
        if full[0]:
            protocol.pause_writing()

    transport.write = write_to_full_buffer  # type: ignore[method-assign]
    send(transport, get("/echo?1"))
    assert not transport.reading
    send(transport, get("/echo?2"))
    assert answered(transport) == [(200, b"1")]
    full[0] = False
    protocol.resume_writing()
    assert answered(transport) == [(200, b"1"), (200, b"2")]
    assert transport.reading


async def test_a_body_in_chunks_streams_through(desk: Desk) -> None:
    head = get("/stream", "Transfer-Encoding: chunked", method="POST")
    transport = desk.serve(head + b"3\r\none\r\n", b"3;note=x\r\ntw", b"o\r\n0\r\nTrailer: ignored\r\n\r\n" + get("/echo?next"))
    assert b"".join(desk.pieces) == b"onetwo"
    assert answered(transport) == [(202, b"3"), (200, b"next")]
    assert b"trailer" not in desk.heads[0].headers


async def test_a_client_may_ask_whether_to_go_on_before_it_sends_the_body(desk: Desk) -> None:
    transport = desk.serve(get("/echo", "Content-Length: 5", "Expect: 100-continue", method="POST"))
    assert transport.written == b"HTTP/1.1 100 Continue\r\n\r\n"
    transport.writes.clear()
    assert answered(send(transport, b"hello")) == [(200, b"hello")]


@pytest.mark.parametrize("request_head", [get("/echo?x", "Connection: close"), b"GET /echo?x HTTP/1.0\r\n\r\n"], ids=["1.1", "1.0"])
async def test_a_client_that_will_not_come_again_is_told_goodbye(desk: Desk, request_head: bytes) -> None:
    transport = desk.serve(request_head, b"whatever follows is thrown away")
    [(status, headers, body)] = Answers(transport).found
    assert (status, headers["Connection"], body) == (200, "close", b"x")
    assert transport.half_closed


async def test_a_half_closed_client_still_gets_its_answer(desk: Desk) -> None:
    transport = desk.serve(get("/later"))
    assert isinstance(transport.protocol, asyncio.Protocol)
    assert transport.protocol.eof_received()
    desk.later[0].set_result(Response(200, b"late"))
    await asyncio.sleep(0)
    assert answered(transport) == [(200, b"late")]
    assert transport.done == "close"


async def test_the_answer_to_a_client_that_left_is_thrown_away(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    transport = desk.serve(get("/later") + get("/later"))
    transport.abort()
    await asyncio.sleep(0)
    desk.later[0].set_result(Response(200))
    desk.later[1].set_exception(ZeroDivisionError("of our making"))
    await asyncio.sleep(0)
    assert transport.writes == []
    assert "request failed" in caplog.text


# Refusals


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
    "chunk without size": (CHUNKED + b"not a number\r\n", 400, "bad-request"),
    "proxy": (get("x:443", method="CONNECT"), 400, "bad-request"),
    "upgrade with body": (post("/echo", b"x", "Upgrade: h2c", "Connection: Upgrade"), 400, "bad-request"),
    "long header": (get("/echo", "X-Long: " + "x" * 9000), 413, "too-large"),
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


async def test_an_error_comes_after_the_answers_that_are_owed(desk: Desk) -> None:
    transport = desk.serve(get("/later") + b"garbage\r\n\r\n")
    assert transport.writes == []
    desk.later[0].set_result(Response(200, b"1"))
    await asyncio.sleep(0)
    assert [(status, headers.get("Connection")) for status, headers, _ in Answers(transport).found] == [(200, None), (400, "close")]


@given(st.lists(st.binary(max_size=40) | st.sampled_from([get("/echo"), post("/echo", b"x"), HANDSHAKE, b"\r\n\r\n"]), max_size=5))
@settings(max_examples=80, deadline=None)
def test_garbage_gets_answers_with_documented_codes_whole_or_byte_by_byte(parts: list[bytes]) -> None:
    async def serve(chunks: list[bytes]) -> tuple[bytes, bool]:
        desk = Desk()
        transport = desk.serve(*chunks)
        desk.door.close()
        return transport.written, transport.half_closed

    stream = b"".join(parts)
    whole = asyncio.run(serve([stream]))
    assert asyncio.run(serve([stream[n : n + 1] for n in range(len(stream))])) == whole


# WebSockets


async def test_a_websocket_takes_the_connection_over_with_all_that_was_sent_after_the_handshake(desk: Desk) -> None:
    transport = desk.serve(get("/echo?first"), HANDSHAKE + b"first frame", b", second")
    [protocol] = desk.taken_over
    assert transport.protocol is protocol
    assert protocol.transport is transport
    assert protocol.received == b"first frame, second"
    assert f"Sec-WebSocket-Accept: {accept_key(KEY)}\r\n".encode() in transport.writes[1]
    assert desk.door.connections == 0


async def test_a_websocket_does_not_overtake_an_answer(desk: Desk) -> None:
    transport = desk.serve(get("/later") + HANDSHAKE)
    assert desk.taken_over == []
    desk.later[0].set_result(Response(200))
    await asyncio.sleep(0)
    assert [status for status, _ in answered(transport)] == [200, 400]


async def test_an_upgrade_that_we_do_not_know_is_ignored(desk: Desk) -> None:
    assert answered(desk.serve(get("/echo?plain", "Connection: Upgrade", "Upgrade: h2c"))) == [(200, b"plain")]


# Time and number


async def test_a_head_that_does_not_arrive_in_time_is_refused(desk: Desk) -> None:
    transport = desk.serve(get("/echo")[:-4])
    desk.sweep(after_s=9)
    send(transport, b"\r\nX-Slow: another header")
    assert transport.writes == []
    desk.sweep(after_s=11)
    assert only(transport)[:2] == (408, "hello-timeout")
    desk.sweep(after_s=22)
    assert transport.done == "abort"


async def test_a_body_has_time_as_long_as_it_comes(desk: Desk) -> None:
    transport = desk.serve(get("/stream", "Content-Length: 9", method="POST"), b"one")
    desk.sweep(after_s=9)
    send(transport, b"two")
    desk.sweep(after_s=18)
    assert transport.writes == []
    desk.sweep(after_s=20)
    assert only(transport)[:2] == (408, "hello-timeout")


async def test_a_connection_is_closed_sooner_if_nothing_ever_came_than_between_requests(desk: Desk) -> None:
    silent, used = desk.connect(), desk.serve(get("/echo"))
    desk.sweep(after_s=11)
    assert (silent.done, used.done) == ("close", "")
    desk.sweep(after_s=76)
    assert used.done == "close"


async def test_a_client_may_wait_for_our_answer_as_long_as_it_likes(desk: Desk) -> None:
    waiting = desk.serve(get("/later"))
    full = desk.serve(b"".join(get("/later", "X-Padding: " + "p" * 5000) for _ in range(8)))
    desk.sweep(after_s=1000)
    assert (waiting.done, full.done) == ("", "")
    assert (waiting.writes, full.writes) == ([], [])


async def test_a_client_that_never_reads_its_answers_is_cut(desk: Desk) -> None:
    transport = desk.serve(get("/echo"))
    transport.protocol.pause_writing()
    desk.sweep(after_s=76)
    assert transport.done == "abort"


async def test_one_timer_sweeps_and_stops_when_nobody_is_left() -> None:
    desk = Desk(head_timeout_s=0.0, sweep_interval_s=0.001)
    transports = [desk.connect(), desk.connect()]
    async with asyncio.timeout(5):
        await desk.door.drained()
    assert [transport.done for transport in transports] == ["close", "close"]


async def test_over_the_limit_a_connection_is_told_so_and_far_over_it_is_cut(desk: Desk) -> None:
    welcome = [desk.connect() for _ in range(3)]
    surplus = [desk.serve(get("/echo")), desk.serve(HANDSHAKE)]
    for transport in surplus:
        status, code, headers = only(transport)
        assert (status, code, headers["Retry-After"]) == (503, "overloaded", "1")
        assert transport.half_closed
    assert [desk.connect().done for _ in range(2)] == ["", "abort"]
    assert answered(send(welcome[0], get("/echo"))) == [(200, b"")]


async def test_a_draining_door_closes_idle_connections_and_the_others_after_their_answer(desk: Desk) -> None:
    idle, waiting, reading = desk.serve(get("/echo")), desk.serve(get("/later")), desk.serve(post("/echo", b"body")[:-1])
    desk.door.drain()
    assert (idle.done, waiting.done, reading.done) == ("close", "", "")
    desk.later[0].set_result(Response(200))
    send(reading, b"y" + get("/echo"))
    await asyncio.sleep(0)
    for transport in (waiting, reading):
        [(status, headers, _)] = Answers(transport).found
        assert (status, headers["Connection"]) == (200, "close")
        assert transport.half_closed
    assert Answers(desk.serve(get("/echo"))).found[0][1]["Connection"] == "close"


async def test_drained_returns_when_the_last_connection_is_gone(desk: Desk) -> None:
    desk.connect()
    drained = asyncio.create_task(desk.door.drained())
    await asyncio.sleep(0)
    assert not drained.done()
    desk.door.drain()
    async with asyncio.timeout(5):
        await drained
    assert desk.door.connections == 0
