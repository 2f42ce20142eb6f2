"""Webhooks as Standard Webhooks says them (standardwebhooks.com): an endpoint, its secrets, and how a message is signed. Pure."""

import hmac
from base64 import b64decode, b64encode
from collections.abc import Sequence
from datetime import UTC, datetime
from hashlib import blake2b
from typing import Any, Final, NamedTuple

import msgspec
from yarl import URL

from infra.kernel.errors import Refused
from infra.kernel.public_address import IPNetwork, may_call, parse_address

from .notice import Notice

SECRET_BYTES: Final = 24
PREFIX: Final = "whsec_"
MAX_URL_CHARS: Final = 2048
# So long a secret that was replaced signs beside the new one.
ROTATION_S: Final = 86_400
# In the channel of a task, before the id of the webhook: each webhook of a user succeeds and fails for itself.
CHANNEL: Final = "webhook"


class Webhook(NamedTuple):
    """An endpoint of a user.

    - `id`: by which the user names it.
    - `url`: where messages are posted.
    - `secret`: signs them, "whsec_" and base64.
    - `previous`, `previous_until_ms`: the secret before, and until when it signs, too; "" and 0 without one.
    - `made_ms`: since when it is there.
    """

    id: str
    url: str
    secret: str
    previous: str
    previous_until_ms: int
    made_ms: int

    def secrets_at(self, now_ms: int) -> list[str]:
        """Returns the secrets that sign at `now_ms`, the newest first."""
        return [self.secret, *([self.previous] if self.previous and now_ms < self.previous_until_ms else [])]

    def rotated(self, secret: str, now_ms: int) -> "Webhook":
        """Returns it with a new `secret`, beside which the one before signs for a day."""
        return self._replace(secret=secret, previous=self.secret, previous_until_ms=now_ms + ROTATION_S * 1000)


def channel_of(webhook_id: str) -> str:
    """Returns the channel of the tasks of one webhook."""
    return f"{CHANNEL}:{webhook_id}"


def webhook_id_of(channel: str) -> str:
    """Returns the id of the webhook of a `channel_of`; "" for another channel."""
    kind, _, webhook_id = channel.partition(":")
    return webhook_id if kind == CHANNEL else ""


def secret_from(random_bytes: bytes) -> str:
    """Returns a secret as it is shown."""
    return PREFIX + b64encode(random_bytes).decode()


def headers_of(message_id: str, secrets: Sequence[str], now_s: float, body: bytes) -> dict[str, str]:
    """Returns the headers of a message: its id, which is the same at each attempt, the time of this one, and a signature by each secret."""
    stamp = str(int(now_s))
    return {
        "Content-Type": "application/json",
        "webhook-id": message_id,
        "webhook-timestamp": stamp,
        "webhook-signature": " ".join(_signature(secret, message_id, stamp, body) for secret in secrets),
    }


def message_id_of(user: str, webhook_id: str, event: str) -> str:
    """Returns the id of the message about `event` to a webhook of `user`: the same whenever it is asked for."""
    return f"msg_{blake2b(msgspec.json.encode([user, webhook_id, event]), digest_size=15).hexdigest()}"


def body_of(user: str, notice: Notice) -> bytes:
    """Returns the message that tells `user` of `notice`."""
    data = {
        "user": user,
        "topic": notice.topic,
        "class": notice.class_,
        "kind": notice.kind,
        "ts": notice.ts_ms,
        "id": notice.id,
        "payload": msgspec.Raw(notice.payload),
    }
    return encoded("notification", notice.ts_ms, data)


def encoded(type_: str, at_ms: int, data: dict[str, Any]) -> bytes:
    """Returns a message of `type_` about what happened `at_ms`."""
    moment = datetime.fromtimestamp(at_ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return msgspec.json.encode({"type": type_, "timestamp": moment, "data": data})


def check_url(text: str, private: Sequence[IPNetwork]) -> URL:
    """Returns the URL that a user names. Raises `Refused("bad-field")` for one that may not be called.

    `private`: networks that are not public and may be called all the same. Without TLS only addresses within them may.
    """
    if len(text) > MAX_URL_CHARS or not text.isascii() or not text.isprintable() or " " in text:
        raise Refused("bad-field", f"url must be at most {MAX_URL_CHARS} visible ASCII characters")
    try:
        url = URL(text)
        host, port = url.host or "", url.port
    except ValueError:
        raise Refused("bad-field", f"url {text[:80]!r} is no URL") from None
    if not host or not port or url.user is not None or url.password is not None or url.fragment:
        raise Refused("bad-field", "url must be https://host/path, without a user, a password or a fragment")
    address = parse_address("127.0.0.1" if host == "localhost" else host)
    if address is not None and not may_call(address, private):
        raise Refused("bad-field", f"{host} is not on the public internet; if it is meant, its operator lists it in outgoing.private")
    if url.scheme != "https" and not (url.scheme == "http" and address is not None and any(address in each for each in private)):
        raise Refused("bad-field", f"url must begin with https://, not {text[:40]!r}")
    # 127.1 and 0x7f.1 are addresses in disguise, and no name of the public internet ends so.
    if address is None and not ("." in host and host.rpartition(".")[2][:1].isalpha()):
        raise Refused("bad-field", f"url must name a host of the public internet, not {host[:80]!r}")
    return url


def _signature(secret: str, message_id: str, stamp: str, body: bytes) -> str:
    key = b64decode(secret.removeprefix(PREFIX))
    signed = hmac.digest(key, b".".join((message_id.encode(), stamp.encode(), body)), "sha256")
    return f"v1,{b64encode(signed).decode()}"
