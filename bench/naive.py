"""A peer: what one writes first in Python. It is one process, with aiohttp WebSockets in front of Redis.

`python bench/naive.py PORT REDIS_PORT` needs the packages aiohttp and redis. It is no part of Segue.
"""

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import AsyncIterator

import redis.asyncio as redis  # type: ignore[import-not-found]  # only whoever measures this peer has it
from aiohttp import WSMsgType, web


class NaiveServer:
    """A server that gets each event from Redis and sends it to every WebSocket that subscribed to its topic."""

    def __init__(self, redis_port: int) -> None:
        self._redis = redis.Redis(host="127.0.0.1", port=redis_port)
        self._channels = self._redis.pubsub(ignore_subscribe_messages=True)
        self._followers: dict[str, set[web.WebSocketResponse]] = defaultdict(set)

    async def connect(self, request: web.Request) -> web.WebSocketResponse:
        """Serves a client: the response to `{"subscribe": [topics]}` is `{"subscribed": n}`."""
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        mine: set[str] = set()
        try:
            async for message in socket:
                if message.type == WSMsgType.TEXT:
                    topics = json.loads(message.data)["subscribe"]
                    await self._follow(socket, topics)
                    mine.update(topics)
                    await socket.send_json({"subscribed": len(topics)})
        finally:
            for topic in mine:
                self._followers[topic].discard(socket)
        return socket

    async def _follow(self, socket: web.WebSocketResponse, topics: list[str]) -> None:
        if news := [topic for topic in topics if not self._followers[topic]]:
            await self._channels.subscribe(*news)
        for topic in topics:
            self._followers[topic].add(socket)

    async def publish(self, request: web.Request) -> web.Response:
        """Publishes what a service sends: `{"topic", "data"}`."""
        event = await request.json()
        heard = await self._redis.publish(event["topic"], json.dumps(event["data"]))
        return web.json_response({"heard": heard})

    async def relay(self, app: web.Application) -> AsyncIterator[None]:
        """Passes events on while the server runs."""
        await self._channels.subscribe("nothing")  # listening needs one subscription
        task = asyncio.create_task(self._relay())
        yield
        task.cancel()

    async def _relay(self) -> None:
        async for message in self._channels.listen():
            topic = message["channel"].decode()
            text = json.dumps({"topic": topic, "data": json.loads(message["data"])})
            for socket in list(self._followers[topic]):
                try:
                    await socket.send_str(text)
                except ConnectionError:
                    self._followers[topic].discard(socket)


def main() -> None:
    """Serves until a signal comes."""
    port, redis_port = map(int, sys.argv[1:3])
    naive = NaiveServer(redis_port)
    app = web.Application()
    app.cleanup_ctx.append(naive.relay)
    app.add_routes([web.get("/ws", naive.connect), web.post("/publish", naive.publish)])
    web.run_app(app, host="127.0.0.1", port=port, access_log=None, print=None)


if __name__ == "__main__":
    main()
