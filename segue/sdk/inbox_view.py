"""The inbox as a device shows it: the notifications that it has loaded, newest first, and what all devices have done with them. Pure.

Rule 1: a page of the server is right as of its moment. What comes live changes it from there on.
Rule 2: changes are a chain: each names the number of the one before it. One that does not follow the last one here shows that something was
missed, and the view is stale until it is loaded again.
Rule 3: a change that is older than the last one here says nothing.
Rule 4: numbers of another epoch stand for other notifications, so the view is stale.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from segue.sdk.notification_messages import Notification, NotificationPage, ReadElsewhere

# So many marks of deleted notifications are remembered, for live copies of them that come late.
DELETED_KEPT: Final = 4096


class InboxView:
    """The view. `is_stale`: whether it is to be loaded again."""

    def __init__(self) -> None:
        self.is_stale = False
        self.next: dict[bool, int | None] = {}
        self.epoch: int | None = None
        self._changed = 0
        self._read = 0
        self._items: dict[int, Notification] = {}
        self._deleted: dict[int, None] = {}

    @property
    def items(self) -> tuple[Notification, ...]:
        """All that is loaded, newest first."""
        return tuple(self._items[mark] for mark in sorted(self._items, reverse=True))

    def select(
        self, *, archived: bool | None = False, class_: str | None = None, unread: bool = False, text: str = ""
    ) -> tuple[Notification, ...]:
        """Returns what is loaded and fits, newest first.

        - `archived`: what is archived, or what is not; None: both.
        - `class_`: of this class only.
        - `unread`: only what is not read.
        - `text`: all words of it stand in the topic, the kind, or a text or number of the payload, in any case.
        """
        words = text.casefold().split()
        return tuple(
            item
            for item in self.items
            if archived in (None, item.archived) and class_ in (None, item.class_) and not (unread and item.read) and _has(item, words)
        )

    def loaded(self, page: NotificationPage, *, archived: bool, anew: bool) -> None:
        """Takes a page that was asked for: of what is `archived`, or of the rest. `anew`: it replaces all that there is."""
        if anew:
            self._begin(page)
        elif page.epoch != self.epoch:
            self.is_stale = True
            return
        self._items.update((item.mark, item) for item in page.items)
        self.next[archived] = page.next

    def came(self, items: Iterable[Notification], epoch: int | None) -> None:
        """Takes notifications that came live, or were pulled."""
        if self._is_other(epoch):
            self.is_stale = True
            return
        self._items.update((item.mark, item) for item in items if item.mark not in self._deleted and self._is_in_view(item))

    def heard(self, news: ReadElsewhere) -> None:
        """Takes what the server says of the marks and of changes, on whatever device."""
        if self._is_other(news.epoch):
            self.is_stale = True
            return
        if news.read > self._read:
            self._read = news.read
            self._apply("read", [mark for mark in self._items if mark <= news.read])
        if news.changed <= self._changed:
            return
        self.is_stale |= not news.action or news.after != self._changed
        self._changed = news.changed
        if news.action:
            up_to = [] if news.up_to is None else [mark for mark in self._items if mark <= news.up_to]
            self._apply(news.action, [*news.marks, *up_to])

    def done(self, action: str, marks: Iterable[int], changed: int) -> None:
        """Takes a change of this device that is done, and was the change `changed` or one before it.

        If the news of it is here already, this says nothing: others may have changed the same since.
        """
        if changed > self._changed:
            self._apply(action, marks)

    def _apply(self, action: str, marks: Iterable[int]) -> None:
        for mark in marks:
            item = self._items.get(mark)
            if action == "delete":
                self._items.pop(mark, None)
                self._remember_deleted(mark)
            elif item is not None:
                self._items[mark] = _changed(item, action)
            elif action in ("archive", "unarchive") and self._reaches(action == "archive", mark):
                self.is_stale = True  # it belongs here, and is not

    def _remember_deleted(self, mark: int) -> None:
        self._deleted[mark] = None
        if len(self._deleted) > DELETED_KEPT:
            del self._deleted[next(iter(self._deleted))]

    def _reaches(self, archived: bool, mark: int) -> bool:
        """Returns whether what was loaded reaches down to `mark`."""
        return archived in self.next and mark >= (self.next[archived] or 0)

    def _is_in_view(self, item: Notification) -> bool:
        return self._reaches(item.archived, item.mark)

    def _is_other(self, epoch: int | None) -> bool:
        return None not in (epoch, self.epoch) and epoch != self.epoch

    def _begin(self, page: NotificationPage) -> None:
        self.epoch, self._changed, self._read = page.epoch, page.changed, page.read
        self._items.clear()
        self._deleted.clear()
        self.next.clear()
        self.is_stale = False


def _changed(item: Notification, action: str) -> Notification:
    if action in ("read", "unread"):
        return msgspec.structs.replace(item, read=action == "read")
    return msgspec.structs.replace(item, archived=action == "archive")


def _has(item: Notification, words: list[str]) -> bool:
    if not words:
        return True
    said = (str(value) for value in item.payload.values() if isinstance(value, str | int | float))
    text = " ".join((item.topic, item.kind, *said)).casefold()
    return all(word in text for word in words)
