"""A real push service on the loopback, and the browsers behind it. Each browser has keys of its own, and decrypts what comes."""

import os
from base64 import urlsafe_b64encode
from collections.abc import Callable
from typing import Any, Final

import http_ece  # type: ignore[import-untyped]
import msgspec
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from .loopback import Loopback

AUTH_BYTES: Final = 16


class PushService(Loopback):
    """A push service: `async with PushService(took) as service:`. `took(user, push)` is called with what the user's browser reads."""

    def __init__(self, took: Callable[[str, dict[str, Any]], None]) -> None:
        super().__init__(web.post("/push/{user}", self._take))
        self._took = took
        self._keys: dict[str, tuple[ec.EllipticCurvePrivateKey, bytes]] = {}

    def subscribe(self, user: str) -> dict[str, Any]:
        """Returns a new subscription of the user's browser, as `PushSubscription.toJSON()` has it."""
        key, auth = self._keys[user] = ec.generate_private_key(ec.SECP256R1()), os.urandom(AUTH_BYTES)
        point = key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return {"endpoint": f"http://{self.address}/push/{user}", "keys": {"p256dh": _base64url(point), "auth": _base64url(auth)}}

    async def _take(self, request: web.Request) -> web.Response:
        user = request.match_info["user"]
        if user not in self._keys:
            return web.Response(status=404)
        key, auth = self._keys[user]
        text = http_ece.decrypt(await request.read(), private_key=key, auth_secret=auth, version="aes128gcm")
        self._took(user, msgspec.json.decode(text, type=dict[str, Any]))
        return web.Response(status=201)


def _base64url(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()
