"""Coming back to NATS: from a number of a JetStream stream that keeps the last message of each subject in memory."""

import asyncio
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from ..dialects.jetstream import STREAM, SUBJECTS, JetStream
from ..dialects.nats import Nats
from ..plan import Target
from ..stamp import payload

# One consumer for each client; without a number a stream takes a thousand.
CONFIG: Final = {
    "name": STREAM,
    "subjects": [SUBJECTS],
    "storage": "memory",
    "max_msgs_per_subject": 1,
    "max_consumers": 1_000_000,
    "num_replicas": 1,
}
API: Final = b"$JS.API.STREAM"
ANSWER_S: Final = 10.0


class ReturningToNats:
    """Clients that come back to the server `target`, which has JetStream (see `Returning`)."""

    def __init__(self, target: Target) -> None:
        self._target, self._last = target, 0

    def plain(self) -> Nats:
        return Nats()

    def staying(self) -> Nats:
        return Nats()

    def recovering(self) -> JetStream:
        return JetStream(self._last)

    async def mark(self) -> None:
        self._last = await self._last_of(b"CREATE", msgspec.json.encode(CONFIG))

    async def publish(self, topics: Sequence[str]) -> None:
        nats, one = Nats(), payload(0, 0)
        publications = b"".join(one.join(nats.envelope(topic)) for topic in topics)
        await self._told(publications + b"PING\r\n", b"PONG\r\n")
        while await self._last_of(b"INFO", b"") < self._last + len(topics):
            pass  # the stream takes what the server has, a moment later

    async def _last_of(self, request: bytes, body: bytes) -> int:
        """Returns the number of the last message of the stream, as the answer to `request` says."""
        asked = b"PUB %b.%b.%b re %d\r\n%b\r\n" % (API, request, STREAM.encode(), len(body), body)
        answer: dict[str, Any] = msgspec.json.decode(await self._told(b"SUB re 1\r\n" + asked, b"}\r\n", b"MSG re 1 "))
        return int(answer["state"]["last_seq"])

    async def _told(self, lines: bytes, end: bytes, begin: bytes = b"") -> bytes:
        """Says `lines`; returns what comes up to `end`, behind the line that begins with `begin`. Raises TimeoutError and OSError."""
        host, _, port = self._target.publish_at.rpartition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        try:
            async with asyncio.timeout(ANSWER_S):
                writer.write(Nats().greeting(0) + lines)
                if begin:
                    await reader.readuntil(begin)
                    await reader.readline()
                return await reader.readuntil(end)
        finally:
            writer.close()
