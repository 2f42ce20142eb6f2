"""The dialect of `bench/naive.py`, the plain loop of aiohttp and Redis."""

from collections.abc import Sequence

import msgspec

from ..frames import TEXT


class NaiveDialect:
    """The dialect of the naive server: JSON, with no tokens and no batches."""

    path = "/ws"
    subprotocol = ""
    opcode = TEXT

    def topic(self, name: str) -> str:
        return f"hm://presence/user/{name}/"

    def hello(self, client: int, topics: Sequence[str]) -> list[bytes]:
        return [msgspec.json.encode({"subscribe": topics})]

    def confirms(self, message: bytes) -> bool:
        return b'"subscribed"' in message

    def answer(self, message: bytes) -> bytes:
        return b""

    def envelope(self, topic: str) -> tuple[bytes, bytes]:
        return b'{"topic":"%b","data":' % topic.encode(), b"}"

    def greeting(self, publisher: int) -> bytes:
        return b""

    def http_head(self, content_type: str) -> bytes:
        return f"POST /publish HTTP/1.1\r\nHost: bench\r\nContent-Type: {content_type}\r\n".encode()
