"""The opening handshake of a WebSocket, server side (RFC 6455 4.2), for the one subprotocol that Segue speaks."""

from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from collections.abc import Mapping
from hashlib import sha1
from typing import Final

from .errors import Refused

SUBPROTOCOL: Final = "segue.v1"
VERSION: Final = "13"
_GUID: Final = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_KEY_BYTES: Final = 16


def accept_key(key: str) -> str:
    """Returns the `Sec-WebSocket-Accept` value that proves that `key` was read (RFC 6455 4.2.2)."""
    return b64encode(sha1((key + _GUID).encode(), usedforsecurity=False).digest()).decode()


def check_handshake(method: str, headers: Mapping[bytes, bytes]) -> str:
    """Returns the `Sec-WebSocket-Key` of a request that may become a WebSocket (RFC 6455 4.2.1).

    `headers` has names in lower case; a header that came several times is joined with commas.
    Raises `Refused("bad-handshake")` with a reason that says what to send instead.
    """
    key = headers.get(b"sec-websocket-key", b"").decode("latin-1")
    if method != "GET":
        raise Refused("bad-handshake", f"a WebSocket is opened with GET, not with {method}")
    if b"websocket" not in _tokens(headers, b"upgrade"):
        raise Refused("bad-handshake", "this path is a WebSocket: send 'Upgrade: websocket' or use a WebSocket client")
    if b"upgrade" not in _tokens(headers, b"connection"):
        raise Refused("bad-handshake", "send 'Connection: Upgrade'; a proxy on the way may have removed it")
    if headers.get(b"sec-websocket-version") != VERSION.encode():
        raise Refused("bad-handshake", f"send 'Sec-WebSocket-Version: {VERSION}'; no other version is spoken here")
    if not _is_key(key):
        raise Refused("bad-handshake", "send one Sec-WebSocket-Key: 16 random bytes in base64")
    if SUBPROTOCOL.encode() not in _tokens(headers, b"sec-websocket-protocol"):
        raise Refused("bad-handshake", f"offer the subprotocol: 'Sec-WebSocket-Protocol: {SUBPROTOCOL}'")
    return key


def handshake_response(key: str) -> bytes:
    """Returns the 101 response to a request that `check_handshake` let pass with `key`."""
    return (
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        f"Sec-WebSocket-Accept: {accept_key(key)}\r\nSec-WebSocket-Protocol: {SUBPROTOCOL}\r\n\r\n"
    ).encode()


def _tokens(headers: Mapping[bytes, bytes], name: bytes) -> set[bytes]:
    """Returns the members of a comma-separated header, in lower case."""
    return {token.strip().lower() for token in headers.get(name, b"").split(b",")}


def _is_key(key: str) -> bool:
    try:
        return len(b64decode(key, validate=True)) == _KEY_BYTES
    except (Base64Error, ValueError):
        return False
