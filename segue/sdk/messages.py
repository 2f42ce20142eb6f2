"""What an access point says (design 4.1), as typed values. Pure: JSON text in, values out.

`Event`, `Installed`, `RejectedTopic` and `Offloaded` are public: the SDK hands them out as they are. An op that is not here is
skipped, so that an old client can talk to a newer server.
"""

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal

import msgspec

from infra.kernel.events import OPENING
from segue.sdk.errors import ProtocolError
from segue.sdk.notification_messages import History, LastEvents, Marks, Pulled

Wait = Literal["local", "all"]
Device = Literal["desktop", "mobile"]


class _Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="op", tag=str.lower):
    """Base of all messages: the class name in lower case is the op."""


class Limits(msgspec.Struct, frozen=True):
    """What one message may hold. The defaults are for a server that does not say."""

    message_bytes: int = 32_768
    topics_per_message: int = 200


class Welcome(_Message, frozen=True, kw_only=True):
    """The session has begun. `time_ms` is the clock that the client shall use (SB-13)."""

    session: str | int
    site: str
    user: str
    time_ms: int
    limits: Limits = Limits()


class RejectedTopic(msgspec.Struct, frozen=True):
    """A topic that was not subscribed, the name of the code that says why, and what exactly is wrong."""

    topic: str
    code: str
    reason: str = ""


class Installed(msgspec.Struct, frozen=True, kw_only=True):
    """How far a subscription has got: `local` = the brokers of this site hold it, `all` = every live site does,
    `partial` = not yet at `missing_sites`. `rejected` topics are not subscribed."""

    installed: Literal["local", "all", "partial"]
    missing_sites: tuple[str, ...] = ()
    rejected: tuple[RejectedTopic, ...] = ()


class Subscribed(Installed, frozen=True, kw_only=True, tag_field="op", tag="subscribed"):
    """Call `id` was done, as far as it says."""

    id: int


class Unsubscribed(_Message, frozen=True, kw_only=True):
    """The topics of call `id` are gone."""

    id: int


class Ok(_Message, frozen=True, kw_only=True):
    """Call `id` was done."""

    id: int


class Pong(_Message, frozen=True, kw_only=True):
    """Answer to a ping; pongs come in the order of the pings."""

    time_ms: int


class Event(_Message, frozen=True, kw_only=True):
    """What was published on a topic.

    `seq` rises by one per (topic, origin `site`) within an `epoch`. `skipped` older events of the topic were replaced
    by this newer one on their way. `gap` is set by the client: so many events were lost before this one (0 normally).
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
    gap: int = 0


class Offloaded(_Message, frozen=True, kw_only=True):
    """Some of the followed topics have `left` real time, because capacity is short, or are `back`; `epoch` of the decision rises.

    What is published on a topic that is out is not delivered, or, if `every_ms` is not 0, one event in so many milliseconds. Stored
    notifications come as ever.
    """

    epoch: int
    left: tuple[str, ...] = ()
    back: tuple[str, ...] = ()
    every_ms: int = 0


class Problem(_Message, frozen=True, kw_only=True, tag="error"):
    """Something was refused: call `id`, or the whole conversation when the code is fatal."""

    code: str
    number: int = 0
    reason: str = ""
    id: int | None = None
    reconnect_in_ms: int | None = None


Answer = Welcome | Subscribed | Unsubscribed | Ok | Pong | Problem | Pulled | Marks | History | LastEvents | Offloaded
_DECODER: Final[msgspec.json.Decoder[Answer | Event]] = msgspec.json.Decoder(Answer | Event)
_ANSWERS: Final = frozenset(
    {"welcome", "subscribed", "unsubscribed", "ok", "pong", "error", "notifications", "marks", "history", "last", "offloaded"}
)


_LISTS: Final = {"notifications": "items", "history": "items", "last": "events"}


class _AnyMessage(msgspec.Struct):
    op: str


def decode(frame: bytes) -> Answer | Event | None:
    """The message in one text frame; None for one to pass over. Raises ProtocolError for an answer that cannot be read.

    Passed over: an op that this version does not know, and an event whose payload Python's JSON cannot hold (a number
    out of range, nesting without end), for one odd event must not end the conversation; it shows as a gap. An answer that
    lists such events comes without them.
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


def topic_batches(topics: Iterable[str], limits: Limits) -> Iterator[list[str]]:
    """The topics in order, cut into lists that fit into one message each. A list holds at least one topic."""
    room_bytes = limits.message_bytes // 2  # the other half is more than enough for quotes, escapes and the other fields
    batch: list[str] = []
    size_bytes = 0
    for topic in topics:
        added_bytes = len(topic.encode()) + 3
        if batch and (len(batch) >= limits.topics_per_message or size_bytes + added_bytes > room_bytes):
            yield batch
            batch, size_bytes = [], 0
        batch.append(topic)
        size_bytes += added_bytes
    if batch:
        yield batch


def weakest(answers: Iterable[Installed]) -> Installed:
    """Several answers as one: it promises what all of them promise. No answer at all (no topics) promises everything."""
    order = ("partial", "local", "all")
    found = list(answers)
    return Installed(
        installed=min((answer.installed for answer in found), key=order.index, default="all"),
        missing_sites=tuple(sorted({site for answer in found for site in answer.missing_sites})),
        rejected=tuple(topic for answer in found for topic in answer.rejected),
    )
