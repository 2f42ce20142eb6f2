"""A real push service on the loopback: it takes what RFC 8030 describes, and decrypts and verifies as a browser and its service would."""

import asyncio
import os
from base64 import urlsafe_b64decode, urlsafe_b64encode
from typing import Any, Final, NamedTuple, Self

import http_ece  # type: ignore[import-untyped]
import jwt
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from notification.push import Subscription
from segue.demo.loopback import Loopback

HANG: Final = 0


class Push(NamedTuple):
    """One push that was taken: the plain text, the headers, and what the VAPID token claims, once its signature has been verified."""

    payload: bytes
    headers: dict[str, str]
    claims: dict[str, Any]
    public_key: str


class PushReceiver:
    """`async with PushReceiver() as receiver:` serves; `receiver.subscription()` is what the browser would hand out.

    `answers` are (status, headers, body), first one first; when there are none it is 201. Status `HANG` is silence until the end.
    """

    def __init__(self) -> None:
        self.answers: list[tuple[int, dict[str, str], str]] = []
        self.pushes: list[Push] = []
        self.requests = 0
        self.at_once = 0
        self.most_at_once = 0
        self.hanging = asyncio.Event()
        self.origin = ""
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._auth = os.urandom(16)
        self._end = asyncio.Event()
        self._server = Loopback(web.post("/push/{id}", self._take))

    async def __aenter__(self) -> Self:
        await self._server.__aenter__()
        self.origin = f"http://{self._server.address}"
        return self

    async def __aexit__(self, *_: object) -> None:
        self.let_go()
        await self._server.__aexit__()

    def let_go(self) -> None:
        """Ends all silence."""
        self._end.set()

    def subscription(self) -> Subscription:
        """Returns a subscription as `PushSubscription.toJSON()` has it."""
        point = self._key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return Subscription(f"{self.origin}/push/device-1", _encode(point), _encode(self._auth))

    async def _take(self, request: web.Request) -> web.StreamResponse:
        self.requests += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            return await self._answer(request)
        finally:
            self.at_once -= 1

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        status, headers, text = self.answers.pop(0) if self.answers else (201, {}, "")
        body = await request.read()
        if status == HANG:
            self.hanging.set()
            await self._end.wait()
        push = self._open(body, dict(request.headers))
        if status == 201:
            self.pushes.append(push)
        return web.Response(status=status or 500, headers=headers, text=text)

    def _open(self, body: bytes, headers: dict[str, str]) -> Push:
        payload = http_ece.decrypt(body, private_key=self._key, auth_secret=self._auth, version="aes128gcm")
        scheme, _, rest = headers["Authorization"].partition(" ")
        assert scheme == "vapid"
        fields = dict(field.split("=", 1) for field in rest.split(","))
        key = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), _decode(fields["k"]))
        claims = jwt.decode(fields["t"], key, ["ES256"], audience=f"http://{headers['Host']}", options={"verify_exp": False})
        return Push(payload, headers, claims, fields["k"])


def _encode(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode()


def _decode(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
