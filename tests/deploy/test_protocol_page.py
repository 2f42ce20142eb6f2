"""docs/client-protocol.md is true: its conversations take place as they are written, with a notification module where they need one."""

import json
import re
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from segue.cluster.role_spec import RoleOptions
from services.presence.options import PresenceOptions
from tests.notification.test_epoch import copy, put_back
from tests.support.cluster import Cluster
from tests.support.samples import service_token

PAGE = Path(__file__).resolve().parents[2] / "docs" / "client-protocol.md"
# Different each time: compared by their type.
VOLATILE = {"session", "time_ms", "expires_ms", "until_ms", "epoch", "seq", "ts", "changed", "after"}
NODE = "sto/n1"
Step = Callable[..., Awaitable[None]]


def lines() -> list[str]:
    """Returns all lines of all conversations, in order."""
    blocks = re.findall(r"^```text\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [line for block in blocks for line in block.splitlines()]


def form(said: Any) -> Any:
    """Returns what was said, with volatile values replaced by their types. An event's id is the broker's, unlike an answer's."""
    match said:
        case dict():
            volatile = VOLATILE | ({"id"} if said.get("op") == "event" else set())
            named = {key: type(value).__name__ if key in volatile else form(value) for key, value in said.items()}
            # There is none for a moment after an access point was started.
            return named | ({"point": "text or null"} if isinstance(said.get("point", ""), str | None) and "point" in said else {})
        case list():
            return [form(each) for each in said]
    return said


def epochs(said: Any) -> list[int]:
    """Returns all epochs of the store in a message, in order. The epoch of an event itself is the engine's."""
    if isinstance(said, dict) and said.get("op") == "event":
        return epochs(said["payload"])
    if isinstance(said, list):
        return [epoch for each in said for epoch in epochs(each)]
    if not isinstance(said, dict):
        return []
    return [epoch for key, value in said.items() for epoch in ([value] if key == "epoch" else epochs(value))]


class Device:
    """One connection. Events come between answers: each kind is in order by itself."""

    def __init__(self, ws: ClientConnection) -> None:
        self.ws = ws
        self.events: deque[Any] = deque()
        self.answers: deque[Any] = deque()

    async def hear(self, is_event: bool) -> Any:
        """Returns the next event, or the next answer."""
        wanted = self.events if is_event else self.answers
        while not wanted:
            message = json.loads(await self.ws.recv())
            (self.events if message["op"] == "event" else self.answers).append(message)
        return wanted.popleft()

    async def close(self) -> None:
        """Checks that everything that was said stands on the page."""
        await self.ws.close()
        left = [json.loads(text) async for text in self.ws]
        assert [*self.events, *self.answers, *left] == []


def graceless(options: RoleOptions) -> RoleOptions:
    """Returns options under which users are offline as soon as they have gone: the page does not tell how much time goes by."""
    return msgspec.structs.replace(options, grace_s=0.0, jitter_s=0.0) if isinstance(options, PresenceOptions) else options


class Stage:
    """Plays the page. `names` are the numbers of the page that are others in this run."""

    def __init__(self, folder: Path, stack: AsyncExitStack) -> None:
        self.names: dict[int, int] = {}
        self._folder, self._stack = folder, stack
        self._devices: dict[str, Device] = {}
        self._copied = b""

    async def open(self, state: Path | None = None) -> None:
        self.cluster = await self._stack.enter_async_context(Cluster(sites=1, state=state, change=graceless))
        await self.connect("")

    async def connect(self, device: str) -> None:
        (point,) = self.cluster.of("accesspoint")
        ws = await connect(f"ws://{point.address}/v1/connect", subprotocols=["segue.v1"], compression=None)  # type: ignore[list-item]
        self._devices[device] = Device(ws)

    async def close(self) -> None:
        for device in self._devices.values():
            await device.close()
        self._devices.clear()

    async def say(self, device: str, text: str) -> None:
        if device not in self._devices:
            await self.connect(device)
        for here, there in self.names.items():
            text = re.sub(rf"\b{here}\b", str(there), text)
        text = text.replace("A_SERVICES_TOKEN", service_token("presence"))
        await self._devices[device].ws.send(text.replace("TOKEN", self.cluster.token("alice")))

    async def hear(self, device: str, text: str) -> None:
        expected = json.loads(text)
        heard = await self._devices[device].hear(expected["op"] == "event")
        assert form(heard) == form(expected)
        pairs = list(zip(epochs(expected), epochs(heard), strict=True))
        assert all(self.names.setdefault(here, there) == there for here, there in pairs), f"other epochs than on the page: {pairs}"

    async def do(self, direction: str) -> None:
        for pattern, step in STEPS.items():
            if match := re.fullmatch(pattern, direction):
                return await step(self, *match.groups())
        raise AssertionError(f"the page says {direction!r}, which this test does not know how to do")

    # Stage directions.

    async def bob_plays(self) -> None:
        await self.cluster.play("bob", artist="Björk", track="Jóga")

    async def connect_anew(self) -> None:
        await self.close()
        await self.connect("")

    async def is_closed(self, number: str) -> None:
        assert await close_code(self._devices.pop("").ws) == int(number)

    async def have_notifications(self) -> None:
        await self.close()
        await self.open(self._folder)

    async def have_none(self) -> None:
        await self.close()
        await self.open()

    async def tell(self, album: str, follower: str) -> None:
        await self.cluster.presence_knows()
        await self.cluster.until(lambda: self._online() == len(self._devices))
        notice = {"id": album.lower(), "topic": "hm://notifications/feed/bjork%new-album/", "kind": "album", "producer": "bjork"}
        status, _ = await self.cluster.notify(notice | {"payload": {"album": album}, "followers": [follower]})
        assert status == 202

    def _online(self) -> int:
        """Returns how many devices presence knows of."""
        return sum(len(leases) for role in self.cluster.of("presence") for leases in role.leases._users.values())

    async def leave(self, device: str) -> None:
        await self._devices.pop(device).close()

    async def back_up(self) -> None:
        self._copied = copy(self._folder)

    async def restore(self) -> None:
        await self.cluster.leave(NODE)
        put_back(self._folder, self._copied)
        await self.cluster.restart(NODE)
        await self.cluster.settle()
        (point,) = self.cluster.of("accesspoint")
        await self.cluster.until(lambda: point.core.calls.has("notification"))


STEPS: dict[str, Step] = {
    "bob plays Jóga by Björk": Stage.bob_plays,
    "a new connection": Stage.connect_anew,
    r"closed with (\d+)": Stage.is_closed,
    "a new connection, at a site with a notification module": Stage.have_notifications,
    "a new connection, at a site without a notification module": Stage.have_none,
    r"Björk's album (\w+) is told to (\w+)": Stage.tell,
    r"the (\w+) disconnects": Stage.leave,
    "an operator copies the store": Stage.back_up,
    "the store is put back from the copy": Stage.restore,
}


@asynccontextmanager
async def stage(folder: Path) -> AsyncIterator[Stage]:
    async with AsyncExitStack() as stack:
        playing = Stage(folder, stack)
        await playing.open()
        yield playing
        await playing.close()


async def test_the_conversations_of_the_page_take_place_as_written(tmp_path: Path) -> None:
    script = lines()
    assert len(script) > 20
    async with stage(tmp_path) as playing:
        for line in script:
            said = re.fullmatch(r"(?:(\w+) )?([<>]) (.*)", line)
            if said is None:
                await playing.do(line.strip())
            elif said[2] == ">":
                await playing.say(said[1] or "", said[3])
            else:
                await playing.hear(said[1] or "", said[3])


async def close_code(ws: ClientConnection) -> int | None:
    """Returns the number with which the access point closes. Nothing else comes before."""
    try:
        raise AssertionError(f"expected a close, got {await ws.recv()!r}")
    except ConnectionClosed:
        return ws.close_code
