"""Friendships: who follows whom, written into the file of a social service before it starts."""

import asyncio
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from itertools import chain
from pathlib import Path

from infra.kernel.topics import user_topic
from services.social.store_sqlite import FILE, open_sqlite


def write_friendships(state: Path, pairs: Iterable[tuple[str, str]]) -> None:
    """Lets both users of each pair follow each other at the social service of a site that keeps its state in `state`.

    Over HTTP it would be one request for each.
    """
    folder = state / "store"
    folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(_make(folder))
    rows = chain.from_iterable(((user_topic(one), other), (user_topic(other), one)) for one, other in pairs)
    with closing(sqlite3.connect(folder / FILE)) as db, db:
        db.executemany("INSERT OR IGNORE INTO follows (topic, user) VALUES (?, ?)", rows)


async def _make(folder: Path) -> None:
    await (await open_sqlite(folder)).close()
