"""The state of an item: what a user has said of one item, beside their read mark. Pure.

The marks stay what they are: numbers without gaps, and a read mark that only rises. A state is an exception to them. It is kept for as long
as the item is, for `MAX_STATES` items of a user at most. Items of which nobody has said anything have none.
"""

from collections.abc import Iterable, Mapping
from typing import Final

import msgspec

# Enough for a user who archives fifty items a day, and no more than a store reads at once.
MAX_STATES: Final = 4500
# So many items one message may name. They are one write.
MAX_CHANGED: Final = 100


class ItemState(msgspec.Struct, frozen=True, gc=False):
    """A state, or a change of one: what is None was not said, and stays as it is.

    - `is_read`: whether it is read, whatever the read mark says.
    - `is_archived`, `is_deleted`: whether it is.
    """

    is_read: bool | None = None
    is_archived: bool | None = None
    is_deleted: bool | None = None


ACTIONS: Final[Mapping[str, ItemState]] = {
    "read": ItemState(is_read=True),
    "unread": ItemState(is_read=False),
    "archive": ItemState(is_archived=True),
    "unarchive": ItemState(is_archived=False),
    "delete": ItemState(is_deleted=True),
}


class StatedItem(msgspec.Struct, frozen=True, gc=False):
    """An item with a state. `rings`: whether a bell shows it."""

    mark: int
    rings: bool
    state: ItemState


class ItemStates:
    """The states of one user's items, at one moment."""

    def __init__(self, items: Iterable[StatedItem] = ()) -> None:
        self._items = {item.mark: item for item in items}

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, mark: int) -> bool:
        return mark in self._items

    def is_read(self, mark: int, read: int) -> bool:
        """Returns whether the item at `mark` is read, where the read mark is `read`."""
        state = self._state(mark)
        return mark <= read if state.is_read is None else state.is_read

    def is_archived(self, mark: int) -> bool:
        """Returns whether the item at `mark` is archived."""
        return bool(self._state(mark).is_archived)

    def is_deleted(self, mark: int) -> bool:
        """Returns whether the item at `mark` is deleted."""
        return bool(self._state(mark).is_deleted)

    @property
    def archived(self) -> list[int]:
        """The marks of what is archived and not deleted, newest first."""
        return sorted((mark for mark in self._items if self.is_archived(mark) and not self.is_deleted(mark)), reverse=True)

    @property
    def deleted(self) -> set[int]:
        """The marks of what is deleted."""
        return {mark for mark in self._items if self.is_deleted(mark)}

    def unread_up_to(self, mark: int) -> list[int]:
        """Returns the marks up to `mark` of what was marked unread."""
        return sorted(each for each, item in self._items.items() if each <= mark and item.state.is_read is False)

    def correction(self, read: int, last: int) -> int:
        """Returns by how much the number of unread items differs from that of the items in the bell above the read mark.

        - `read`: the read mark.
        - `last`: the last mark that counts.
        """
        return sum(self._counts(item, read) - (item.mark > read) for item in self._items.values() if item.rings and item.mark <= last)

    def _counts(self, item: StatedItem, read: int) -> bool:
        return not (item.state.is_archived or item.state.is_deleted or self.is_read(item.mark, read))

    def _state(self, mark: int) -> ItemState:
        return self._items[mark].state if mark in self._items else _NOTHING_SAID


_NOTHING_SAID: Final = ItemState()
