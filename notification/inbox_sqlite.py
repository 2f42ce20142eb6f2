"""The inboxes in the SQLite file: items, what users have said of them, and marks."""

import sqlite3
from collections.abc import Collection
from typing import Any, Final

from .item_state import ItemState, StatedItem
from .items import IN_CLIENT
from .notice import Notice
from .store import Item
from .tables_sqlite import NOTICE, SqliteTables, split

_ITEMS: Final = f"""SELECT mark, shown, types, {NOTICE} FROM items JOIN notices ON notices.id = items.event
                     WHERE user = ? AND ts_ms > ? AND"""


class InboxSqlite(SqliteTables):
    """The items of each user, their states, and the marks of the user and their clients."""

    async def items(self, user: str, after: int, limit: int) -> list[Item]:
        """See `Store`."""
        sql = f"{_ITEMS} mark > ? ORDER BY mark LIMIT ?"
        return list(map(_item, await self._all(sql, (user, self._horizon_ms(), after, limit))))

    async def items_before(self, user: str, before: int, limit: int) -> list[Item]:
        """See `Store`."""
        sql = f"{_ITEMS} mark < ? ORDER BY mark DESC LIMIT ?"
        return list(map(_item, await self._all(sql, (user, self._horizon_ms(), before, limit))))

    async def items_at(self, user: str, marks: Collection[int]) -> list[Item]:
        """See `Store`."""
        horizon_ms = self._horizon_ms()
        return list(map(_item, await self._each(f"{_ITEMS} mark = ?", [(user, horizon_ms, mark) for mark in marks])))

    async def states(self, user: str) -> list[StatedItem]:
        """See `Store`."""
        sql = """SELECT mark, types, is_read, is_archived, is_deleted
                 FROM item_states JOIN items USING (user, mark) JOIN notices ON notices.id = items.event WHERE user = ? AND ts_ms > ?"""
        found = await self._all(sql, (user, self._horizon_ms()))
        return [StatedItem(mark, IN_CLIENT in split(types), ItemState(*map(_flag, flags))) for mark, types, *flags in found]

    async def change_items(self, user: str, marks: Collection[int], change: ItemState, changed: int) -> set[int]:
        """See `Store`. Changes come one after another, so the number of each is the highest so far."""
        horizon_ms = self._horizon_ms()
        said = "is_read = coalesce(excluded.is_read, is_read), is_archived = coalesce(excluded.is_archived, is_archived)"
        sql = f"""INSERT INTO item_states VALUES (?, ?, ?, ?, ?) ON CONFLICT (user, mark) DO UPDATE SET {said},
                  is_deleted = coalesce(excluded.is_deleted, is_deleted)"""

        def work(db: sqlite3.Connection) -> set[int]:
            there = {mark for mark in marks if db.execute(f"{_ITEMS} mark = ?", (user, horizon_ms, mark)).fetchone() is not None}
            if there:
                db.executemany(sql, [(user, mark, change.is_read, change.is_archived, change.is_deleted) for mark in there])
                db.execute("UPDATE people SET changed = max(changed, ?) WHERE user = ?", (changed, user))
            return there

        return await self._db.write(work)

    async def marks(self, user: str) -> dict[str, int]:
        """See `Store`."""
        return dict(await self._all("SELECT client, mark FROM marks WHERE user = ?", (user,)))

    async def move(self, user: str, client: str, mark: int) -> None:
        """See `Store`."""
        sql = "INSERT INTO marks VALUES (?, ?, ?) ON CONFLICT (user, client) DO UPDATE SET mark = max(mark, excluded.mark)"
        await self._db.write(lambda db: db.execute(sql, (user, client, mark)))

    async def forget_clients(self, user: str, clients: Collection[str]) -> None:
        """See `Store`."""
        keys = [(user, client) for client in clients]
        await self._db.write(lambda db: db.executemany("DELETE FROM marks WHERE user = ? AND client = ?", keys))


def _item(row: tuple[Any, ...]) -> Item:
    mark, shown, types, *notice = row
    return Item(mark, shown, split(types), Notice(*notice))


def _flag(stored: int | None) -> bool | None:
    return None if stored is None else bool(stored)
