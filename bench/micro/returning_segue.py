"""Coming back to Segue: from a point."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import aiohttp
import msgspec

from segue.cli.state import secret_of
from segue.cluster.tokens import service_token, user_token

from ..dialects.recovering import RecoveringSegue
from ..dialects.segue import Segue
from ..plan import Target

BATCH: Final = 500
POINT_S: Final = 10.0


class ReturningToSegue:
    """Clients that come back to the site `target` (see `Returning`)."""

    def __init__(self, target: Target) -> None:
        self._target, self._point = target, ""

    def plain(self) -> Segue:
        return Segue(self._target.state)

    def staying(self) -> Segue:
        return RecoveringSegue(self._target.state)

    def recovering(self) -> RecoveringSegue:
        return RecoveringSegue(self._target.state, self._point)

    async def mark(self) -> None:
        async with asyncio.timeout(POINT_S), aiohttp.ClientSession() as http:
            socket = await http.ws_connect(f"ws://{self._target.clients_at}/v1/connect", protocols=["segue.v1"])
            token = user_token(secret_of(Path(self._target.state)), "keeper")
            await _say(socket, {"op": "hello", "token": token, "client": "keeper", "device": "desktop"})
            await _say(socket, {"op": "subscribe", "id": 1, "topics": ["hm://presence/user/keeper/"], "wait": "local", "recover": True})
            while not self._point:  # a point is given only while nothing older is on its way
                await _say(socket, {"op": "ping", "point": True})
                while (message := await socket.receive_json())["op"] != "pong":
                    pass
                self._point = str(message.get("point") or "")
            await socket.close()

    async def publish(self, topics: Sequence[str]) -> None:
        headers = {
            "Authorization": f"Bearer {service_token(secret_of(Path(self._target.state)), 'presence')}",
            "Content-Type": "application/x-ndjson",
        }
        async with aiohttp.ClientSession(headers=headers, raise_for_status=True) as http:
            for start in range(0, len(topics), BATCH):
                some = topics[start : start + BATCH]
                lines = b"\n".join(msgspec.json.encode({"topic": topic, "kind": "play", "payload": {"track": "t" * 100}}) for topic in some)
                async with http.post(f"http://{self._target.publish_at}/v1/events", data=lines) as response:
                    await response.read()


async def _say(socket: aiohttp.ClientWebSocketResponse, message: dict[str, Any]) -> None:
    await socket.send_str(msgspec.json.encode(message).decode())
