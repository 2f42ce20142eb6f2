"""The door of the demo's page."""

from urllib.parse import parse_qs, urlsplit

import aiohttp
import pytest

from segue.demo.page import PAGE, DemoPage


async def test_the_link_opens_the_page_with_its_form_filled_in() -> None:
    async with DemoPage("ws://127.0.0.1:1", "a.b.c", ["ann", "bob"]) as page, aiohttp.ClientSession() as http:
        async with http.get(page.link, allow_redirects=False) as answer:
            target = urlsplit(answer.headers["Location"])
        async with http.get(page.link) as answer:
            assert await answer.text() == PAGE.read_text(encoding="utf-8")
    assert parse_qs(target.query) == {"url": ["ws://127.0.0.1:1"], "friends": ["ann,bob"]}
    assert parse_qs(target.fragment) == {"token": ["a.b.c"]}


@pytest.mark.parametrize("path", ["/", "/guess", "/follow"])
async def test_without_the_key_nobody_gets_the_token(path: str) -> None:
    async with DemoPage("ws://127.0.0.1:1", "a.b.c", ["ann"]) as page, aiohttp.ClientSession() as http:
        host = urlsplit(page.link).netloc
        async with http.get(f"http://{host}{path}", allow_redirects=False) as answer:
            assert answer.status == 404
            assert "a.b.c" not in await answer.text()
