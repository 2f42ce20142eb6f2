"""`python -m bench.micro.flooder WAY CLIENTS_AT PUBLISH_AT STATE [CA_FILE]` floods a site in one way until its input ends.

It comes from 127.0.0.2, so that doors can tell it from the pair that is measured. It says when it has
begun, and prints what it has done when it ends. With a file of authorities it speaks TLS at the door of clients.
"""

import asyncio
import contextlib
import os
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

import click
import msgspec

from infra.runtime.tls.contexts import client_context
from infra.runtime.tokens import issue
from segue.cli.state import secret_of

from ..frames import PING, TEXT, masked
from .handshake_flood import HandshakeFlood

SOURCE: Final = "127.0.0.2"
HANDSHAKE: Final = (
    b"GET /v1/connect HTTP/1.1\r\nHost: flooded\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: segue.v1\r\n\r\n"
)
TOPICS: Final = [f"hm://presence/user/flooded{n}/" for n in range(10_000)]
AT_A_TIME: Final = 2_000
BEGUN_S: Final = 0.5


class Flooder:
    """The connections of one who floods. `done` counts what was sent, by what it is."""

    def __init__(self, clients_at: str, publish_at: str, state: Path, ca_file: Path | None = None) -> None:
        self.done: Counter[str] = Counter()
        self._tls: dict[str, Any] = {"ssl": client_context(ca_file), "server_hostname": "localhost"} if ca_file else {}
        self._clients_at, self._publish_at = clients_at, publish_at
        self._secret = secret_of(state)

    async def strangers(self) -> None:
        """Sends pings without a token."""
        await self._together(4, lambda n: self._send_forever(masked(PING, b"") * 10_000, who=None))

    async def messages(self) -> None:
        """Sends pings of the protocol as a user."""
        await self._together(4, lambda n: self._send_forever(masked(TEXT, b'{"op":"ping"}') * 1_000, who=f"flooder{n}"))

    async def long_messages(self) -> None:
        """Sends messages of 240 KB as four users."""
        message = masked(TEXT, b'{"op":"ping","x":"%b"}' % (b"x" * 240_000))
        await self._together(4, lambda n: self._send_forever(message, who=f"flooder{n}"))

    async def topics(self) -> None:
        """Follows and leaves ten thousand topics."""
        batches = [TOPICS[start : start + AT_A_TIME] for start in range(0, len(TOPICS), AT_A_TIME)]
        said = [masked(TEXT, msgspec.json.encode({"op": op, "topics": each})) for op in ("subscribe", "unsubscribe") for each in batches]
        await self._together(1, lambda n: self._send_forever(b"".join(said), who="flooder"))

    async def unread(self) -> None:
        """Asks, and never reads an answer."""
        await self._together(
            20, lambda n: self._send_forever(masked(TEXT, b'{"op":"pull","limit":500}') * 100, who=f"flooder{n}", reads=False)
        )

    async def first_messages(self) -> None:
        """Holds first messages that are never whole, as 400 strangers."""
        await self._together(400, lambda n: self._send_forever(masked(TEXT, b"x" * 260_000)[:-1], who=None, once=True))

    async def handshakes(self) -> None:
        """Connects ten thousand times a second, if it can."""
        flood = HandshakeFlood(self._clients_at, HANDSHAKE, SOURCE, self.done)
        try:
            await asyncio.to_thread(flood.run)
        finally:
            flood.stop()

    async def stream(self) -> None:
        """Publishes lines without a pause."""
        await self._together(2, lambda n: self._publish())

    async def _together(self, number: int, once: Callable[[int], Awaitable[None]]) -> None:
        async def again(n: int) -> None:
            while True:
                with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
                    await once(n)
                await asyncio.sleep(0.001)

        async with asyncio.TaskGroup() as group:
            for n in range(number):
                group.create_task(again(n))

    async def _open(self, address: str, **tls: Any) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        host, _, port = address.rpartition(":")
        self.done["connections"] += 1
        return await asyncio.open_connection(host, int(port), local_addr=(SOURCE, 0), **tls)

    async def _send_forever(self, said: bytes, *, who: str | None, reads: bool = True, once: bool = False) -> None:
        """Opens a WebSocket, says hello as `who` if that is somebody, and sends `said` until it is closed; or `once`, and waits."""
        reader, writer = await self._open(self._clients_at, **self._tls)
        try:
            writer.write(HANDSHAKE)
            await reader.readuntil(b"\r\n\r\n")
            if who is not None:
                token = issue(self._secret, user=who, ttl_s=600, now_s=time.time())
                writer.write(masked(TEXT, msgspec.json.encode({"op": "hello", "token": token})))
            reading = asyncio.create_task(self._drop(reader)) if reads else None
            while reading is None or not reading.done():
                writer.write(said)
                self.done["sent_bytes"] += len(said)
                await writer.drain()
                await asyncio.sleep(3600 if once and reading is None else 0)
                if once and reading is not None:
                    await reading
        finally:
            writer.close()

    async def _drop(self, reader: asyncio.StreamReader) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(1 << 16):
                self.done["read_bytes"] += len(data)

    async def _publish(self) -> None:
        reader, writer = await self._open(self._publish_at)
        token = issue(self._secret, service="presence", ttl_s=600, now_s=time.time())
        lines = b"".join(b'{"topic":"hm://presence/user/flooded%d/","kind":"play","payload":{}}\n' % n for n in range(1_000))
        dropping = asyncio.create_task(self._drop(reader))
        try:
            head = f"POST /v1/events HTTP/1.1\r\nHost: flooded\r\nAuthorization: Bearer {token}\r\n"
            writer.write(f"{head}Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
            while not dropping.done():
                writer.write(b"%x\r\n%b\r\n" % (len(lines), lines))
                self.done["lines"] += 1_000
                await writer.drain()
        finally:
            writer.close()
            await dropping


# What is done over TLS, too. Handshakes are counted before TLS begins, and lines go to a broker.
TLS_WAYS: Final = ("strangers", "messages", "long_messages", "topics", "unread", "first_messages")
WAYS: Final[dict[str, Callable[[Flooder], Awaitable[None]]]] = {
    "strangers": Flooder.strangers,
    "messages": Flooder.messages,
    "long_messages": Flooder.long_messages,
    "topics": Flooder.topics,
    "unread": Flooder.unread,
    "first_messages": Flooder.first_messages,
    "handshakes": Flooder.handshakes,
    "stream": Flooder.stream,
}


@click.command()
@click.argument("way", type=click.Choice(list(WAYS)))
@click.argument("clients_at")
@click.argument("publish_at")
@click.argument("state", type=click.Path(path_type=Path))
@click.argument("ca_file", required=False, type=click.Path(path_type=Path))
def main(way: str, clients_at: str, publish_at: str, state: Path, ca_file: Path | None) -> None:
    """Flood a site in one WAY until standard input ends."""
    os.nice(10)  # on one core with the pair, whose waiting for it would be measured, too
    flooder = Flooder(clients_at, publish_at, state, ca_file)
    asyncio.run(_until_told(flooder, WAYS[way]))
    click.echo(msgspec.json.encode(flooder.done).decode())


async def _until_told(flooder: Flooder, way: Callable[[Flooder], Awaitable[None]]) -> None:
    task = asyncio.ensure_future(way(flooder))
    await asyncio.sleep(BEGUN_S)
    click.echo("begun")
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


if __name__ == "__main__":
    main()
