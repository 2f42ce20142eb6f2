"""Mosquitto: MQTT 3.1.1 with quality of service 0, over WebSocket for clients and over TCP for publishers."""

from collections.abc import Sequence
from typing import Final

from ..frames import BINARY
from ..stamp import PAYLOAD_BYTES
from .dialect import DialectError

_CONNECT: Final = 0x10
_PUBLISH: Final = 0x30
_SUBSCRIBE: Final = 0x82
_SUBACK: Final = 0x90
_REFUSED: Final = b"\x80"
_VERSION_AND_FLAGS: Final = b"\x00\x04MQTT\x04\x02\x00\x00"  # 3.1.1, clean session, no keep-alive
_FIRST_PACKET: Final = b"\x00\x01"


class Mosquitto:
    """The dialect of Mosquitto. Each WebSocket message is one MQTT packet."""

    path = "/"
    subprotocol = "mqtt"
    opcode = BINARY

    def topic(self, name: str) -> str:
        return f"hm/presence/user/{name}"

    def hello(self, client: int, topics: Sequence[str]) -> list[bytes]:
        wishes = b"".join(_text(topic) + b"\x00" for topic in topics)
        return [self._connect(f"client{client}"), _packet(_SUBSCRIBE, _FIRST_PACKET + wishes)]

    @staticmethod
    def _connect(name: str) -> bytes:
        return _packet(_CONNECT, _VERSION_AND_FLAGS + _text(name))

    def confirms(self, message: bytes) -> bool:
        if message[0] != _SUBACK:
            return False
        if _REFUSED in message[4:]:
            raise DialectError("a subscription was refused")
        return True

    def answer(self, message: bytes) -> bytes:
        return b""

    def envelope(self, topic: str) -> tuple[bytes, bytes]:
        # The packet's length comes first, so it is made with zeros for a payload, which are cut off again.
        return _packet(_PUBLISH, _text(topic) + bytes(PAYLOAD_BYTES))[:-PAYLOAD_BYTES], b""

    def greeting(self, publisher: int) -> bytes:
        return self._connect(f"publisher{publisher}")

    def http_head(self, content_type: str) -> bytes:
        raise TypeError("Mosquitto takes no HTTP")


def _text(text: str) -> bytes:
    return len(text).to_bytes(2) + text.encode()


def _packet(kind: int, body: bytes) -> bytes:
    length, size = len(body), bytearray()
    while True:  # seven bits a byte, the lowest first
        length, low = divmod(length, 128)
        size.append(low | (0x80 if length else 0))
        if not length:
            return bytes((kind, *size)) + body
