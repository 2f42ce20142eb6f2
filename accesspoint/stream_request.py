"""A request for a stream of events: `GET /v1/stream?topics=...`. Pure."""

from collections.abc import Mapping
from typing import Final, NamedTuple
from urllib.parse import parse_qs

import msgspec

from infra.kernel.bearer import bearer_token
from infra.kernel.errors import Refused

from .messages import MAX_CLIENT_CHARS
from .point import read_point

PATH: Final = "/v1/stream"
_FIELDS: Final = ("client", "last_event_id", "token", "topics")


class StreamRequest(NamedTuple):
    """The wish of a client without a WebSocket: it shows a `token`, calls itself `client` and follows `topics`.

    - `point`: from where on it wants to go on; None for who was never here.
    - `is_lost`: it was here, and nobody can tell where it was.
    """

    token: str
    client: str
    topics: list[str]
    point: str | None
    is_lost: bool

    def hello(self) -> bytes:
        """Returns what it says first."""
        return msgspec.json.encode({"op": "hello", "token": self.token, "client": self.client})

    def subscribe(self) -> bytes:
        """Returns what it says then."""
        return msgspec.json.encode({"op": "subscribe", "topics": self.topics, "recover": True, "point": self.point})


def stream_request(query: str, headers: Mapping[bytes, bytes]) -> StreamRequest:
    """Returns what a request asks for. Raises `Refused` (bad-token, bad-field).

    A browser's `EventSource` sends no headers of its own, so the token may stand in the query, too.
    """
    fields = parse_qs(query)
    if strange := sorted(set(fields) - set(_FIELDS)):
        raise Refused("bad-field", f"the query has {strange[0]!r:.40}; it may have {', '.join(_FIELDS)}")
    topics = [topic for listed in fields.get("topics", []) for topic in listed.split(",") if topic]
    if not topics:
        raise Refused("bad-field", "say what to follow: ?topics=hm://presence/user/bob/ (several with commas, % as %25)")
    client = fields.get("client", [""])[-1]
    if len(client) > MAX_CLIENT_CHARS:
        raise Refused("bad-field", f"client has over {MAX_CLIENT_CHARS} characters")
    authorization = headers.get(b"authorization", b"").decode("latin-1")
    token = fields["token"][-1] if not authorization and "token" in fields else bearer_token(authorization)
    last = headers.get(b"last-event-id", b"").decode("latin-1") or fields.get("last_event_id", [""])[-1]
    point = last if last and _is_point(last) else None
    return StreamRequest(token, client, topics, point, is_lost=bool(last) and point is None)


def _is_point(text: str) -> bool:
    """Returns whether a client can go on from `text`. One that cannot is not refused: a browser would never come back."""
    try:
        read_point(text)
    except Refused:
        return False
    return True
