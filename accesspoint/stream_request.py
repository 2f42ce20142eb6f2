"""A request for a stream of events: `GET /v1/stream?topics=...`. Pure."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple
from urllib.parse import parse_qs

import msgspec

from infra.kernel.bearer import bearer_token
from infra.kernel.errors import Refused

from .messages import MAX_CLIENT_CHARS
from .point import read_point

PATH: Final = "/v1/stream"
_FIELDS: Final = ("client", "follow", "last_event_id", "token", "topics")
FRIENDS: Final = "friends"


class StreamRequest(NamedTuple):
    """The wish of a client without a WebSocket: it shows a `token`, calls itself `client` and follows `topics`.

    - `has_friends`: it follows all friends and their playlists, too.
    - `point`: from where on it wants to go on; None for who was never here.
    - `is_lost`: it was here, and nobody can tell where it was.
    """

    token: str
    client: str
    topics: list[str]
    has_friends: bool
    point: str | None
    is_lost: bool

    def hello(self) -> bytes:
        """Returns what it says first."""
        return msgspec.json.encode({"op": "hello", "token": self.token, "client": self.client})

    def subscribe(self, friends: Sequence[str], at_once: int) -> list[bytes]:
        """Returns what it says then: a message each for its topics, for those of `friends` to go on with, and for all friends from then on.

        No message has more topics than `at_once`, except that with the topics of the request, which are refused where they are too many.
        """
        asks: list[dict[str, object]] = [{"topics": self.topics, "point": self.point}] if self.topics else []
        parts = (friends[start : start + at_once] for start in range(0, len(friends), at_once))
        asks += [{"topics": part, "follow": FRIENDS, "point": self.point} for part in parts]
        asks += [{"topics": [], "follow": FRIENDS}] if self.has_friends else []
        return [msgspec.json.encode({"op": "subscribe", "recover": True, **ask}) for ask in asks]


def stream_request(query: str, headers: Mapping[bytes, bytes]) -> StreamRequest:
    """Returns what a request asks for. Raises `Refused` (bad-token, bad-field).

    A browser's `EventSource` sends no headers of its own, so the token may stand in the query, too.
    """
    fields = parse_qs(query)
    if strange := sorted(set(fields) - set(_FIELDS)):
        raise Refused("bad-field", f"the query has {strange[0]!r:.40}; it may have {', '.join(_FIELDS)}")
    topics = [topic for listed in fields.get("topics", []) for topic in listed.split(",") if topic]
    follow = fields.get("follow", [])
    if set(follow) - {FRIENDS}:
        raise Refused("bad-field", f"follow is {follow[-1]!r:.40}; all that it may be is {FRIENDS}")
    if not topics and not follow:
        raise Refused(
            "bad-field", "say what to follow: ?follow=friends, or ?topics=hm://presence/user/bob/ (several with commas, % as %25)"
        )
    client = fields.get("client", [""])[-1]
    if len(client) > MAX_CLIENT_CHARS:
        raise Refused("bad-field", f"client has over {MAX_CLIENT_CHARS} characters")
    authorization = headers.get(b"authorization", b"").decode("latin-1")
    token = fields["token"][-1] if not authorization and "token" in fields else bearer_token(authorization)
    last = headers.get(b"last-event-id", b"").decode("latin-1") or fields.get("last_event_id", [""])[-1]
    point = last if last and _is_point(last) else None
    return StreamRequest(token, client, topics, bool(follow), point, is_lost=bool(last) and point is None)


def _is_point(text: str) -> bool:
    """Returns whether a client can go on from `text`. One that cannot is not refused: a browser would never come back."""
    try:
        read_point(text)
    except Refused:
        return False
    return True
