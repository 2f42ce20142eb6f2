"""Surveys: all peers are asked at once, and a peer that does not answer in time is left out."""

import asyncio
from collections.abc import Collection

from infra.kernel.frames import Survey
from infra.runtime.link import Link
from infra.runtime.logs import Logger


class Surveyor:
    """The surveyor makes one survey at a time. `late` counts the peers that were left out."""

    def __init__(self, log: Logger) -> None:
        self.late = 0
        self._log = log
        self._n = 0
        self._waiting: set[Link] = set()
        self._over = asyncio.Event()

    async def ask(self, links: Collection[Link], within_s: float) -> None:
        """Asks all peers; returns when all have answered or are gone, or after `within_s`. After a cancel nobody is asked again."""
        self._n += 1
        self._waiting = set(links)
        self._over.clear()
        self._check()
        for link in links:
            link.send(Survey(self._n))
        try:
            async with asyncio.timeout(within_s):
                await self._over.wait()
        except TimeoutError:
            self.late += len(self._waiting)
            names = sorted(f"{link.peer.site}/{link.peer.node}" for link in self._waiting)
            self._log.warning("left out of this round: no answer in time", peers=names, after_s=within_s)

    def answered(self, link: Link, n: int) -> None:
        """Notes an answer to survey `n`, which may be an earlier one."""
        if n == self._n:
            self.gone(link)

    def gone(self, link: Link) -> None:
        """Waits for the peer of `link` no longer."""
        self._waiting.discard(link)
        self._check()

    def _check(self) -> None:
        if not self._waiting:
            self._over.set()
