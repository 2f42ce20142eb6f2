"""docs/client-protocol.md is true: its conversations take place as they are written."""

import json
import re
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from tests.support.cluster import Cluster

PAGE = Path(__file__).resolve().parents[2] / "docs" / "client-protocol.md"
# Different each time: compared by their type.
VOLATILE = {"session", "time_ms", "epoch", "seq", "ts"}


def lines() -> list[str]:
    """All lines of all conversations, in order."""
    blocks = re.findall(r"^```text\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def form(message: dict[str, Any]) -> dict[str, Any]:
    """A message with its volatile values replaced by their types. An event's id is the broker's, unlike an answer's."""
    volatile = VOLATILE | ({"id"} if message["op"] == "event" else set())
    return {key: type(value).__name__ if key in volatile else value for key, value in message.items()}


async def open_connection(cluster: Cluster) -> ClientConnection:
    (point,) = cluster.of("accesspoint")
    return await connect(f"ws://{point.address}/v1/connect", subprotocols=["segue.v1"], compression=None)  # type: ignore[list-item]


async def test_the_conversations_of_the_page_take_place_as_written() -> None:
    script = lines()
    assert len(script) > 20
    async with Cluster(sites=1) as c:
        ws = await open_connection(c)
        for line in script:
            match line[:2], line[2:]:
                case "> ", text:
                    await ws.send(text.replace("TOKEN", c.token("alice")))
                case "< ", text:
                    assert form(json.loads(await ws.recv())) == form(json.loads(text))
                case _, "bob plays Jóga by Björk":
                    await c.play("bob", artist="Björk", track="Jóga")
                case _, "a new connection":
                    await ws.close()
                    ws = await open_connection(c)
                case _, closed:
                    number = re.fullmatch(r"closed with (\d+)", closed)
                    assert number, f"the page says {line!r}, which this test does not know how to do"
                    assert await close_code(ws) == int(number[1])


async def close_code(ws: ClientConnection) -> int | None:
    """The number with which the access point closes; nothing else comes before."""
    try:
        raise AssertionError(f"expected a close, got {await ws.recv()!r}")
    except ConnectionClosed:
        return ws.close_code
