"""Pages of other origins at every door that is for pages: what a browser is told (DPS-26)."""

import json
from pathlib import Path
from typing import Final

import pytest

from tests.support.every_door import ADMIN, DOORS, OpenedDoor, opened

OF_PAGES: Final = [door for door in DOORS if door != ADMIN]
ALLOW: Final = "access-control-allow-origin"
# The last is the origin of a page that was opened as a file, which a site on this machine lets in.
NEAR: Final = ["http://localhost:5173", "http://segue.example", "null"]


async def asked(door: OpenedDoor, method: str, origin: str) -> tuple[int, dict[str, str], bytes]:
    head = f"{method} /v1/nothing HTTP/1.1\r\nHost: segue.example\r\nOrigin: {origin}\r\nAccess-Control-Request-Method: POST\r\n\r\n"
    async with door.connect() as connection:
        connection.send(head.encode())
        return await connection.answer()


@pytest.mark.parametrize("name", OF_PAGES)
async def test_a_page_that_may_connect_may_ask_and_read_what_is_said(name: str, tmp_path: Path) -> None:
    """DPS-26."""
    async with opened(name, tmp_path) as door:
        for origin in NEAR:
            status, told, _ = await asked(door, "OPTIONS", origin)
            assert (status, told[ALLOW]) == (200, origin)
            assert "Authorization" in told["access-control-allow-headers"]
            status, told, _ = await asked(door, "GET", origin)
            assert (status, told[ALLOW], told["vary"]) == (404, origin, "Origin")


@pytest.mark.parametrize("name", OF_PAGES)
async def test_a_page_of_strangers_may_not(name: str, tmp_path: Path) -> None:
    """DPS-26."""
    async with opened(name, tmp_path) as door:
        status, told, body = await asked(door, "OPTIONS", "https://evil.example")
        assert (status, json.loads(body)["code"]) == (403, "origin-refused")
        assert ALLOW not in told
        assert ALLOW not in (await asked(door, "GET", "https://evil.example"))[1]


async def test_an_admin_port_is_for_no_page(tmp_path: Path) -> None:
    async with opened(ADMIN, tmp_path) as door:
        assert ALLOW not in (await asked(door, "GET", "http://localhost:5173"))[1]
