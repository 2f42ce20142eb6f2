"""Pages at a server on aiohttp: preflights, refusals that can be read, and no work for a preflight too many."""

import pytest
from aiohttp import web

from infra.kernel.cors import Cors
from infra.kernel.rates import RateRefused
from infra.runtime.http.web_cors import WebCors
from tests.support.web_place import WebPlace, web_place

APP = "http://app.example.com"


class Counting:
    """A count that refuses from the third on."""

    def __init__(self) -> None:
        self.counted = 0

    def __call__(self, request: web.BaseRequest) -> None:
        self.counted += 1
        if self.counted > 2:
            raise RateRefused(7.0, "too many")


async def asked(place: WebPlace, method: str, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Returns the answer to a request with these headers, whose names have "_" for "-"."""
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    async with place.connect() as client:
        client.send(f"{method} {path} HTTP/1.1\r\nHost: x\r\n{lines}\r\n".encode())
        return await client.answer()


@pytest.mark.parametrize("path", ["/hello", "/nowhere"])
async def test_an_answer_and_a_refusal_can_be_read_by_a_page_that_may(path: str) -> None:
    async with web_place(cors=WebCors(Cors([APP]), Counting())) as place:
        status, headers, _ = await asked(place, "GET", path, Origin=APP)
        assert (status == 404) == (path == "/nowhere")
        assert headers["access-control-allow-origin"] == APP
        assert headers["vary"] == "Origin"


async def test_the_answer_to_a_page_of_strangers_and_to_a_program_names_nobody() -> None:
    async with web_place(cors=WebCors(Cors([APP]), Counting())) as place:
        for asker in ({"Origin": "http://evil.example"}, {}):
            _, headers, _ = await asked(place, "GET", "/hello", **asker)
            assert "access-control-allow-origin" not in headers
            assert headers["vary"] == "Origin"


async def test_a_preflight_is_answered_without_the_handler_and_counted() -> None:
    counting = Counting()
    async with web_place(cors=WebCors(Cors([APP]), counting)) as place:
        preflight = {"Access_Control_Request_Method": "PUT"}
        status, headers, body = await asked(place, "OPTIONS", "/hello", Origin=APP, **preflight)
        assert (status, body) == (200, b"")
        assert headers["access-control-allow-origin"] == APP
        assert "PUT" in headers["access-control-allow-methods"]
        assert (await asked(place, "OPTIONS", "/hello", Origin="http://evil.example", **preflight))[0] == 403
        status, headers, _ = await asked(place, "OPTIONS", "/hello", Origin=APP, **preflight)
        assert (status, headers["retry-after"]) == (429, "7")
        assert headers["access-control-allow-origin"] == APP


async def test_where_no_page_should_ask_nothing_is_said_to_any() -> None:
    async with web_place() as place:
        _, headers, body = await asked(place, "OPTIONS", "/hello", Origin=APP, Access_Control_Request_Method="PUT")
        assert body == b"hello"
        assert "access-control-allow-origin" not in headers
