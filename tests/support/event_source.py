"""A client of Server-Sent Events, which reads a stream as browsers do (WHATWG HTML, 9.2.6)."""

import asyncio
import json
from types import TracebackType
from typing import Any, NamedTuple, Self
from urllib.parse import urlencode

from infra.runtime.address import Address

DEADLINE_S = 30.0


class Message(NamedTuple):
    """A message of a stream: its name, and its data as JSON says it."""

    name: str
    data: Any


class EventSource:
    """`async with EventSource(address, token, topics) as source:` what a browser's EventSource is, but for coming back by itself.

    `last_id` and `retry_ms` are what the server said last; `comments` counts signs of life; `status` is that of the answer.
    """

    def __init__(self, address: str, token: str, topics: list[str], *, follow: str = "", last_id: str = "", **headers: str) -> None:
        self._where = Address.parse(address)
        asked = {"topics": ",".join(topics), "token": token, "follow": follow}
        self._path = f"/v1/stream?{urlencode({name: value for name, value in asked.items() if value})}"
        self._headers = headers | ({"Last-Event-ID": last_id} if last_id else {})
        self.last_id, self.retry_ms = last_id, 0
        self.comments = 0
        self.status = 0
        self.answer = b""
        """What came with a refusal."""

    async def __aenter__(self) -> Self:
        self._reader, self._writer = await asyncio.open_connection(self._where.host, self._where.port)
        head = {"Host": "segue.example", "Accept": "text/event-stream"} | self._headers
        lines = [f"GET {self._path} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items()), "", ""]
        self._writer.write("\r\n".join(lines).encode())
        async with asyncio.timeout(DEADLINE_S):
            said = (await self._reader.readuntil(b"\r\n\r\n")).decode()
            self.status = int(said.split()[1])
            if self.status != 200:
                length = int(said.lower().partition("content-length: ")[2].split()[0])
                self.answer = await self._reader.readexactly(length)
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._writer.close()

    def say(self, data: bytes) -> None:
        """Sends `data`, which no client of a stream should."""
        self._writer.write(data)

    async def next(self, name: str = "message") -> Any:
        """Returns the data of the next message of this name; others are passed over. Raises EOFError at the end."""
        async with asyncio.timeout(DEADLINE_S):
            while (message := await self._message()).name != name:
                pass
        return message.data

    async def until_id(self, unlike: str = "") -> str:
        """Returns the position that was told last, when there is one `unlike` this."""
        async with asyncio.timeout(DEADLINE_S):
            while self.last_id in ("", unlike):
                await self._block()
        return self.last_id

    async def until_comment(self) -> None:
        """Waits for a sign of life."""
        async with asyncio.timeout(DEADLINE_S):
            while not self.comments:
                await self._block()

    async def end(self) -> None:
        """Waits until the server has ended the stream."""
        async with asyncio.timeout(DEADLINE_S):
            await self._reader.read()

    async def _message(self) -> Message:
        while (message := await self._block()) is None:
            pass
        return message

    async def _block(self) -> Message | None:
        """Takes the lines up to an empty one. Returns the message that they are, None if there is no data in them."""
        name, data = "", []
        while line := (await self._line()):
            field, _, value = line.partition(":")
            value = value.removeprefix(" ")
            match field:
                case "":
                    self.comments += 1
                case "event":
                    name = value
                case "data":
                    data.append(value)
                case "id":
                    self.last_id = value
                case "retry":
                    self.retry_ms = int(value)
        return Message(name or "message", json.loads("\n".join(data))) if data else None

    async def _line(self) -> str:
        line = await self._reader.readline()
        if not line.endswith(b"\n"):
            raise EOFError
        return line.decode().rstrip("\r\n")
