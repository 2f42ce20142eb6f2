"""Items as clients see them: JSON, most of it made once for all followers of an event (design 5.1). Pure."""

from typing import Final

import msgspec

from infra.kernel.events import Event, encode_tail
from infra.kernel.topics import format_topic, inbox_topic

from .item_state import ItemStates
from .notice import Notice
from .store import Item

IN_CLIENT: Final = "in-client"
LIVE_KIND: Final = "notification"
MARKS_KIND: Final = "marks"

_ENCODE: Final = msgspec.json.Encoder().encode


class ToldMarks(msgspec.Struct, frozen=True, omit_defaults=True):
    """The marks of a user as all their devices are told them.

    - `epoch`: that of the store.
    - `read`: up to which mark they have read, and `unread`: how many items are left.
    - `changed`: the number of the last change; not told where there was none.
    """

    epoch: int
    read: int
    unread: int
    changed: int = 0


class ToldChange(msgspec.Struct, frozen=True, omit_defaults=True):
    """A change of items as all devices of a user are told it.

    - `after`: the number of the change before it.
    - `action`: what was done with the items at `marks`, or with all up to `up_to`.
    """

    after: int
    action: str
    marks: list[int] = []
    up_to: int | None = None


def told(notice: Notice) -> bytes:
    """Returns what all followers are told alike; the rest of an item stands in front of it."""
    return b'"topic":"%b","kind":"%b","class":"%b","ts":%d,"id":"%b","payload":%b}' % (
        notice.topic.encode(),
        notice.kind.encode(),
        notice.class_.encode(),
        notice.ts_ms,
        notice.id.encode(),
        notice.payload,
    )


def live(user: str, mark: int, epoch: int, types: tuple[str, ...], notice: Notice, tail: bytes) -> Event:
    """Returns the copy of an item that goes to the devices of `user` now.

    - `mark`, `types`: of the item.
    - `epoch`: the store's.
    - `notice`: what the item is about; `tail` is `told(notice)`, made once for all followers.
    """
    payload = b'{"mark":%d,"epoch":%d,"types":%b,%b' % (mark, epoch, _ENCODE(types), tail)
    return _to_inbox(user, notice.ts_ms, notice.id, LIVE_KIND, payload)


def marks_moved(user: str, ts_ms: int, marks: ToldMarks, change: ToldChange | None = None) -> Event:
    """Returns what the devices of `user` are told when something was read on one of them, or changed.

    - `ts_ms`: when.
    - `marks`: how things stand now.
    - `change`: what was changed; None where the read mark has moved, and nothing else.
    """
    if change is None:
        return _to_inbox(user, ts_ms, f"read-{marks.read}", MARKS_KIND, _ENCODE(marks))
    payload = {**msgspec.to_builtins(marks), **msgspec.to_builtins(change)}
    return _to_inbox(user, ts_ms, f"change-{marks.changed}", MARKS_KIND, _ENCODE(payload))


def _to_inbox(user: str, ts_ms: int, event_id: str, kind: str, payload: bytes) -> Event:
    topic = inbox_topic(user)
    return Event(topic, event_id.encode(), encode_tail(format_topic(topic), ts_ms, event_id, kind, payload))


def listed(item: Item, read: int, states: ItemStates) -> bytes:
    """Returns an item of an answer, for a user who has read up to `read`, and has said `states` of single items."""
    is_read = b"true" if states.is_read(item.mark, read) else b"false"
    archived = b'"archived":true,' if states.is_archived(item.mark) else b""
    return b'{"mark":%d,"types":%b,"read":%b,%b%b' % (item.mark, _ENCODE(item.types), is_read, archived, told(item.notice))


def remembered(notice: Notice) -> bytes:
    """Returns an event of the answer to a query of a topic's history."""
    return b"{" + told(notice)
