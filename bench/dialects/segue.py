"""Segue: JSON over WebSocket, HTTP for services (design 4.1, 4.2)."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from segue.cli.state import secret_of
from segue.cluster.tokens import service_token, user_token

from ..frames import TEXT
from .dialect import DialectError


class Segue:
    """The dialect of Segue. Each client is a user of its own with its own token. The publisher is the presence service."""

    path = "/v1/connect"
    subprotocol = "segue.v1"
    opcode = TEXT

    def __init__(self, state: str) -> None:
        self._secret = secret_of(Path(state))

    def topic(self, name: str) -> str:
        return f"hm://presence/user/{name}/"

    def hello(self, client: int, topics: Sequence[str]) -> list[bytes]:
        user = f"bench{client}"
        hello = {"op": "hello", "token": user_token(self._secret, user), "client": user, "device": "desktop"}
        subscribe = {"op": "subscribe", "id": 1, "topics": topics, "wait": "local"}
        return [msgspec.json.encode(hello), msgspec.json.encode(subscribe)]

    def confirms(self, message: bytes) -> bool:
        if message.startswith(b'{"op":"welcome"'):
            return False
        if b'"installed":"local"' in message and b'"rejected":[]' in message:
            return True
        raise DialectError(message[:200].decode())

    def answer(self, message: bytes) -> bytes:
        return b""

    def envelope(self, topic: str) -> tuple[bytes, bytes]:
        return b'{"topic":"%b","kind":"play","payload":' % topic.encode(), b"}"

    def greeting(self, publisher: int) -> bytes:
        return b""

    def http_head(self, content_type: str) -> bytes:
        token = service_token(self._secret, "presence")
        lines = ["POST /v1/events HTTP/1.1", "Host: bench", f"Authorization: Bearer {token}", f"Content-Type: {content_type}", ""]
        return "\r\n".join(lines).encode()
