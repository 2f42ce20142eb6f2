"""infra.runtime.http.web_connection: what a client may keep us waiting for, over real sockets."""

import logging

import pytest

from infra.runtime.http.web_limits import WebVisitorLimits
from tests.support.web_place import HELLO, WebPlace, web_place

HEAD = b"POST /take HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n"
CHUNKED = b"POST /take HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"


async def until_held(place: WebPlace, connections: int) -> None:
    """Waits until so many connections have a place."""
    await place.until(lambda: place.door.places.taken == connections)


async def test_a_connection_that_says_nothing_is_ended() -> None:
    """DPS-26: silence does not keep a place."""
    async with web_place() as place, place.connect() as silent:
        await until_held(place, 1)
        place.later(9.9)
        assert place.door.given_up == {}
        place.later(10.0)
        assert await silent.ended() == b""
        await until_held(place, 0)
    assert place.door.given_up == {"head": 1}


async def test_a_head_that_comes_drop_by_drop_is_ended_with_a_reason() -> None:
    """DPS-26: slow headers (Slowloris)."""
    async with web_place() as place, place.connect() as slow:
        slow.send(b"GET /hello HTTP/1.1\r\n")
        await place.settled()
        place.later(5.0)
        slow.send(b"X-A: b\r\n")
        await place.settled()
        place.later(10.0)
        answer = await slow.ended()
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b'"hello-timeout"' in answer


async def test_a_body_that_stops_is_ended() -> None:
    """DPS-26: slow bodies (R.U.D.Y.)."""
    async with web_place() as place, place.connect() as slow:
        slow.send(HEAD + b"12345")
        await place.settled()
        place.later(59.0)
        assert place.door.given_up == {}
        place.later(60.0)
        assert place.door.given_up == {"body": 1}
        assert await slow.ended() == b""


async def test_between_two_requests_a_client_may_wait_longer() -> None:
    async with web_place() as place, place.connect() as client:
        client.send(HELLO)
        assert (await client.answer())[2] == b"hello"
        place.later(74.0)
        client.send(HELLO)
        assert (await client.answer())[2] == b"hello"
        place.later(75.0)
        assert await client.ended() == b""
    assert place.door.given_up == {"next": 1}


async def test_a_client_waits_for_us_as_long_as_we_take() -> None:
    async with web_place() as place, place.connect() as client:
        client.send(b"GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
        await place.settled()
        place.later(3600.0)
        place.free.set()
        assert (await client.answer())[2] == b"waited"


async def test_a_client_that_does_not_read_its_answer_is_cut() -> None:
    """DPS-26: answers that nobody reads do not stay in memory."""
    async with web_place() as place, place.connect() as deaf:
        deaf.stop_reading()
        deaf.send(b"GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
        await place.settled()
        place.later(29.0)
        assert place.door.given_up == {}
        place.later(30.0)
        assert place.door.given_up == {"reading": 1}
        await until_held(place, 0)


async def test_a_client_that_does_not_let_go_after_the_end_is_cut() -> None:
    async with web_place() as place, place.connect() as client:
        client.stop_reading()
        client.send(b"GET /large HTTP/1.0\r\n\r\n")
        await place.settled()
        place.later(30.0)
        await until_held(place, 0)


async def test_of_one_address_there_are_only_so_many_and_others_get_in() -> None:
    """DPS-26: 503 and `Retry-After` for the party that takes all it can get, and nothing for anybody else."""
    async with web_place(visitors=WebVisitorLimits(per_address=2)) as place:
        async with place.connect("127.0.0.2"), place.connect("127.0.0.2"):
            await until_held(place, 2)
            for _ in range(2):
                async with place.connect("127.0.0.2") as third:
                    status, headers, body = await third.answer()
                    assert (status, headers["retry-after"], headers["connection"]) == (503, "1", "close")
                    assert b'"overloaded"' in body
                    assert await third.ended() == b""
            async with place.connect("127.0.0.3") as other:
                other.send(HELLO)
                assert (await other.answer())[0] == 200
        await until_held(place, 0)
        async with place.connect("127.0.0.2") as again:
            again.send(HELLO)
            assert (await again.answer())[0] == 200
    [told] = place.log.of("connections are turned away")
    assert "this address has 2 connections" in told["reason"]
    assert place.door.places.refused == {"address": 2}


@pytest.mark.parametrize("sent", [HEAD + b"123", CHUNKED + b"5\r\n12", CHUNKED + b"5\r\n12345\r\n"])
async def test_a_body_that_breaks_off_leaves_no_traceback(sent: bytes, caplog: pytest.LogCaptureFixture) -> None:
    """A client that goes away is no defect of ours."""
    async with web_place() as place:
        async with place.connect() as client:
            client.send(sent)
            await place.settled()
        await until_held(place, 0)
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_a_body_whose_chunks_make_no_sense_is_refused_without_a_traceback(caplog: pytest.LogCaptureFixture) -> None:
    async with web_place() as place, place.connect() as client:
        client.send(CHUNKED + b"no number\r\n")
        assert (await client.answer())[0] == 400
    assert [record for record in caplog.records if record.levelno >= logging.ERROR] == []


async def test_no_answer_tells_versions() -> None:
    async with web_place() as place:
        for request in (HELLO, b"GET /none HTTP/1.1\r\nHost: x\r\n\r\n", b"nonsense\r\n\r\n", b"GET /hello HTTP/1.1\r\n\r\n"):
            async with place.connect() as client:
                client.send(request)
                assert (await client.answer())[1]["server"] == "segue"


async def test_a_compressed_body_is_not_inflated() -> None:
    """DPS-26: it is refused as it came, with 415."""
    async with web_place() as place, place.connect() as client:
        client.send(HEAD.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n") + b"0123456789")
        status, _, body = await client.answer()
        assert (status, b"without Content-Encoding" in body) == (415, True)
        client.send(HELLO)
        assert (await client.answer())[2] == b"hello"


async def test_every_refusal_is_counted_by_its_code() -> None:
    """DPS-26: what the door says by itself, what aiohttp cannot read, and who does not send the whole head."""
    async with web_place() as place:
        asked = (b"GET /nowhere HTTP/1.1\r\nHost: x\r\n\r\n", b"GET /hello HTTP/1.1\r\nHost: a@b\r\n\r\n", b"no HTTP\r\n\r\n", HELLO)
        for request in asked:
            async with place.connect() as client:
                client.send(request)
                await client.answer()
        async with place.connect() as slow:
            slow.send(b"GET /hello HTTP/1.1\r\n")
            await place.settled()
            place.later(10.0)
            await slow.ended()
    assert place.door.refusals == {"not-found": 1, "bad-request": 2, "hello-timeout": 1}
