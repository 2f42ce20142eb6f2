"""The port: what the generator must know of a server's protocol."""

from collections.abc import Sequence
from typing import Protocol


class DialectError(Exception):
    """An error of a server that said what it should not have said. The text shows it."""


class Dialect(Protocol):
    """The protocol of one server. Publishing is either HTTP (`http_head`) or raw TCP (`greeting`), never both.

    - `path`, `subprotocol`: of the WebSocket upgrade.
    - `opcode`: of the frames that clients send.
    """

    path: str
    subprotocol: str
    opcode: int

    def topic(self, name: str) -> str:
        """Returns the server's form of the topic `name` (letters and digits)."""

    def hello(self, client: int, topics: Sequence[str]) -> list[bytes]:
        """Returns the first messages of client number `client`. They subscribe it to all of `topics`."""

    def confirms(self, message: bytes) -> bool:
        """Returns whether `message` says that all subscriptions stand. Raises `DialectError` if it says that they never will."""

    def answer(self, message: bytes) -> bytes:
        """Returns the response that a client owes to `message`, such as the pong to a ping of the protocol's own; usually nothing."""

    def envelope(self, topic: str) -> tuple[bytes, bytes]:
        """Returns what stands before and after a payload of `stamp.PAYLOAD_BYTES` in a publication on `topic`."""

    def greeting(self, publisher: int) -> bytes:
        """Returns what publisher number `publisher` says first on raw TCP."""

    def http_head(self, content_type: str) -> bytes:
        """Returns the request line and headers of a publishing request, without Content-Length and the empty line."""
