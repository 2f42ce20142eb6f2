"""The HTTP door and time, number and its own end. No test sleeps: the sweep is told what time it is."""

import asyncio
from collections.abc import AsyncIterator

import pytest

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
