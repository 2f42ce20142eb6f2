"""Where wall posts go."""

import json
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from infra.kernel.errors import Refused, Unavailable
from infra.runtime.outgoing.options import OutgoingOptions
from segue.demo.loopback import Loopback
from services.social.post import Post
from services.social.wall import FileWall, WebhookWall, wall_of
from tests.support.full_disk import room_until

HERE = OutgoingOptions(private=["127.0.0.1"])
POST = Post(id="post-1", user="ann", kind="play", ts_ms=7, payload={"track": "Jóga"})
SHOWN = {"id": "post-1", "user": "ann", "kind": "play", "ts_ms": 7, "payload": {"track": "Jóga"}}


async def test_a_file_gets_a_line_for_each_post(tmp_path: Path) -> None:
    wall = FileWall(tmp_path / "wall.jsonl")
    for _ in range(2):
        await wall.post(POST)
    assert [json.loads(line) for line in (tmp_path / "wall.jsonl").read_text(encoding="utf-8").splitlines()] == [SHOWN, SHOWN]
    with pytest.raises(Unavailable, match="cannot be written"):
        await FileWall(tmp_path / "none" / "wall").post(POST)


async def test_a_post_for_which_there_is_no_room_is_tried_again_and_leaves_no_half_line(tmp_path: Path) -> None:
    path = tmp_path / "wall.jsonl"
    wall = FileWall(path)
    await wall.post(POST)
    with room_until(path.stat().st_size + 10), pytest.raises(Unavailable, match="cannot be written: No space left"):
        await wall.post(POST)
    await wall.post(POST)
    assert [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] == [SHOWN, SHOWN]


ERRORS = {200: None, 204: None, 400: Refused, 404: Refused, 408: Unavailable, 429: Unavailable, 302: Unavailable, 503: Unavailable}


@pytest.mark.parametrize(("status", "error"), ERRORS.items())
async def test_a_webhook_gets_the_post_and_its_status_says_whether_to_repeat(status: int, error: type[Exception] | None) -> None:
    got: list[Any] = []

    async def take(request: web.Request) -> web.Response:
        got.append((request.headers["Idempotency-Key"], await request.json()))
        return web.Response(status=status)

    async with AsyncExitStack() as stack:
        async with Loopback(web.post("/hook", take)) as server:
            wall = WebhookWall(f"http://{server.address}/hook", HERE)
            stack.push_async_callback(wall.close)
            if error is None:
                await wall.post(POST)
            else:
                with pytest.raises(error):
                    await wall.post(POST)
            assert got == [("post-1", SHOWN)]
        with pytest.raises(Unavailable, match="cannot be reached"):
            await wall.post(POST)


async def test_a_wall_on_a_private_address_is_called_only_where_that_is_listed() -> None:
    """DPS-26: the post waits until the operator lists the address."""
    wall = WebhookWall("http://127.0.0.1:9/hook", OutgoingOptions())
    try:
        with pytest.raises(Unavailable, match=r"not on the public internet.*outgoing\.private"):
            await wall.post(POST)
    finally:
        await wall.close()


async def test_a_place_is_a_url_or_a_path() -> None:
    walls = [wall_of("https://example.test/hook", HERE), wall_of("wall.jsonl", HERE)]
    assert [type(wall) for wall in walls] == [WebhookWall, FileWall]
    for wall in walls:
        await wall.close()
