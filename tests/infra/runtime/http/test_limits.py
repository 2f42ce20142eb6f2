"""The HTTP door and time, number and its own end. No test sleeps: the sweep is told what time it is."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from infra.kernel.errors import Refused
from infra.kernel.places import VisitorLimits
from infra.kernel.rates import RateRefused
from infra.kernel.shares import SHARE, Shares
from infra.runtime.http.door import Response
from tests.support.http_desk import HANDSHAKE, Answers, Desk, answered, get, only, post, send


@pytest.fixture
async def desk() -> AsyncIterator[Desk]:
    async with Desk(max_unanswered=4, max_connections=3) as made:
        yield made


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


@pytest.mark.parametrize("path", ["/echo", "/closed", "/nowhere"])
async def test_a_body_that_is_no_stream_has_a_time_for_all_of_it(desk: Desk, path: str) -> None:
    """DPS-26: a stranger whose request was refused sent a byte of its body now and then, and stayed for days."""
    transport = desk.serve(get(path, "Content-Length: 900", method="POST"), b"o")
    for seconds in range(5, 60, 5):
        desk.sweep(after_s=seconds)
        send(transport, b"o")
    assert transport.writes == []
    for seconds in range(60, 75, 5):
        desk.sweep(after_s=seconds)
        send(transport, b"o")
    assert only(transport)[:2] == (408, "hello-timeout")


async def test_a_stream_comes_as_long_as_it_likes_and_each_body_of_a_connection_has_a_time_of_its_own(desk: Desk) -> None:
    stream = desk.serve(get("/stream", "Content-Length: 900", method="POST"), b"o")
    busy = desk.serve()
    for seconds in range(5, 200, 5):
        send(busy, post("/echo", b"body")[:-1])
        desk.sweep(after_s=seconds)
        send(busy, b"y")
        send(stream, b"o")
    assert (stream.writes, stream.done) == ([], "")
    assert [answer[0] for answer in answered(busy)] == [200] * 39


async def test_a_body_loses_no_time_while_it_is_we_who_do_not_read(desk: Desk) -> None:
    transport = desk.serve(*[get("/later")] * 4, get("/echo", "Content-Length: 2", method="POST"), b"o")
    for seconds in range(200):
        desk.sweep(after_s=seconds)
    assert transport.writes == []
    for later in desk.later:
        later.set_result(Response(200))
    await asyncio.sleep(0)
    send(transport, b"k")
    assert [answer[0] for answer in answered(transport)] == [200] * 5


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


async def test_one_loop_sweeps_all_connections() -> None:
    desk = Desk(head_timeout_s=0.0, sweep_interval_s=0.001)
    transports = [desk.connect(), desk.connect()]
    async with asyncio.timeout(5):
        await desk.door.drained()
    desk.door.close()
    assert [transport.done for transport in transports] == ["close", "close"]


async def test_a_connection_that_cannot_be_swept_stops_nobody_elses_timeout() -> None:
    async with Desk(head_timeout_s=0.0, sweep_interval_s=0.001) as desk:
        transports = [desk.connect(), desk.connect(), desk.connect()]
        bad = transports[0].close

        def fail_once() -> None:
            transports[0].close = bad  # type: ignore[method-assign]
            raise RuntimeError("oops")

        transports[0].close = fail_once  # type: ignore[method-assign]
        async with asyncio.timeout(5):
            await desk.door.drained()
        assert [transport.done for transport in transports] == ["close", "close", "close"]


async def test_over_the_limit_a_connection_is_turned_away_until_another_ends(desk: Desk) -> None:
    """DPS-26."""
    welcome = [desk.connect() for _ in range(3)]
    with pytest.raises(Refused, match="3 connections are open") as refused:
        desk.connect()
    assert desk.door.entrance.refusal(refused.value).startswith(b"HTTP/1.1 503 ")
    assert desk.door.turned_away == {"overloaded": 1}
    welcome[0].abort()
    await asyncio.sleep(0)
    assert answered(desk.serve(get("/echo"))) == [(200, b"")]
    assert answered(send(welcome[1], get("/echo"))) == [(200, b"")]


async def test_a_websocket_leaves_its_place_at_the_door_to_others(desk: Desk) -> None:
    """How many clients there may be is the access point's to count."""
    for _ in range(10):
        desk.serve(HANDSHAKE)
    assert (len(desk.taken_over), desk.door.places.taken, desk.door.connections) == (10, 0, 0)


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


async def test_a_body_without_end_is_taken_in_shares_and_others_have_their_turns() -> None:
    """DPS-26: one stream without pause had everybody wait for half a second."""
    async with Desk(Shares(asyncio.get_running_loop().call_soon)) as desk:
        stream = desk.serve(get("/stream", "Transfer-Encoding: chunked", method="POST"))
        send(stream, (b"400\r\n" + b"x" * 1024 + b"\r\n") * 200)
        taken = 0
        while taken < 200 * 1024:
            before, taken = taken, sum(map(len, desk.pieces))
            assert taken - before <= SHARE + 8192
            assert stream.reading == (taken == 200 * 1024)
            assert [status for status, _ in answered(desk.serve(get("/echo")))] == [200]  # in the same turn
            await asyncio.sleep(0)
        assert sum(map(len, desk.pieces)) == 200 * 1024
        send(stream, b"0\r\n\r\n")
        assert answered(stream)[0][0] == 202


async def test_many_requests_at_once_are_a_share_too_and_are_answered_in_order() -> None:
    async with Desk(Shares(asyncio.get_running_loop().call_soon)) as desk:
        transport = desk.serve(b"".join(get(f"/echo?{n}") for n in range(1000)))
        assert len(desk.heads) <= 2 * 8192 // 30
        for _ in range(200):
            await asyncio.sleep(0)
        assert [body for _, body in answered(transport)] == [b"%d" % n for n in range(1000)]
        assert transport.reading


async def test_a_handshake_that_waited_for_its_share_is_read_on_when_the_websocket_has_it() -> None:
    """The first that came in a crowd: they were paused for HTTP, and nobody read their hello."""
    async with Desk(Shares(asyncio.get_running_loop().call_soon)) as desk:
        crowd = [desk.serve(HANDSHAKE) for _ in range(200)]
        assert not all(each.reading for each in crowd)
        for _ in range(200):
            await asyncio.sleep(0)
        assert len(desk.taken_over) == 200
        assert all(each.reading for each in crowd)


async def test_one_address_has_its_part_of_the_connections_and_leaves_the_rest_to_others() -> None:
    """DPS-26: 1,100 idle connections of one address, and no client could connect."""
    limits = VisitorLimits(per_address=10, new_per_address_per_s=10_000)
    async with Desk(visitors=limits) as desk:
        idle = [desk.connect("192.0.2.1") for _ in range(10)]
        for _ in range(500):
            with pytest.raises(Refused, match="overloaded: this address has 10 connections"):
                desk.connect("192.0.2.1")
        assert answered(desk.visit("192.0.2.2", get("/echo")))[0][0] == 200
        assert desk.door.turned_away == {"overloaded": 500}
        idle[0].abort()
        await asyncio.sleep(0)
        assert answered(desk.visit("192.0.2.1", get("/echo")))[0][0] == 200


async def test_whoever_comes_too_often_is_told_when_to_come_back() -> None:
    """DPS-26."""
    async with Desk(visitors=VisitorLimits(new_per_address_per_s=0.1)) as desk:
        assert answered(desk.visit("192.0.2.1", get("/echo")))[0][0] == 200
        with pytest.raises(RateRefused) as refused:
            desk.connect("192.0.2.1")
        answer = desk.door.entrance.refusal(refused.value)
        assert b"Retry-After: 10\r\n" in answer
        assert b"Connection: close\r\n" in answer


async def test_a_websocket_counts_for_its_address_until_it_ends() -> None:
    async with Desk(visitors=VisitorLimits(per_address=1)) as desk:
        desk.visit("192.0.2.1", HANDSHAKE)
        with pytest.raises(Refused):
            desk.connect("192.0.2.1")
        desk.taken_over[0].place.give_back()
        assert desk.visit("192.0.2.1", HANDSHAKE).written.startswith(b"HTTP/1.1 101 ")
