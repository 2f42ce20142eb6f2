"""NATS: its text protocol, over WebSocket for clients and over TCP, without acknowledgement, for publishers."""

from collections.abc import Sequence
from typing import Final

from ..frames import BINARY
from ..stamp import PAYLOAD_BYTES
from .dialect import DialectError

TOKEN: Final = "bench"
CONNECT: Final = b'CONNECT {"verbose":false,"pedantic":false,"auth_token":"%b"}\r\n' % TOKEN.encode()


class Nats:
    """The dialect of NATS. One message has several protocol lines. A PONG to our PING says that the lines before it were obeyed."""

    path = "/"
    subprotocol = ""
    opcode = BINARY

    def topic(self, name: str) -> str:
        return f"hm.presence.user.{name}"

    def hello(self, client: int, topics: Sequence[str]) -> list[bytes]:
        lines = "".join(f"SUB {topic} {number}\r\n" for number, topic in enumerate(topics, 1))
        return [CONNECT + lines.encode() + b"PING\r\n"]

    def confirms(self, message: bytes) -> bool:
        if b"-ERR" in message:
            raise DialectError(message[:200].decode())
        return b"PONG\r\n" in message

    def answer(self, message: bytes) -> bytes:
        return b"PONG\r\n" if message.endswith(b"PING\r\n") else b""

    def envelope(self, topic: str) -> tuple[bytes, bytes]:
        return b"PUB %b %d\r\n" % (topic.encode(), PAYLOAD_BYTES), b"\r\n"

    def greeting(self, publisher: int) -> bytes:
        return CONNECT

    def http_head(self, content_type: str) -> bytes:
        raise TypeError("NATS takes no HTTP")
