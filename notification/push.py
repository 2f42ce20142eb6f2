"""Web Push (RFC 8030): encrypted notifications go to the push services that browsers have chosen, and an `Outcome` comes back.

Where a push goes is said by a client, so an endpoint is a stranger's URL: only https, never to private addresses (whatever
the name resolves to at the moment of connecting), no redirects, and little is read of the answer.
"""

import re
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from hashlib import blake2b
from http import HTTPStatus
from typing import Annotated, Final, Literal

import msgspec
from py_vapid import VapidException  # type: ignore[import-untyped]
from pywebpush import WebPusher, WebPushException  # type: ignore[import-untyped]
from yarl import URL

from infra.kernel.errors import ConfigError, Refused, Unavailable
from infra.kernel.public_address import is_this_machine
from infra.runtime.outgoing.options import OutgoingOptions

from .host_caller import CallBounds, HostCaller
from .letter import Line
from .outcome import Outcome, delivered, failed, gone, retry
from .vapid import Vapid

MAX_ENDPOINT_CHARS: Final = 2048
# Push services take 4096 bytes after encryption; some less.
MAX_PAYLOAD_BYTES: Final = 3072
MAX_RETRY_AFTER_S: Final = 86_400.0
# Pushes to one host that are under way or wait. More are refused for now, so that nobody's line grows without an end.
MAX_WAITING_PER_HOST: Final = 256
MAX_WAITING: Final = 16_384
KEY_BYTES: Final = 65
AUTH_BYTES: Final = 16

_BASE64URL: Final = re.compile(r"[A-Za-z0-9_-]+={0,2}")
_VISIBLE: Final = re.compile(r"[\x21-\x7e]+")
# No push service has a bare address; and 127.1, 2130706433 or 0x7f.1 are addresses in disguise. Where names lead is OutgoingClient's.
_PUBLIC_NAME: Final = re.compile(r"(?=.{1,253}\Z)(?:[a-z0-9_-]{1,63}\.)+[a-z][a-z0-9-]{0,62}")
_THIS_MACHINE: Final = ("127.0.0.0/8", "::1")
_TAKEN: Final = (HTTPStatus.OK, HTTPStatus.CREATED, HTTPStatus.ACCEPTED)
_GONE: Final = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
_LATER: Final = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_EARLY, HTTPStatus.TOO_MANY_REQUESTS)
_STRANGERS: Final = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)

Urgency = Literal["very-low", "low", "normal", "high"]


class PushOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of Web Push.

    - `contact`: `mailto:` or `https:`, whom a push service asks when our pushes make trouble.
    - `allow_loopback`: takes endpoints on this machine, also with http. For tests and demos.
    - `timeout_s`: for one push, connecting included.
    - `max_connections`: pushes at once; `max_connections_per_host` of them to one host, and half of them to all hosts that are not known to
      answer soon.
    """

    contact: str
    allow_loopback: bool = False
    timeout_s: Annotated[float, msgspec.Meta(gt=0, le=600)] = 10.0
    max_connections: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 32
    max_connections_per_host: Annotated[int, msgspec.Meta(ge=1, le=1000)] = 16


class Subscription(msgspec.Struct, frozen=True):
    """A subscription as a browser's `PushSubscription.toJSON()` says it: where to push, and for which key (base64url)."""

    endpoint: str
    p256dh: str
    auth: str

    def check(self, *, allow_loopback: bool = False) -> None:
        """Raises `Refused("bad-field")` for an endpoint that may not be called, and for keys that nothing can be encrypted for."""
        check_endpoint(self.endpoint, allow_loopback=allow_loopback)
        if _length(self.auth) != AUTH_BYTES:
            raise Refused("bad-field", f"auth must be {AUTH_BYTES} bytes as base64url")
        if _length(self.p256dh) != KEY_BYTES:
            raise Refused("bad-field", f"p256dh must be an uncompressed P-256 point: {KEY_BYTES} bytes as base64url")
        try:
            self.encrypt(b"?")
        except ValueError:
            raise Refused("bad-field", "p256dh is no point of the curve P-256") from None

    def encrypt(self, payload: bytes) -> bytes:
        """Returns `payload` for the eyes of the browser only (RFC 8291), different each time. Raises ValueError for bad keys."""
        info = {"endpoint": self.endpoint, "keys": {"p256dh": self.p256dh, "auth": self.auth}}
        try:
            return bytes(WebPusher(info).encode(payload)["body"])
        except WebPushException as error:
            raise ValueError(error.message) from None


class Pusher:
    """The connections to push services. At most `max_connections` pushes are under way, fewer to one host; others wait, in order.

    Half of the places are for hosts that have answered soon: whoever names hosts that never answer cannot take these.
    """

    def __init__(
        self, options: PushOptions, vapid: Vapid, clock: Callable[[], float] = time.time, outgoing: OutgoingOptions | None = None
    ) -> None:
        """Raises `ConfigError` for a contact that push services would refuse.

        - `clock`: gives Unix time in seconds.
        - `outgoing`: where this process may call.
        """
        self.public_key, self.allow_loopback = vapid.public_key, options.allow_loopback
        self._options = options
        self._vapid = vapid
        self._clock = clock
        private = [*(outgoing.private if outgoing else []), *(_THIS_MACHINE if options.allow_loopback else [])]
        bounds = CallBounds(
            under_way=options.max_connections,
            under_way_per_host=options.max_connections_per_host,
            here=MAX_WAITING,
            here_per_host=MAX_WAITING_PER_HOST,
            timeout_s=options.timeout_s,
        )
        self._caller = HostCaller(bounds, OutgoingOptions(private=private))
        try:
            vapid.headers("https://push.example.org", options.contact, clock())
        except VapidException:
            raise ConfigError(
                f"push.contact {options.contact!r} must be like mailto:ops@example.org or https://example.org/contact"
            ) from None

    async def send(self, subscription: Subscription, payload: bytes, ttl_s: int, urgency: Urgency = "normal", topic: str = "") -> Outcome:
        """Encrypts `payload` and hands it to the push service. Raises nothing for what a client said or a service does.

        - `ttl_s`: how long the service keeps it for a device that is away.
        - `urgency`: whether a device that saves power is woken for it.
        - `topic`: replaces what waits with the same one (`collapse_key`); empty for none.

        DELIVERED: the service has it. GONE: forget this subscription. FAILED: never, for this push. RETRY: busy, broken,
        or silent for `timeout_s`; then the device may get it twice. Cancelling closes the connection.
        """
        if len(payload) > MAX_PAYLOAD_BYTES:
            return failed(f"the payload has {len(payload)} bytes; at most {MAX_PAYLOAD_BYTES} are pushed")
        try:
            url = check_endpoint(subscription.endpoint, allow_loopback=self._options.allow_loopback)
            body = subscription.encrypt(payload)
        except (Refused, ValueError) as error:
            return failed(f"the subscription cannot be used: {error}")
        headers = {
            "Content-Type": "application/octet-stream",
            "Content-Encoding": "aes128gcm",
            "TTL": str(ttl_s),
            "Urgency": urgency,
        } | ({"Topic": topic} if topic else {})
        try:
            answer = await self._caller.post(url, body, lambda: headers | self._signed(url))
        except Refused as error:
            return failed(f"the subscription cannot be used: {error}")
        except Unavailable as trouble:
            return retry(str(trouble))
        reason = f"{url.host} answers {answer.status} {answer.body.decode(errors='replace')}"
        return judge(answer.status, reason, wait_s(answer.headers.get("Retry-After"), self._clock()))

    async def close(self) -> None:
        """Waits for the pushes under way (each has its timeout), and closes all connections. May be called twice.

        Cancelling closes them at once.
        """
        await self._caller.close()

    def _signed(self, url: URL) -> dict[str, str]:
        return self._vapid.headers(str(url.origin()), self._options.contact, self._clock())


def judge(status: int, reason: str, retry_after_s: float | None) -> Outcome:
    """Returns what the HTTP `status` means for a push (RFC 8030, 5, 7.3 and 8.4), with `reason`.

    `retry_after_s` counts where another try makes sense.
    """
    if status in _TAKEN:
        return delivered(reason)
    if status in _GONE:
        return gone(reason)
    if status in _LATER or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        return retry(reason, retry_after_s)
    if status in _STRANGERS:
        return failed(f"{reason}; is the subscription for our VAPID key, and is the clock right?")
    return failed(reason)


def wait_s(retry_after: str | None, now_s: float) -> float | None:
    """Returns a `Retry-After` header (seconds or a date) in seconds from Unix time `now_s`, at most a day; None if it makes no sense."""
    text = (retry_after or "").strip()
    try:
        wanted_s = float(text) if text.isascii() and text.isdigit() else parsedate_to_datetime(text).timestamp() - now_s
    except (ValueError, OverflowError):
        return None
    return min(max(wanted_s, 0.0), MAX_RETRY_AFTER_S)


def check_endpoint(endpoint: str, *, allow_loopback: bool) -> URL:
    """Returns the URL to post to. Raises `Refused("bad-field")` for one that may not be called."""
    if len(endpoint) > MAX_ENDPOINT_CHARS or not _VISIBLE.fullmatch(endpoint):
        raise Refused("bad-field", f"endpoint must be a URL of at most {MAX_ENDPOINT_CHARS} visible ASCII characters")
    try:
        url = URL(endpoint, encoded=True)
        host = url.host or ""
    except ValueError:
        raise Refused("bad-field", f"endpoint {endpoint[:80]!r} is no URL") from None
    if url.user is not None or url.password is not None:
        raise Refused("bad-field", "endpoint must not hold a user name or password")
    if allow_loopback and is_this_machine(host) and url.scheme in ("http", "https"):
        return url
    if url.scheme != "https":
        raise Refused("bad-field", f"endpoint must start with https://, got {endpoint[:80]!r}")
    if not _PUBLIC_NAME.fullmatch(host):
        raise Refused("bad-field", f"endpoint must name a host of the public internet, got {host!r}")
    return url


def collapse_key(text: str) -> str:
    """Returns the `Topic` of a push, 32 characters of base64url (RFC 8030, 5.4): equal texts have equal ones."""
    return urlsafe_b64encode(blake2b(text.encode(), digest_size=24).digest()).decode()


def push_payload(line: Line) -> bytes:
    """Returns what the page's service worker gets: `title` and `body` to show, and what the notification is.

    Raises `Refused("bad-topic")`.
    """
    title, body = line.words()
    return msgspec.json.encode(
        {"title": title, "body": body, "topic": line.topic, "class": line.cls, "kind": line.kind, "ts": line.ts_ms, "id": line.id}
    )


def _length(text: str) -> int:
    """Returns how many bytes `text` is as base64url; 0 if it is none."""
    if not _BASE64URL.fullmatch(text):
        return 0
    try:
        return len(urlsafe_b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4)))
    except ValueError:
        return 0
