"""The inboxes in Cassandra: items, what users have said of them, and marks."""

import asyncio
from collections.abc import Collection
from typing import Any, Final

from .item_state import ItemState, StatedItem
from .items import IN_CLIENT
from .notice import Notice
from .store import Item
from .tables_cassandra import TOLD, CassandraTables

_ITEMS: Final = f"SELECT mark, shown, types, event, {TOLD} FROM items WHERE user = ? AND"


class InboxCassandra(CassandraTables):
    """The items of each user, their states, and the marks of the user and their clients."""

    async def items(self, user: str, after: int, limit: int) -> list[Item]:
        """See `Store`."""
        return list(map(_item, await self._db.execute(f"{_ITEMS} mark > ? LIMIT ?", user, after, limit)))

    async def items_before(self, user: str, before: int, limit: int) -> list[Item]:
        """See `Store`."""
        return list(map(_item, await self._db.execute(f"{_ITEMS} mark < ? ORDER BY mark DESC LIMIT ?", user, before, limit)))

    async def items_at(self, user: str, marks: Collection[int]) -> list[Item]:
        """See `Store`."""
        return list(map(_item, await self._each(f"{_ITEMS} mark = ?", [(user, mark) for mark in marks])))

    async def states(self, user: str) -> list[StatedItem]:
        """See `Store`."""
        sql = "SELECT mark, rings, is_read, is_archived, is_deleted FROM item_states WHERE user = ?"
        return [StatedItem(mark, rings, ItemState(*flags)) for mark, rings, *flags in await self._db.execute(sql, user)]

    async def change_items(self, user: str, marks: Collection[int], change: ItemState, changed: int) -> set[int]:
        """See `Store`. A state expires in the same second as its item. Its time is its number, so the higher one stays."""
        sql = "SELECT mark, types, TTL(types) FROM items WHERE user = ? AND mark = ?"
        there = await self._each(sql, [(user, mark) for mark in marks])
        batch: list[tuple[str, tuple[Any, ...]]] = []
        for column, said in zip(
            ("is_read", "is_archived", "is_deleted"), (change.is_read, change.is_archived, change.is_deleted), strict=True
        ):
            if said is None:
                continue
            insert = f"INSERT INTO item_states (user, mark, rings, {column}) VALUES (?, ?, ?, ?) USING TTL ? AND TIMESTAMP ?"
            batch += [(insert, (user, mark, IN_CLIENT in types.split(), said, max(1, ttl_s), changed)) for mark, types, ttl_s in there]
        if batch:
            raised = ("INSERT INTO people (user, changed) VALUES (?, ?) USING TIMESTAMP ?", (user, changed, changed))
            await self._db.batch([*batch, raised])
        return {mark for mark, *_ in there}

    async def marks(self, user: str) -> dict[str, int]:
        """See `Store`."""
        return {
            client.removeprefix("@"): mark for client, mark in await self._db.execute("SELECT client, mark FROM marks WHERE user = ?", user)
        }

    async def move(self, user: str, client: str, mark: int) -> None:
        """See `Store`."""
        if mark:  # a timestamp cannot be 0, and nobody's mark is below
            sql = "INSERT INTO marks (user, client, mark) VALUES (?, ?, ?) USING TIMESTAMP ?"
            await self._db.execute(sql, user, f"@{client}", mark, mark)  # a clustering key cannot be empty

    async def forget_clients(self, user: str, clients: Collection[str]) -> None:
        """See `Store`."""
        marks = await self.marks(user)
        # With the mark as its time a deletion takes away this mark and lower ones, and a higher one that comes meanwhile stays.
        sql = "DELETE FROM marks USING TIMESTAMP ? WHERE user = ? AND client = ?"
        await asyncio.gather(*(self._db.execute(sql, marks[each], user, f"@{each}") for each in clients if marks.get(each)))


def _item(row: tuple[Any, ...]) -> Item:
    mark, shown, types, *notice = row
    return Item(mark, shown, tuple(types.split()), Notice(*notice))
