"""The messages of the notification module and of presence to a client, as typed values. Pure.

`Notification`, `NotificationPage`, `Marks`, `RejectedMark`, `History` and `PastEvent` are public: the SDK gives them to the application
as they are.
"""

from typing import Any, Literal

import msgspec

Action = Literal["read", "unread", "archive", "unarchive", "delete"]


class Notification(msgspec.Struct, frozen=True, kw_only=True):
    """One stored notification of this user.

    - `mark`: its number in the user's inbox: 1, 2, 3 ...
    - `topic`, `kind`, `payload`: those of the event behind it.
    - `class_`: what it is about, such as `new-album` or `playlist`.
    - `ts_ms`, `id`: the time (ms since 1970) and the id of the event behind it.
    - `types`: what the rules chose for it. A bell shows those with `in-client`.
    - `read`: whether the user had read it, on any device, when it was sent.
    - `archived`: whether the user had archived it then.
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
    archived: bool = False

    @property
    def rings(self) -> bool:
        """Whether a bell shows it, and counts it until it is read."""
        return "in-client" in self.types


class InEpoch(msgspec.Struct, frozen=True):
    """The epoch of the store to which the marks in a payload belong; None where the server does not say."""

    epoch: int | None = None


class Pulled(msgspec.Struct, frozen=True, kw_only=True, tag_field="op", tag="notifications"):
    """The answer to a pull: all stored notifications after a mark, up to another one.

    - `id`: the call that asked; None for the pull that the access point makes at hello.
    - `items`: the notifications after the mark that was asked for, up to `next`.
    - `more`: whether there are others after `next`.
    - `epoch`: the epoch to which all these marks belong.
    - `seen`, `read`, `unread`, `changed`: as in Marks.
    - `reset`: the mark that was asked for stands for nothing in this epoch, so the answer began at 0.
    """

    id: int | None = None
    items: tuple[Notification, ...] = ()
    next: int
    more: bool = False
    epoch: int | None = None
    seen: int = 0
    read: int = 0
    unread: int = 0
    changed: int = 0
    reset: bool = False


class NotificationPage(msgspec.Struct, frozen=True, kw_only=True, tag_field="op", tag="list"):
    """A page of a user's notifications, newest first: archived ones, or the others.

    - `next`: the `before` of the page after it; None at the end.
    - `epoch`: the epoch to which all these marks belong.
    - `seen`, `read`, `unread`, `changed`: as in Marks.
    - `reset`: the mark that was asked for belongs to another epoch, so the answer began at the newest.
    """

    id: int | None = None
    items: tuple[Notification, ...] = ()
    next: int | None = None
    epoch: int | None = None
    seen: int = 0
    read: int = 0
    unread: int = 0
    changed: int = 0
    reset: bool = False


class RejectedMark(msgspec.Struct, frozen=True):
    """A mark of which a change was refused. `code` is the name of the code that says why, `reason` says what exactly is wrong."""

    mark: int
    code: str
    reason: str = ""


class Marks(msgspec.Struct, frozen=True, kw_only=True, tag_field="op", tag="marks"):
    """The marks of a user.

    - `epoch`: the epoch to which the marks belong.
    - `seen`: up to here this client has taken notifications.
    - `read`: up to here the user has read, on any device.
    - `unread`: how many the user has neither read nor archived nor deleted.
    - `changed`: the number of the last change of single notifications; 0 if there was none.
    - `rejected`: the marks that a change did not change.
    """

    id: int | None = None
    epoch: int | None = None
    seen: int
    read: int
    unread: int
    changed: int = 0
    rejected: tuple[RejectedMark, ...] = ()


class ReadElsewhere(msgspec.Struct, frozen=True):
    """The payload of the event `marks` of an inbox: the read mark rose, or single notifications were changed.

    - `changed`: the number of the last change; 0 if there was none.
    - `after`: the number of the change before this one.
    - `action`: what was done with `marks`, or with all up to `up_to`; empty where only the read mark rose.
    """

    read: int
    unread: int
    epoch: int | None = None
    changed: int = 0
    after: int = 0
    action: str = ""
    marks: tuple[int, ...] = ()
    up_to: int | None = None


class PastEvent(msgspec.Struct, frozen=True, kw_only=True):
    """A past event, in a history or as the last event of a topic. `class_` is empty outside a history."""

    topic: str
    ts_ms: int = msgspec.field(name="ts")
    id: str
    kind: str
    payload: dict[str, Any]
    class_: str = msgspec.field(name="class", default="")


class History(msgspec.Struct, frozen=True, kw_only=True, tag_field="op", tag="history"):
    """A page of the stored events of a topic, newest first. `next` is the `before` of the page after it; None at the end."""

    id: int | None = None
    topic: str
    items: tuple[PastEvent, ...]
    next: str | None = None


class LastEvents(msgspec.Struct, frozen=True, kw_only=True, tag_field="op", tag="last"):
    """The last event of each topic that was asked for and has one."""

    id: int | None = None
    events: tuple[PastEvent, ...]
