"""What the notification module and presence say to a client, as typed values. Pure.

`Notification`, `Marks`, `History` and `PastEvent` are public: the SDK hands them out as they are.
"""

from typing import Any

import msgspec


class Notification(msgspec.Struct, frozen=True, kw_only=True):
    """One stored notification of this user.

    `mark` is its number in the user's inbox: 1, 2, 3 ... `class_` is what it is about (`new-album`, `playlist` ...), `types`
    are what the rules chose: a bell shows those with `in-client`. `ts_ms` and `id` are those of the event behind it.
    `read`: whether it was read, on any device, when it was sent.
    """

    mark: int
    topic: str
    kind: str
    class_: str = msgspec.field(name="class")
    ts_ms: int = msgspec.field(name="ts")
    id: str
    payload: dict[str, Any]
    types: tuple[str, ...] = ()
    read: bool = False

    @property
    def rings(self) -> bool:
        """Whether a bell shows it, and counts it until it is read."""
        return "in-client" in self.types


class InEpoch(msgspec.Struct, frozen=True):
    """To which epoch of the store the marks in a payload belong; None where the server does not say."""

    epoch: int | None = None


class Pulled(msgspec.Struct, frozen=True, kw_only=True, tag_field="op", tag="notifications"):
    """All stored notifications after the mark that call `id` (None: the access point, at hello) asked for, up to `next`.

    `more`: there are others after `next`. `epoch`: the one to which all its marks belong. `reset`: the mark that was asked for
    stands for nothing in this epoch, so the answer began at 0.
    """

    id: int | None = None
    items: tuple[Notification, ...] = ()
    next: int
    more: bool = False
    epoch: int | None = None
    seen: int = 0
    read: int = 0
    unread: int = 0
    reset: bool = False


class Marks(msgspec.Struct, frozen=True, kw_only=True, tag_field="op", tag="marks"):
    """`seen`: what this client has taken. `read`: what the user has read, on any device. `unread`: how many they have not. `epoch`: the
    one to which the marks belong."""

    id: int | None = None
    epoch: int | None = None
    seen: int
    read: int
    unread: int


class ReadElsewhere(msgspec.Struct, frozen=True):
    """The payload of the inbox event `marks`: the read mark rose."""

    read: int
    unread: int
    epoch: int | None = None


class PastEvent(msgspec.Struct, frozen=True, kw_only=True):
    """An event that was, as a history or the last event of a topic shows it. `class_` is empty outside a history."""

    topic: str
    ts_ms: int = msgspec.field(name="ts")
    id: str
    kind: str
    payload: dict[str, Any]
    class_: str = msgspec.field(name="class", default="")


class History(msgspec.Struct, frozen=True, kw_only=True, tag_field="op", tag="history"):
    """A page of the stored events of a topic, newest first; `next` is the `before` of the page behind it, None at the end."""

    id: int | None = None
    topic: str
    items: tuple[PastEvent, ...]
    next: str | None = None


class LastEvents(msgspec.Struct, frozen=True, kw_only=True, tag_field="op", tag="last"):
    """The last event of each topic that was asked for and has one."""

    id: int | None = None
    events: tuple[PastEvent, ...]
