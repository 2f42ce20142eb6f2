"""The record company behind Segue Radio: whenever a page asks, an artist releases an album."""

import asyncio
from typing import Final

from segue.demo.catalogue import DemoCatalogue, Release
from segue.demo.cluster import GRACE_S
from segue.demo.desk import Desk

# The time after which a user who has disconnected surely counts as offline.
AWAY_S: Final = 2 * GRACE_S
TITLES: Final = ("Night Bus", "Paper Suns", "Slow Weather", "The Long Way Home", "Small Hours", "Open Windows")


class RecordLabel:
    """Releases by any artist, one after the other. `desk` runs the job of the artist service, which reads `catalogue`."""

    def __init__(self, catalogue: DemoCatalogue, desk: Desk) -> None:
        self._catalogue, self._desk = catalogue, desk
        self._released: dict[str, int] = {}
        self._lock = asyncio.Lock()

    async def release(self, artist: str, name: str) -> str:
        """Has the artist release an album, and returns its title when all followers have been told. Raises DeskError.

        It waits until a user who left just before counts as away. The artist service learns silently what a new artist has had for years,
        so an artist whom it does not know begins with an old album.
        """
        await asyncio.sleep(AWAY_S)
        async with self._lock:
            count = self._released.get(artist)
            if count is None:
                self._catalogue.add(artist, name, Release(f"{artist}-debut", "album", "Long Ago"))
                await self._desk.run_job()
                count = 0
            title = TITLES[count % len(TITLES)] + (f" {count // len(TITLES) + 1}" if count >= len(TITLES) else "")
            self._catalogue.add(artist, name, Release(f"{artist}-{count + 1}", "album", title))
            self._released[artist] = count + 1
            await self._desk.run_job()
            return title
