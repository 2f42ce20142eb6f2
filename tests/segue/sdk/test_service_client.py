"""segue.sdk.service_client: what is sent to the next address when no answer comes, and what is not."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

import segue
from segue.sdk.service_client import path_part


@asynccontextmanager
async def breaking(heard: list[str]) -> AsyncIterator[str]:
    """Serves at the URL that it gives: it hears a request, and then the connection breaks."""

    async def answer(request: web.Request) -> web.Response:
        heard.append(request.method)
        assert request.transport is not None
        request.transport.abort()
        return web.Response()

    app = web.Application()
    app.router.add_route("*", "/{path:.*}", answer)
    async with TestServer(app) as server:
        yield str(server.make_url("")).rstrip("/")


async def test_what_may_have_been_done_is_not_done_again_elsewhere() -> None:
    heard: list[str] = []
    async with breaking(heard) as one, breaking(heard) as other, segue.PlaylistClient([one, other], "x") as playlists:
        with pytest.raises(segue.ConnectionLost, match=one):
            await playlists.add("ann", "mix", ["t1"])
        assert heard == ["POST"]


async def test_what_may_be_repeated_is_sent_to_every_address() -> None:
    heard: list[str] = []
    async with breaking(heard) as one, breaking(heard) as other, segue.PlaylistClient([one, other], "x") as playlists:
        with pytest.raises(segue.ConnectionLost, match=other):
            await playlists.follow("ann", "mix")
        assert set(heard) == {"PUT"}
        assert len(heard) >= 2


def test_a_name_is_one_part_of_a_path_whatever_it_has_in_it() -> None:
    assert path_part("a / b?") == "a%20%2F%20b%3F"
