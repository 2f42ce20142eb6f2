"""The stand of a user: how their marks stand, and how many items they have not read."""

import asyncio
from typing import Final, NamedTuple

from . import items
from .item_state import ItemStates
from .store import Item, Store

READ: Final = ""
# Why something is told no more.
DELETED: Final = "the user has deleted it"


class Stand(NamedTuple):
    """The marks of a user and one of their clients at the moment of `last`. Marks that have passed it since are cut.

    - `last`: the last mark; `shown`: how many items up to it belong in the bell.
    - `seen`: the mark of the client; `read`: that of the user.
    - `changed`: the number of the last change of an item's state, 0 if there was none.
    - `states`: what was said of single items, as of that change or a later one.
    """

    last: int
    shown: int
    seen: int
    read: int
    changed: int
    states: ItemStates


async def stand_of(store: Store, user: str, client: str = "") -> Stand:
    """Returns how `user` and their `client` stand. Raises Unavailable."""
    people, marks = await asyncio.gather(store.people([user]), store.marks(user))
    person = people[user]
    states = ItemStates(await store.states(user)) if person.changed else ItemStates()
    seen, read = min(person.last, marks.get(client or "-", 0)), min(person.last, marks.get(READ, 0))
    return Stand(person.last, person.shown, seen, read, person.changed, states)


async def unread_of(store: Store, user: str, stand: Stand) -> int:
    """Returns how many items in the bell are not read, archived or deleted. Raises Unavailable.

    Exact, and without counting: each item knows how many in the bell there were up to it, so it is a difference of two, and what was
    said of single items corrects it.
    """
    first = await store.items(user, stand.read, 1)
    above = stand.shown - _shown_before(first[0]) if first else 0
    return max(0, above + stand.states.correction(stand.read, stand.last))


async def deleted_events(store: Store, user: str, events: list[str]) -> set[str]:
    """Returns those of `events` whose items `user` has deleted. Raises Unavailable."""
    deleted = ItemStates(await store.states(user)).deleted
    if not deleted:
        return set()
    decisions = await store.decisions([(user, event) for event in events])
    return {decision.event for decision in decisions.values() if decision.mark in deleted}


def _shown_before(item: Item) -> int:
    return item.shown - (items.IN_CLIENT in item.types)
