"""Items as clients see them: JSON, most of it made once for all followers of an event (design 5.1). Pure."""

from typing import Final

import msgspec

from infra.kernel.events import Event, encode_tail
from infra.kernel.topics import format_topic, inbox_topic

from .notice import Notice
from .store import Item

IN_CLIENT: Final = "in-client"
LIVE_KIND: Final = "notification"
MARKS_KIND: Final = "marks"

_ENCODE: Final = msgspec.json.Encoder().encode


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


def marks_moved(user: str, epoch: int, read: int, unread: int, ts_ms: int) -> Event:
    """Returns what the devices of `user` are told when something was read on one of them.

    - `epoch`: the store's.
    - `read`: up to which mark; `unread`: how many items are left.
    - `ts_ms`: when.
    """
    return _to_inbox(user, ts_ms, f"read-{read}", MARKS_KIND, b'{"epoch":%d,"read":%d,"unread":%d}' % (epoch, read, unread))


def _to_inbox(user: str, ts_ms: int, event_id: str, kind: str, payload: bytes) -> Event:
    topic = inbox_topic(user)
    return Event(topic, event_id.encode(), encode_tail(format_topic(topic), ts_ms, event_id, kind, payload))


def listed(item: Item, read: int) -> bytes:
    """Returns an item of the answer to a pull, for a user who has read up to `read`."""
    is_read = b"true" if item.mark <= read else b"false"
    return b'{"mark":%d,"types":%b,"read":%b,%b' % (item.mark, _ENCODE(item.types), is_read, told(item.notice))


def remembered(notice: Notice) -> bytes:
    """Returns an event of the answer to a query of a topic's history."""
    return b"{" + told(notice)
