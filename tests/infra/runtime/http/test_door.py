"""The HTTP door, byte for byte: requests, the order of their answers, WebSockets. `test_http_loopback` has real sockets."""

import asyncio
import gc
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.kernel.errors import Refused
from infra.kernel.websocket_handshake import accept_key
from infra.runtime.http.connection import HttpConnection
from infra.runtime.http.door import Response
from infra.runtime.http.request import RequestReader
from tests.support.http_desk import HANDSHAKE, KEY, Answers, Desk, answered, get, post, send


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    async with Desk(max_unanswered=4, max_connections=3) as made:
        yield made


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
@settings(max_examples=40)
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


async def test_a_client_that_has_reset_its_connection_is_given_up_without_a_sound(desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    transport = desk.connect()
    transport.is_reset = True
    send(transport, get("/echo?x", "Connection: close"))
    assert (transport.done, caplog.records) == ("abort", [])


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


async def test_a_websocket_takes_the_connection_over_with_all_that_was_sent_after_the_handshake(desk: Desk) -> None:
    transport = desk.serve(get("/echo?first"), HANDSHAKE + b"first frame", b", second")
    [protocol] = desk.taken_over
    assert transport.protocol is protocol
    assert protocol.transport is transport
    assert protocol.received == b"first frame, second"
    assert f"Sec-WebSocket-Accept: {accept_key(KEY)}\r\n".encode() in transport.writes[1]
    assert desk.door.connections == 0


async def test_nothing_of_http_stays_in_memory_beside_a_websocket(desk: Desk) -> None:
    """What an idle client costs is its session."""
    gc.collect()
    transport = desk.serve(HANDSHAKE)
    assert transport.protocol is desk.taken_over[0]
    # By type: what is there may be a proxy of an object that is gone, and that answers no `isinstance`.
    assert [kept for kept in gc.get_objects() if type(kept) in (HttpConnection, RequestReader)] == []


async def test_a_websocket_does_not_overtake_an_answer(desk: Desk) -> None:
    transport = desk.serve(get("/later") + HANDSHAKE)
    assert desk.taken_over == []
    desk.later[0].set_result(Response(200))
    await asyncio.sleep(0)
    assert [status for status, _ in answered(transport)] == [200, 400]


async def test_an_upgrade_that_we_do_not_know_is_ignored(desk: Desk) -> None:
    assert answered(desk.serve(get("/echo?plain", "Connection: Upgrade", "Upgrade: h2c"))) == [(200, b"plain")]


async def test_a_request_can_be_refused_while_its_body_comes_and_that_ends_the_connection(desk: Desk) -> None:
    """DPS-28: what came before is answered, and nothing that follows is read."""
    transport = desk.serve(get("/echo?1"), post("/stream", b"ab")[:-1])
    desk.heads[-1].refuse(Refused("token-revoked"))
    assert [(status, json.loads(body)["code"]) for status, body in answered(transport)[1:]] == [(401, "token-revoked")]
    send(transport, b"b", get("/echo?2"))
    assert (desk.pieces, len(answered(transport))) == ([b"a"], 2)
    assert Answers(transport).found[-1][1]["Connection"] == "close"


async def test_between_two_requests_and_behind_the_last_there_is_nothing_to_refuse(desk: Desk) -> None:
    transport = desk.serve(get("/echo?1"))
    desk.heads[-1].refuse(Refused("token-revoked"))
    send(transport, get("/echo?2"))
    assert answered(transport) == [(200, b"1"), (200, b"2")]
    transport.abort()
    desk.heads[-1].refuse(Refused("token-revoked"))


PAGE = "Origin: http://localhost:5173"


async def test_a_page_that_may_ask_can_read_answers_and_refusals_and_the_next_request_is_a_programs_again(desk: Desk) -> None:
    """DPS-26."""
    transport = desk.serve(get("/echo?a", PAGE), get("/nowhere", PAGE), get("/echo?b"))
    first, second, third = bytes(transport.written).split(b"HTTP/1.1 ")[1:]
    told = b"Access-Control-Allow-Origin: http://localhost:5173\r\n"
    assert (told in first, told in second, told in third) == (True, True, False)
    assert all(b"Vary: Origin\r\n" in answer for answer in (first, second, third))
    assert [status for status, _ in answered(transport)] == [200, 404, 200]


async def test_a_page_learns_why_its_body_was_not_taken(desk: Desk) -> None:
    transport = desk.serve(post("/stream", b"stop!", PAGE))
    assert b"HTTP/1.1 400" in transport.written
    assert b"Access-Control-Allow-Origin: http://localhost:5173\r\n" in transport.written


async def test_a_preflight_is_answered_wherever_it_leads_unless_it_is_a_strangers(desk: Desk) -> None:
    """DPS-26."""
    asks = "Access-Control-Request-Method: POST"
    transport = desk.serve(get("/echo", PAGE, asks, method="OPTIONS"), get("/echo", "Origin: http://evil.example", asks, method="OPTIONS"))
    mine, strangers = bytes(transport.written).split(b"HTTP/1.1 ")[1:]
    assert mine.startswith(b"200 ")
    assert b"Access-Control-Allow-Headers: Authorization, Content-Type" in mine
    assert strangers.startswith(b"403 ")
    assert b"Access-Control" not in strangers
    assert desk.heads == []


async def test_options_of_who_asks_for_no_preflight_is_a_method_like_any_other(desk: Desk) -> None:
    assert [status for status, _ in answered(desk.serve(get("/echo", method="OPTIONS"), get("/echo", PAGE, method="OPTIONS")))] == [
        405,
        405,
    ]


async def test_an_answer_without_an_end_has_the_connection_from_its_head_on(desk: Desk) -> None:
    transport = desk.serve(get("/echo"), get("/flow?x", PAGE), get("/echo"))
    [flow] = desk.taken_over
    head = bytes(transport.written).split(b"HTTP/1.1 ")[2]
    assert head.startswith(b"200 OK\r\nContent-Type: text/event-stream\r\n")
    assert b"Access-Control-Allow-Origin: http://localhost:5173\r\n" in head
    assert head.endswith(b"Connection: close\r\n\r\n")
    assert (flow.transport, transport.protocol, flow.received) == (transport, flow, get("/echo"))
    assert desk.door.connections == 0


async def test_what_stands_behind_a_request_for_a_stream_is_answered_by_nobody(desk: Desk) -> None:
    transport = desk.serve(get("/flow") + get("/echo") + b"no HTTP")
    assert transport.written.count(b"HTTP/1.1 ") == 1
    assert (desk.heads, desk.taken_over[0].received) == ([], b"")


@pytest.mark.parametrize(
    ("said", "statuses"),
    [
        (post("/flow", b"x"), [405]),
        (get("/flow?full"), [503]),
        (b"GET /flow HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx", [400]),
    ],
)
async def test_a_stream_that_cannot_be_is_refused_with_a_status(desk: Desk, said: bytes, statuses: list[int]) -> None:
    transport = desk.serve(said)
    assert [status for status, _ in answered(transport)] == statuses
    assert desk.taken_over == []


async def test_a_stream_does_not_overtake_an_answer_that_is_owed(desk: Desk) -> None:
    transport = desk.serve(get("/later"), get("/flow"))
    assert desk.taken_over == []
    desk.later[0].set_result(Response(200, b"now"))
    await asyncio.sleep(0)
    assert [status for status, _ in answered(transport)] == [200, 400]
