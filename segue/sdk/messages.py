"""The messages of an access point (design 4.1), as typed values. Pure: JSON text in, values out.

`Event`, `Installed`, `RejectedTopic`, `LostTopic`, `Gap`, `Offloaded`, `Ended`, `FriendNews` and `Announcement` are public: the SDK gives
them to the application as they are. An op that is not here is skipped, so that an old client can talk to a newer server.
"""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Literal

import msgspec

from infra.kernel.events import OPENING
from segue.sdk.errors import ProtocolError
from segue.sdk.notification_messages import History, LastEvents, Marks, NotificationPage, Pulled

Wait = Literal["local", "all"]
Whom = Literal["friends"]
Device = Literal["desktop", "mobile"]


class _Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="op", tag=str.lower):
    """A message. The name of its class in lower case is its op."""


class Limits(msgspec.Struct, frozen=True):
    """The most that one message may hold. The defaults are for a server that does not say."""

    message_bytes: int = 32_768
    topics_per_message: int = 200


class Kept(msgspec.Struct, frozen=True):
    """A kind of topic whose last events are kept: all of them or the latest, for `seconds`."""

    keep: str = "all"
    seconds: float = 0.0


class Welcome(_Message, frozen=True, kw_only=True):
    """The answer to hello: the session has begun. `time_ms` is the clock that the client is to use (SB-13).

    `expires_ms` is when the token expires, by the same clock; None where the server does not say. `window` has the kinds of topics whose
    events are kept for clients that were away, as a `Kept` each; it is empty where the server recovers nothing.
    """

    session: str | int
    site: str
    user: str
    time_ms: int
    expires_ms: int | None = None
    limits: Limits = Limits()
    window: dict[str, Kept] = {}


class RejectedTopic(msgspec.Struct, frozen=True):
    """A topic that is not followed, or not any more. `code` is the name of the code that says why, `reason` says what exactly is wrong."""

    topic: str
    code: str
    reason: str = ""


class LostTopic(msgspec.Struct, frozen=True):
    """A topic of which something may be missing. `reason` is one of the reasons on the page on recovery, docs/recovery.md."""

    topic: str
    reason: str


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """The state of a subscription.

    - `installed`: "local" when the brokers of this site hold it, "all" when those of every live site do, "partial" when it is not yet at
      `missing_sites`.
    - `rejected`: the topics that are not subscribed.
    - `recovered`: whether all that was missed has come. None where nothing was asked for, or the server recovers nothing.
    - `lost`: the topics of which something may be missing.
    - `replayed`: how many events were missed, and have come.
    """

    installed: Literal["local", "all", "partial"]
    missing_sites: tuple[str, ...] = ()
    rejected: tuple[RejectedTopic, ...] = ()
    recovered: bool | None = None
    lost: tuple[LostTopic, ...] = ()
    replayed: int = 0


class Subscribed(Installed, frozen=True, kw_only=True, tag_field="op", tag="subscribed"):
    """The answer to the subscribe `id`. Up to `point` everything has come."""

    id: int
    point: str | None = None


class Unsubscribed(_Message, frozen=True, kw_only=True):
    """The answer to the unsubscribe `id`: no event of its topics comes any more."""

    id: int


class Ok(_Message, frozen=True, kw_only=True):
    """The answer to the call `id`: it was done."""

    id: int


class Refreshed(_Message, frozen=True, kw_only=True):
    """The answer to the refresh `id`: the session has the new token, which expires at `expires_ms`."""

    id: int
    expires_ms: int


class Pong(_Message, frozen=True, kw_only=True):
    """The answer to a ping. Pongs come in the order of the pings. Up to `point` everything has come."""

    time_ms: int
    point: str | None = None


class Event(_Message, frozen=True, kw_only=True):
    """An event that was published on a followed topic.

    - `topic`: the topic.
    - `site`: the site where it was published.
    - `epoch`, `seq`: its number. `seq` rises by one for each (topic, site) within an `epoch`.
    - `ts_ms`: when it was published, in ms since 1970.
    - `id`: its id; an event that comes twice has the same.
    - `kind`, `payload`: what the publisher said.
    - `skipped`: how many older events of the topic and `site` it has replaced on the way, which have not come.
    - `after`: the last number (epoch, seq) of the epoch before this one, on the first event of an epoch that goes on from it without loss.
    - `gap`: how many events were lost before this one. The client sets it; it is 0 normally, and None where something may be lost that
      nobody can count.
    - `replayed`: whether it came while its topic was recovered. Then it may have been published while the client was away. The client sets
      it.
    """

    topic: str
    site: str
    epoch: int
    seq: int
    ts_ms: int = msgspec.field(name="ts")
    id: str
    kind: str
    payload: dict[str, Any]
    skipped: int = 0
    after: tuple[int, int] | None = None
    gap: int | None = 0
    replayed: bool = False


class Offloaded(_Message, frozen=True, kw_only=True):
    """News of followed topics that leave real time, because capacity is short, or come back.

    - `epoch`: the number of the decision. It rises.
    - `left`: the topics that are out from now on. Their events are not delivered. Stored notifications come as ever.
    - `back`: the topics that are in real time again.
    - `every_ms`: where it is not 0, one event in so many milliseconds is delivered of a topic that is out.
    """

    epoch: int
    left: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    every_ms: int = 0


class Ended(_Message, frozen=True, kw_only=True):
    """News of topics that are followed no longer, because the user may not see them any more.

    `topics` are they, each with the code and the reason.
    """

    topics: tuple[RejectedTopic, ...] = ()


class FriendNews(_Message, frozen=True, kw_only=True, tag="followed"):
    """News of the topics of friends, for a client that follows its friends.

    - `topics`: those that are followed from now on: feeds of friends, and their playlists.
    - `left`: those that are followed no longer. What the client has subscribed to itself goes on.
    - `beyond`: how many are not followed because the connection has as many topics as it may have.
    - `whole`: whether everybody could be asked who knows of friends. If not, more comes by itself.
    """

    topics: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    beyond: int = 0
    whole: bool = True


class Gap(_Message, frozen=True, kw_only=True):
    """News that something of `topics` may be missing, though no number shows it.

    `reason` is one of the reasons on the page on recovery, docs/recovery.md. Behind `point` nothing is missing.
    """

    topics: tuple[str, ...]
    reason: str
    point: str | None = None


class Private(_Message, frozen=True, kw_only=True):
    """The answer to the call `id`: whether this device is private, and until when, in ms since 1970."""

    id: int
    on: bool
    until_ms: int


class Announcement(_Message, frozen=True, kw_only=True):
    """News that an operator tells everybody.

    `text` is for people, `data` for the application, and `time_ms` says when it was said, in ms since 1970.
    """

    text: str
    data: dict[str, Any] = {}
    time_ms: int = 0


class Problem(_Message, frozen=True, kw_only=True, tag="error"):
    """A refusal: of the call `id`, or of the whole connection when the code is fatal.

    `reconnect` is False where the code would let the client come back, but an operator does not. Up to `point` everything has come.
    """

    code: str
    number: int = 0
    reason: str = ""
    id: int | None = None
    reconnect_in_ms: int | None = None
    reconnect: bool | None = None
    point: str | None = None


News = Offloaded | Ended | Announcement | Gap | FriendNews
Answer = (
    Welcome
    | Refreshed
    | Subscribed
    | Unsubscribed
    | Ok
    | Pong
    | Problem
    | Pulled
    | NotificationPage
    | Marks
    | History
    | LastEvents
    | Private
    | News
)
_DECODER: Final[msgspec.json.Decoder[Answer | Event]] = msgspec.json.Decoder(Answer | Event)
_ANSWERS: Final = frozenset(
    {
        *("welcome", "refreshed", "subscribed", "unsubscribed", "ok", "pong", "error", "notifications", "marks", "history", "last"),
        *("offloaded", "ended", "private", "announcement", "gap", "followed"),
    }
)


_LISTS: Final = {"notifications": "items", "history": "items", "last": "events"}


class _AnyMessage(msgspec.Struct):
    op: str


def decode(frame: bytes) -> Answer | Event | None:
    """Returns the message in one text frame; None for a message to pass over. Raises ProtocolError for an answer that cannot be read.

    Two kinds are passed over: an op that this version does not know, and an event whose payload Python's JSON cannot hold (a number out of
    range, nesting without end). One odd event must not end the connection; it shows as a gap. An answer that lists such events comes
    without them.
    """
    try:
        return _DECODER.decode(frame)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        op = _op(frame)
        if op not in _ANSWERS:
            return None
        if op in _LISTS:
            with contextlib.suppress(msgspec.DecodeError, UnicodeError, RecursionError):
                return _DECODER.decode(_without_unreadable(frame, _LISTS[op]))
        raise ProtocolError(f"the server sent a message that is not segue.v1: {error}") from error


def _op(frame: bytes) -> str:
    try:
        return msgspec.json.decode(frame, type=_AnyMessage).op
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return "event" if frame.startswith(OPENING) else "error"


def _without_unreadable(frame: bytes, list_name: str) -> bytes:
    fields = msgspec.json.decode(frame, type=dict[str, msgspec.Raw])
    listed = msgspec.json.decode(fields[list_name], type=list[msgspec.Raw]) if list_name in fields else []
    return msgspec.json.encode({**fields, list_name: [raw for raw in listed if _is_readable(raw)]})


def _is_readable(raw: msgspec.Raw) -> bool:
    try:
        msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False
    return True


def topic_batches(topics: Iterable[str], limits: Limits, size_of: Callable[[str], int] = lambda _: 0) -> Iterator[list[str]]:
    """Yields `topics` in order, in lists that fit into one message each by `limits`. A list holds at least one topic.

    `size_of` says how many bytes more than its name a message has for a topic.
    """
    room_bytes = limits.message_bytes // 2  # the other half is more than enough for quotes, escapes and the other fields
    batch: list[str] = []
    size_bytes = 0
    for topic in topics:
        added_bytes = len(topic.encode()) + 3 + size_of(topic)
        if batch and (len(batch) >= limits.topics_per_message or size_bytes + added_bytes > room_bytes):
            yield batch
            batch, size_bytes = [], 0
        batch.append(topic)
        size_bytes += added_bytes
    if batch:
        yield batch


def weakest(answers: Iterable[Installed]) -> Installed:
    """Returns one answer that promises what all of `answers` promise. No answers at all, for no topics, promise everything."""
    order = ("partial", "local", "all")
    found = list(answers)
    return Installed(
        installed=min((answer.installed for answer in found), key=order.index, default="all"),
        missing_sites=tuple(sorted({site for answer in found for site in answer.missing_sites})),
        rejected=tuple(topic for answer in found for topic in answer.rejected),
        recovered=min((answer.recovered for answer in found if answer.recovered is not None), default=None),
        lost=tuple(topic for answer in found for topic in answer.lost),
        replayed=sum(answer.replayed for answer in found),
    )
