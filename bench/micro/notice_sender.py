"""The artist service of the stored path's benchmarks. It sends notices over HTTP at a rate that does not depend on the responses."""

import asyncio
from collections.abc import AsyncIterable, Callable, Coroutine, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final, Self

import aiohttp
import msgspec

from segue.cli.state import secret_of
from segue.cluster.tokens import service_token

from ..clock import now_us
from ..servers.stored import StoredSite

CONNECTIONS: Final = 64
# The Retry-After of a 503, and how often a request is repeated.
RETRY_S: Final = 1.0
TRIES: Final = 30
PAYLOAD: Final = {"album": "Homogenic", "tracks": 10, "cover": "x" * 60}
NDJSON: Final = "application/x-ndjson"
JSON: Final = "application/json"


class RefusedError(Exception):
    """An error of a notice that the module did not take. The text has its response."""


def notice(event: str, followers: Sequence[str] | None = None, artist: str = "bjork") -> dict[str, Any]:
    """Returns the notice of an album of `artist`, under the id `event`. Without `followers` it is the first line of a stream."""
    header = {"id": event, "topic": f"hm://notifications/feed/{artist}%new-album/", "kind": "album", "payload": PAYLOAD, "producer": artist}
    return header if followers is None else header | {"followers": list(followers)}


class NoticeSender:
    """A service that posts within `async with NoticeSender(target) as notifier:`.

    It repeats a request that was unavailable under the same id, as services do. `repeated` counts that.
    """

    def __init__(self, target: StoredSite) -> None:
        self.repeated = 0
        self._target = target
        secret = secret_of(Path(target.state))
        self._tokens = {service: service_token(secret, service) for service in ("artist", "presence")}

    async def __aenter__(self) -> Self:
        connector = aiohttp.TCPConnector(limit=CONNECTIONS)
        self._http = aiohttp.ClientSession(connector=connector, timeout=aiohttp.ClientTimeout(total=None))
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self._http.close()

    async def tell(self, event: str, followers: Sequence[str], artist: str = "bjork") -> None:
        """Sends one notice, with the id `event`, of `artist` to `followers`. Raises `RefusedError`."""
        await self._notify(msgspec.json.encode(notice(event, followers, artist)), JSON)

    async def tell_all(self, notices: Sequence[dict[str, Any]]) -> None:
        """Sends several notices in one request, and those that were rejected in another one. Raises `RefusedError`."""
        for _ in range(TRIES):
            answer = await self._notify(msgspec.json.encode(notices), JSON)
            notices = [notices[rejected["index"]] for rejected in answer["rejected"]]
            if not notices:
                return
            self.repeated += len(notices)
            await asyncio.sleep(RETRY_S)
        raise RefusedError(f"{len(notices)} notices were rejected {TRIES} times: {answer['rejected'][0]}")

    async def stream(self, lines: Callable[[], AsyncIterable[bytes]]) -> int:
        """Streams one notice with pages of followers. `lines` begins it anew if it breaks off. Returns how many followers were taken.

        Raises `RefusedError`.
        """
        return int((await self._notify(lines, NDJSON))["accepted"])

    async def publish(self, event: str, topic: str) -> None:
        """Publishes an event through the engine alone, beside the stored path. Raises `RefusedError`."""
        body = msgspec.json.encode({"id": event, "topic": topic, "kind": "play", "payload": PAYLOAD})
        await self._post(f"http://{self._target.publish_at}/v1/events", "presence", body, JSON)

    async def counters(self) -> dict[str, Any]:
        """Returns the counters of the notification module."""
        async with self._http.get(f"http://{self._target.admin_at}/v1/stats") as answer:
            (role,) = (await answer.json())["roles"]
            found: dict[str, Any] = role["counters"]
            return found

    async def decided(self) -> int:
        """Returns how many rows were decided in all."""
        return int((await self.counters())["notification_decided_total"])

    async def until_decided(self, rows: int, patience_s: float) -> bool:
        """Waits until so many rows were decided in all. Returns whether they were within `patience_s`."""
        deadline_s = asyncio.get_running_loop().time() + patience_s
        while (is_late := await self.decided() < rows) and asyncio.get_running_loop().time() < deadline_s:  # noqa: ASYNC110 - elsewhere
            await asyncio.sleep(0.1)
        return not is_late

    async def _notify(self, body: bytes | Callable[[], AsyncIterable[bytes]], content_type: str) -> dict[str, Any]:
        return await self._post(f"http://{self._target.notify_at}/v1/notifications", "artist", body, content_type)

    async def _post(self, url: str, service: str, body: bytes | Callable[[], AsyncIterable[bytes]], content_type: str) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self._tokens[service]}", "Content-Type": content_type}
        for _ in range(TRIES):
            async with self._http.post(url, data=body() if callable(body) else body, headers=headers) as answer:
                if answer.status < HTTPStatus.MULTIPLE_CHOICES:
                    found: dict[str, Any] = await answer.json()
                    return found
                trouble = f"{answer.status}: {await answer.text()}"
            if answer.status != HTTPStatus.SERVICE_UNAVAILABLE:
                break
            self.repeated += 1
            await asyncio.sleep(RETRY_S)
        raise RefusedError(trouble)


async def paced(rate: float, is_over: Callable[[], bool], act: Callable[[int, int], Coroutine[Any, Any, None]]) -> int:
    """Calls `act(number, due_us)` at `rate` a second until `is_over`, without waiting for earlier calls. Returns the number of calls.

    Each call gets the moment at which it was due. So the waiting counts even when a server stalls.
    """
    start_us, number = now_us(), 0
    async with asyncio.TaskGroup() as tasks:
        while not is_over():
            due_us = start_us + int(number * 1e6 / rate)
            await asyncio.sleep(max(0.0, (due_us - now_us()) / 1e6))
            tasks.create_task(act(number, due_us))
            number += 1
    return number


def lasting(seconds: float) -> Callable[[], bool]:
    """Returns a condition that holds from so many seconds after now on."""
    end_us = now_us() + int(seconds * 1e6)
    return lambda: now_us() >= end_us
