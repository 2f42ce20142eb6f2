"""What clients and access points say to each other (design 4.1), as typed messages."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Final, Literal

import msgspec

from infra.kernel.access import MAX_PRIVATE_HOURS
from infra.kernel.errors import GoingAway, Refused, SentAway
from infra.kernel.frames import Number
from infra.kernel.http_error import described
from infra.kernel.readable import LAST_EXACT, check_readable

MAX_CLIENT_CHARS: Final = 128
MAX_POINT_CHARS: Final = 1024
# Sites of which one topic can have events, for a client.
MAX_SITES: Final = 64

Id = int | str | None
Since = dict[str, Annotated[dict[str, tuple[Number, Number]], msgspec.Meta(max_length=MAX_SITES)]]
"""Topic -> site -> the epoch and the number of the last event that a client has of it."""


def _op(class_name: str) -> str:
    return class_name.removesuffix("Message").lower()


class _Op(msgspec.Struct, frozen=True, tag_field="op", tag=_op, gc=False):
    """A message of a client. Unknown fields are ignored, so that clients may be newer."""

    @property
    def op(self) -> str:
        """What it asks for, as it stands in the message: `hello` of a `HelloMessage`."""
        return str(self.__struct_config__.tag)


class HelloMessage(_Op, frozen=True):
    """First message. `user`, if given, must be the token's. `private`: nobody sees what is played in this session."""

    token: str
    client: Annotated[str, msgspec.Meta(max_length=MAX_CLIENT_CHARS)] = ""
    device: Literal["desktop", "mobile"] = "desktop"
    user: str | None = None
    private: bool = False


class SubscribeMessage(_Op, frozen=True):
    """Idempotent. `wait`: answer when the own site has it installed, or all live sites. `tokens` allow to follow topics of it.

    - `recover`: whether the client wants what it missed, and to hear when it may miss something.
    - `point`: the last one that it was given.
    - `since`: the last event that it has of each topic and site.
    - `follow`: all topics of friends are wanted, now and in future; with `topics`, only those of them that are of friends.
    - `lasting`: whether the services that remember followers hear of it.
    """

    topics: list[str]
    id: Id = None
    wait: Literal["local", "all"] = "local"
    tokens: list[str] = []
    recover: bool = False
    point: Annotated[str, msgspec.Meta(max_length=MAX_POINT_CHARS)] | None = None
    since: Since = {}
    follow: Literal["friends"] | None = None
    lasting: bool = True


class UnsubscribeMessage(_Op, frozen=True):
    """Idempotent. `follow`: what is followed because it is of friends ends, too. `lasting`: as in `SubscribeMessage`."""

    topics: list[str]
    id: Id = None
    follow: Literal["friends"] | None = None
    lasting: bool = True


class ActMessage(_Op, frozen=True):
    """A presence action of the user; all other fields are the action's own."""

    kind: str
    id: Id = None


class LastMessage(_Op, frozen=True):
    """The last event of each of these users' feeds."""

    topics: list[str]
    id: Id = None


class PullMessage(_Op, frozen=True):
    """Stored notifications after the mark `since`; without it, after what this client has seen."""

    id: Id = None
    limit: int = 50
    since: int | None = None


class SeenMessage(_Op, frozen=True):
    """This client has seen everything up to `mark`."""

    id: Id = None
    mark: int | None = None


class ReadMessage(_Op, frozen=True):
    """The user has read everything up to `mark`; without it, everything there is."""

    id: Id = None
    mark: int | None = None


class ListMessage(_Op, frozen=True):
    """Stored notifications, the newest first: the archived ones, or the others."""

    id: Id = None
    limit: int = 50
    before: int | None = None
    archived: bool = False


class ChangeMessage(_Op, frozen=True):
    """The user does `action` with the stored notifications at `marks`."""

    action: str
    marks: list[int]
    id: Id = None


class HistoryMessage(_Op, frozen=True):
    """The stored past of a topic, the newest first."""

    topic: str
    id: Id = None
    limit: int = 50


class RefreshMessage(_Op, frozen=True):
    """Another token of the same user; the session ends with this one."""

    token: str
    id: Id = None


class PrivateMessage(_Op, frozen=True):
    """Nobody sees from now on what is played on this device: for `hours`, or until the session ends. Or all may again who could."""

    on: bool
    hours: Annotated[float, msgspec.Meta(gt=0, le=MAX_PRIVATE_HOURS)] | None = None
    id: Id = None


class PingMessage(_Op, frozen=True):
    """Answered with the access point's time: it is the clock of its clients (spec 3.2). `point`: a point is wanted with it."""

    point: bool = False


ClientMessage = (
    HelloMessage
    | SubscribeMessage
    | UnsubscribeMessage
    | ActMessage
    | LastMessage
    | PullMessage
    | SeenMessage
    | ReadMessage
    | ListMessage
    | ChangeMessage
    | HistoryMessage
    | PrivateMessage
    | PingMessage
    | RefreshMessage
)
OPS: Final = frozenset(
    {"hello", "subscribe", "unsubscribe", "act", "last", "pull", "list", "seen", "read", "change", "history", "private", "ping", "refresh"}
)


class _Bare(msgspec.Struct):
    op: str


_DECODER: Final[msgspec.json.Decoder[ClientMessage]] = msgspec.json.Decoder(ClientMessage)
_ENCODE: Final = msgspec.json.Encoder().encode

# A topic that a client may not follow, and why, as `described` says it.
Rejected = tuple[str, dict[str, object]]


class Recovery(msgspec.Struct, frozen=True):
    """The part of an answer that tells of a recovery.

    - `lost`: topics of which something may be missing, and why; `recovered`: whether there are none.
    - `replayed`: how many events were missed, and have come.
    - `point`: from where to recover the next time, None where that cannot be said now.
    """

    recovered: bool
    lost: list[dict[str, str]]
    replayed: int
    point: str | None


def parse(text: bytes) -> ClientMessage:
    """Returns the message in `text`. Raises `Refused` (bad-json, unknown-op, bad-field) with a reason that teaches."""
    try:
        message = _DECODER.decode(text)
    except msgspec.ValidationError as wrong:
        raise _why_invalid(text, wrong) from wrong
    except (msgspec.DecodeError, RecursionError) as wrong:
        raise Refused("bad-json", str(wrong)) from wrong
    check_readable(text)
    return message


def _why_invalid(text: bytes, wrong: msgspec.ValidationError) -> Refused:
    try:
        msgspec.json.decode(text, type=msgspec.Raw)  # the decoder stopped at `wrong`; what follows it may be no JSON at all
        op = msgspec.json.decode(text, type=_Bare).op
    except msgspec.ValidationError:
        return Refused("bad-field", f"{wrong}; a message is a JSON object with an op")
    except (msgspec.DecodeError, RecursionError) as broken:
        return Refused("bad-json", str(broken))
    if op not in OPS:
        return Refused("unknown-op", f"op must be one of {', '.join(sorted(OPS))}")
    return Refused("bad-field", str(wrong))


def id_of(text: bytes) -> Id:
    """Returns the id of a message that could not be parsed, so that its answer can be matched; None if there is none."""
    try:
        found = msgspec.json.decode(text, type=dict[str, msgspec.Raw]).get("id")
        return msgspec.json.decode(found, type=int | str) if found is not None else None
    except (msgspec.DecodeError, RecursionError):
        return None


def welcome(
    session: str, site: str, user: str, time_ms: int, expires_s: float, limits: dict[str, int], window: Mapping[str, object]
) -> bytes:
    """Returns the answer to hello: `session` is its id, `site` that of the access point, `time_ms` Unix time.

    - `user`: whom the token names; `expires_s`: when it expires (Unix time).
    - `limits`: those of messages.
    - `window`: kind of topics -> what is kept of their events, and for how long.
    """
    times = {"time_ms": time_ms, "expires_ms": _ms(expires_s)}
    return _ENCODE({"op": "welcome", "session": session, "site": site, "user": user, **times, "limits": limits, "window": window})


def refreshed(id_: Id, expires_s: float) -> bytes:
    """Returns the answer to refresh: the session has the new token, which expires at `expires_s` (Unix time)."""
    return _ENCODE({"op": "refreshed", "id": id_, "expires_ms": _ms(expires_s)})


def _ms(unix_s: float) -> int:
    """Returns milliseconds, as far as every client can count them."""
    return min(int(unix_s * 1000), LAST_EXACT)


def subscribed(id_: Id, installed: str, missing_sites: list[str], rejected: list[Rejected], recovery: Recovery | None = None) -> bytes:
    """Returns the answer to subscribe: an honest word about where the subscription is installed.

    - `installed`: `local`, `all` or `partial`.
    - `missing_sites`: where it is not installed yet.
    - `rejected`: the topics that are not followed, and why.
    - `recovery`: what was missed; None where the client has not asked for it.
    """
    refusals = [{"topic": topic, **why} for topic, why in rejected]
    gains = {} if recovery is None else msgspec.structs.asdict(recovery)
    return _ENCODE({"op": "subscribed", "id": id_, "installed": installed, "missing_sites": missing_sites, "rejected": refusals, **gains})


def gap(topics: list[str], reason: str, point: str | None) -> bytes:
    """Returns the notice that something of `topics` may be missing, though no number shows it.

    - `reason`: one of `LossReason`.
    - `point`: from where to recover the next time; None where that cannot be said now.
    """
    return _ENCODE({"op": "gap", "topics": topics, "reason": reason, "point": point})


def offloaded(epoch: int, left: list[str], back: list[str], every_ms: int) -> bytes:
    """Returns the notice that some of the client's topics have `left` real time or come `back`, by the assignment `epoch` (SB spec 10).

    Of what has left one event in `every_ms` is delivered all the same, none if it is 0.
    """
    return _ENCODE({"op": "offloaded", "epoch": epoch, "left": left, "back": back, "every_ms": every_ms})


def unsubscribed(id_: Id) -> bytes:
    """Returns the answer to unsubscribe."""
    return _ENCODE({"op": "unsubscribed", "id": id_})


def ok(id_: Id) -> bytes:
    """Returns the answer to an action that was taken."""
    return _ENCODE({"op": "ok", "id": id_})


def followed(topics: Iterable[str], left: Iterable[str], beyond: int, whole: bool) -> bytes:
    """Returns the notice of what is followed because it is of friends.

    - `topics`: those that are followed from now on; `left`: those that are not followed any more.
    - `beyond`: how many are not followed because the client has as many topics as it may have.
    - `whole`: whether everybody could be asked who knows of friends.
    """
    return _ENCODE({"op": "followed", "topics": list(topics), "left": list(left), "beyond": beyond, "whole": whole})


def ended(topics: Iterable[Rejected]) -> bytes:
    """Returns the notice that the client follows some topics no more, and why."""
    return _ENCODE({"op": "ended", "topics": [{"topic": topic, **why} for topic, why in topics]})


def announcement(text: str, data: msgspec.Raw, time_ms: int) -> bytes:
    """Returns what an operator tells everybody: a `text` for people, `data` for the application, and when it was said (Unix time)."""
    return _ENCODE({"op": "announcement", "text": text, "data": data, "time_ms": time_ms})


def private(id_: Id, on: bool, until_ms: int) -> bytes:
    """Returns the answer to private: whether it is `on` and until when, in milliseconds of Unix time."""
    return _ENCODE({"op": "private", "id": id_, "on": on, "until_ms": until_ms})


def last(id_: Id, topics: list[str]) -> bytes:
    """Returns a client's question for the last events of `topics`, as the client would have written it."""
    return _ENCODE({"op": "last", "id": id_, "topics": topics})


def pong(time_ms: int) -> bytes:
    """Returns the answer to ping: Unix time."""
    return _ENCODE({"op": "pong", "time_ms": time_ms})


def pong_with_point(time_ms: int, point: str | None) -> bytes:
    """Returns the answer to a ping that asks for a point; None where there is none to give now."""
    return _ENCODE({"op": "pong", "time_ms": time_ms, "point": point})


def error(refused: Refused, id_: Id = None, reconnect_in_ms: int | None = None) -> bytes:
    """Returns what was wrong; a fatal one is followed by a close with the same number.

    - `refused`: the code and the reason.
    - `id_`: that of the message, where it is known which one it was.
    - `reconnect_in_ms`: when the client should come back, where somebody knows.

    That of `GoingAway` has its point, if there is one. `"reconnect": false` stands where the code would let the client come back, but an
    operator does not.
    """
    hint: dict[str, object] = {} if reconnect_in_ms is None else {"reconnect_in_ms": reconnect_in_ms}
    if isinstance(refused, GoingAway) and refused.point is not None:
        hint["point"] = refused.point
    if isinstance(refused, SentAway):
        hint["reconnect"] = False
    return _ENCODE({"op": "error", "id": id_, **described(refused), **hint})
