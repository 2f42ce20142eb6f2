"""Lists that a server never ends, or that do not go on, are not read for ever."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from segue.sdk import page_walk
from segue.sdk.errors import ProtocolError
from segue.sdk.operator import Operator
from segue.sdk.page_walk import PageWalk
from segue.sdk.social import Social


@asynccontextmanager
async def answering(*pages: dict[str, Any]) -> AsyncIterator[str]:
    """Serves `pages`, one a request and the last one again and again, at the URL that it gives."""
    turns = count()

    async def answer(_: web.Request) -> web.Response:
        return web.json_response(pages[min(next(turns), len(pages) - 1)])

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(app) as server:
        yield str(server.make_url("")).rstrip("/")


def ban(user: str) -> dict[str, Any]:
    return {"bans": [{"user": user, "since": 0.0, "until": 1.0}], "more": True}


REVOCATION = {"kind": "user", "name": "ann", "issued_before": 1.0, "until": 2.0}


def test_a_walk_ends_where_a_page_does_not_go_on_and_after_so_many_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_walk, "MOST_PAGES", 3)
    walk = PageWalk("the list")
    assert [walk.behind(after) for after in ("a", "b")] == ["a", "b"]
    with pytest.raises(ProtocolError, match="the list: the page behind 'b' leads there again"):
        walk.behind("b")
    assert walk.behind("c") == "c"
    with pytest.raises(ProtocolError, match="the list has more than 3 pages; is there something else at this address"):
        walk.behind("d")


@pytest.mark.parametrize("empty", [{"bans": [], "more": True}, ban("ann")], ids=["empty", "the same"])
async def test_pages_of_bans_that_do_not_go_on_are_told(empty: dict[str, Any]) -> None:
    async with answering(ban("ann"), empty) as url, Operator(url, "x") as operator:
        with pytest.raises(ProtocolError, match="bans: the page behind 'ann' leads there again"):
            [each async for each in operator.bans()]


async def test_pages_of_revocations_that_do_not_go_on_are_told() -> None:
    async with answering({"revocations": [REVOCATION], "more": True}) as url, Operator(url, "x") as operator:
        with pytest.raises(ProtocolError, match="revocations: the page behind 'user ann' leads there again"):
            [each async for each in operator.revocations()]


async def test_pages_of_a_service_that_do_not_end_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page_walk, "MOST_PAGES", 3)
    pages = [{"blocked": ["bob"], "next": f"b{n}"} for n in range(9)]
    async with answering(*pages) as url, Social(url, "x") as social:
        with pytest.raises(ProtocolError, match="more than 3 pages"):
            [each async for each in social.blocks()]
