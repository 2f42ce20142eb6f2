"""Changes of items: what a user says of single items of their inbox, on whatever device, and what all devices are told of it."""

from collections.abc import Callable, Collection
from typing import Annotated, Final, Literal, get_args

import msgspec

from infra.kernel.errors import Refused
from infra.kernel.events import Event
from infra.kernel.http_error import described
from infra.kernel.readable import LAST_EXACT

from .item_state import ACTIONS, MAX_CHANGED, MAX_STATES, ItemState
from .items import ToldChange, ToldMarks, marks_moved
from .stand import READ, Stand, stand_of, unread_of
from .store import Store
from .turns import Turns

MAX_MARK: Final = LAST_EXACT
# Changes of one user go one after another, so that each knows the one before it.
MAX_WAITING: Final = 4096
MAX_WAITING_OF_USER: Final = 64

Mark = Annotated[int, msgspec.Meta(ge=0, le=MAX_MARK)]
Id = int | str | None
Action = Literal["read", "unread", "archive", "unarchive", "delete"]
assert set(get_args(Action)) == ACTIONS.keys()


class ChangeRequest(msgspec.Struct, frozen=True):
    """A request to do `action` with the items at `marks`. `epoch`: the one to which the marks belong."""

    action: Action
    marks: Annotated[list[Mark], msgspec.Meta(min_length=1)]
    id: Id = None
    epoch: Mark | None = None


class Changes:
    """The changes of all users' items.

    - `publish`: tells a user's devices.
    - `wall`: Unix time in seconds.
    """

    def __init__(self, store: Store, publish: Callable[[Event], None], wall: Callable[[], float]) -> None:
        self._store, self._publish, self._wall = store, publish, wall
        self._turns = Turns(MAX_WAITING, most_of_key=MAX_WAITING_OF_USER)

    async def change(self, user: str, ask: ChangeRequest, epoch: int) -> list[dict[str, object]]:
        """Changes items of `user` as they `ask`, and tells all their devices. Returns the marks that stand for no item, and why.

        A change that is asked for again does nothing more. `epoch` is the store's. Raises `Refused` (too-many-items) and `Unavailable`.
        """
        if len(ask.marks) > MAX_CHANGED:
            raise Refused("too-many-items", f"{len(ask.marks)} marks; one message changes at most {MAX_CHANGED} items")
        if ask.epoch not in (None, epoch):
            return [_unknown(mark, "the marks of this epoch stand for other items; pull, and look again") for mark in ask.marks]
        async with self._turns.take(user):
            stand = await stand_of(self._store, user)
            marks = {mark for mark in ask.marks if ask.action == "delete" or not stand.states.is_deleted(mark)}
            _check_room(stand, marks)
            done = await self._apply(user, epoch, stand, ToldChange(stand.changed, ask.action, sorted(marks)))
        return [_unknown(mark, f"no item has the mark {mark}; it is deleted, or too old") for mark in ask.marks if mark not in done]

    async def read_up_to(self, user: str, mark: int | None, epoch: int) -> None:
        """Moves the one read mark of `user` to `mark`, or to the end, and tells all their devices (SB-51).

        That is one write however many items it is. What was marked unread below it is read, too. Raises `Unavailable`.
        """
        async with self._turns.take(user):
            stand = await stand_of(self._store, user)
            mark = stand.last if mark is None else min(stand.last, mark)
            if mark > stand.read:
                await self._store.move(user, READ, mark)
            if unread := stand.states.unread_up_to(mark):
                await self._apply(user, epoch, stand, ToldChange(stand.changed, "read", unread), up_to=mark)
            elif mark > stand.read:
                await self._tell(user, epoch, stand.changed, None)

    async def _apply(self, user: str, epoch: int, stand: Stand, change: ToldChange, up_to: int | None = None) -> set[int]:
        """Stores `change` under the next number, and tells it; returns the marks of the items that are there.

        `up_to`: devices are told this mark instead of all those below it.
        """
        number = max(int(self._wall() * 1_000_000), stand.changed + 1)
        done = await self._store_all(user, change.marks, ACTIONS[change.action], number)
        if done:
            marks = sorted(done) if up_to is None else []
            await self._tell(user, epoch, number, msgspec.structs.replace(change, marks=marks, up_to=up_to))
        return done

    async def _store_all(self, user: str, marks: list[int], state: ItemState, number: int) -> set[int]:
        done: set[int] = set()
        for at in range(0, len(marks), MAX_CHANGED):
            done |= await self._store.change_items(user, marks[at : at + MAX_CHANGED], state, number)
        return done

    async def _tell(self, user: str, epoch: int, changed: int, change: ToldChange | None) -> None:
        stand = await stand_of(self._store, user)
        marks = ToldMarks(epoch, stand.read, await unread_of(self._store, user, stand), changed)
        self._publish(marks_moved(user, int(self._wall() * 1000), marks, change))


def _check_room(stand: Stand, marks: Collection[int]) -> None:
    fresh = sum(mark not in stand.states for mark in marks)
    if fresh and len(stand.states) + fresh > MAX_STATES:
        raise Refused("too-many-items", f"{MAX_STATES} items of this inbox were changed already; older ones make room when they expire")


def _unknown(mark: int, why: str) -> dict[str, object]:
    return {"mark": mark, **described(Refused("unknown-mark", why))}
