"""The artist service of the stored path's benchmarks: notices over HTTP, at a rate that does not depend on the answers."""

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
# What a 503 says by Retry-After, and how often it is obeyed.
RETRY_S: Final = 1.0
TRIES: Final = 30
PAYLOAD: Final = {"album": "Homogenic", "tracks": 10, "cover": "x" * 60}
NDJSON: Final = "application/x-ndjson"
JSON: Final = "application/json"


class RefusedError(Exception):
    """The module did not take a notice; the text has its answer."""


def notice(event: str, followers: Sequence[str] | None = None, artist: str = "bjork") -> dict[str, Any]:
    """Returns an album of `artist` under the id `event`; without `followers` the first line of a stream."""
    header = {"id": event, "topic": f"hm://notifications/feed/{artist}%new-album/", "kind": "album", "payload": PAYLOAD, "producer": artist}
    return header if followers is None else header | {"followers": list(followers)}


class NoticeSender:
    """`async with Notifier(target) as notifier:` it may post. What is unavailable is repeated under the same id, as services do it;
    `repeated` counts that."""

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
        """Sends one notice of `artist`, under the id `event`, to `followers`. Raises `RefusedError`."""
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
        """Sends one notice with pages of followers, begun anew where it broke off; returns how many were taken. Raises `RefusedError`."""
        return int((await self._notify(lines, NDJSON))["accepted"])

    async def publish(self, event: str, topic: str) -> None:
        """Publishes an event by way of the engine alone, beside the stored path. Raises `RefusedError`."""
        body = msgspec.json.encode({"id": event, "topic": topic, "kind": "play", "payload": PAYLOAD})
        await self._post(f"http://{self._target.publish_at}/v1/events", "presence", body, JSON)

    async def counters(self) -> dict[str, Any]:
        """Returns what the notification module has counted."""
        async with self._http.get(f"http://{self._target.admin_at}/v1/stats") as answer:
            (role,) = (await answer.json())["roles"]
            found: dict[str, Any] = role["counters"]
            return found

    async def decided(self) -> int:
        """Returns how many rows were decided in all."""
        return int((await self.counters())["notification_decided_total"])

    async def until_decided(self, rows: int, patience_s: float) -> bool:
        """Waits until so many rows were decided in all; returns whether they were in time."""
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
    """Calls `act(number, due_us)` at `rate` a second until `is_over`, whether the calls before have ended or not.

    Each bears the moment at which it was due, so that a server that stalls cannot make the waiting disappear. Returns how many there were.
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
    """Returns a condition that holds from so many seconds after now."""
    end_us = now_us() + int(seconds * 1e6)
    return lambda: now_us() >= end_us
