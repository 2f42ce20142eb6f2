"""The keeper of a broker's revocations: on its disk, at every other broker, and at all its peers."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from infra.kernel.errors import Unavailable
from infra.kernel.revocations import Entry
from infra.kernel.roles import DECISION, PRESENCE
from infra.runtime.link import Link
from infra.runtime.logs import Logger
from infra.runtime.node import Node
from infra.runtime.revocation_book import RevocationBook

from .revocation_store import RevocationStore

# What is over is forgotten this often, and never sooner than so long after a start: a process that is started with a wrong clock
# forgets nothing while somebody can still mend that.
FORGET_S: Final = 3600.0
RETRY_S: Final = 1.0
# They check no tokens.
NOT_TOLD: Final = frozenset({DECISION, PRESENCE})


class RevocationKeeper:
    """The keeper. `start` reads what was kept in `folder`, under the `name` of the broker; without a folder it is in memory only."""

    def __init__(self, book: RevocationBook, node: Node, folder: Path | None, name: str, log: Logger) -> None:
        self.book = book
        self.failures = 0
        self._node, self._log = node, log
        self._path = folder / f"revocations-{name}.db" if folder is not None else None
        self._store: RevocationStore | None = None
        self._unwritten: dict[tuple[str, str], Entry] = {}
        self._wake = asyncio.Event()
        book.on_news(self._news)

    @property
    def is_kept(self) -> bool:
        """Whether a restart of this broker forgets nothing."""
        return self._path is not None

    async def start(self) -> None:
        """Reads what was kept. Raises ConfigError and Unavailable when that cannot be: it would let in who was revoked."""
        if self._path is not None:
            self._store = await RevocationStore.open(self._path)
            self.book.merge(await self._store.entries())
            self._unwritten.clear()  # it has just been read
            self._node.loops.every(None, self._write, "keeping revocations", wake=self._wake, again_s=lambda failed: RETRY_S)
        else:
            self._log.info("revocations are kept in memory only: name a folder in broker.state")
        self._node.loops.every(FORGET_S, self._forget, "forgetting revocations")
        self.book.begin()

    async def add(self, entry: Entry) -> None:
        """Adds what an operator has decided: it holds at once here, and is on this broker's disk when this returns.

        Raises Refused when there is no room. Raises Unavailable when the disk is full: it holds, but a restart may forget it.
        """
        self.book.add(entry)
        if not self.is_kept:
            self._log.warning("this is kept in memory only, a restart of all brokers forgets it: name a folder in broker.state")
        await self._write()

    def tell_all(self, link: Link) -> None:
        """Tells a peer that has come everything, if it checks tokens or passes on what it hears."""
        if link.peer.role not in NOT_TOLD:
            self.book.tell_all(link)

    def _news(self, news: Sequence[Entry]) -> None:
        self.book.tell([link for link in self._node.links if link.peer.role not in NOT_TOLD], news)
        if self.is_kept:
            self._unwritten |= {entry.key: entry for entry in news}
            self._wake.set()

    async def _write(self) -> None:
        entries = list(self._unwritten.values())
        if self._store is None or not entries:
            return
        try:
            await self._store.keep(entries)
        except Unavailable:
            self.failures += 1
            raise
        for entry in entries:
            if self._unwritten.get(entry.key) == entry:  # unless more was heard of it meanwhile
                del self._unwritten[entry.key]

    async def _forget(self) -> None:
        over = self.book.known.forget(self.book.now_ms)
        if self._store is not None and over:
            await self._store.forget(over)

    async def close(self) -> None:
        """Writes what was not written yet, and closes. May be called twice."""
        store, self._store = self._store, None
        if store is not None:
            try:
                if self._unwritten:
                    await store.keep(self._unwritten.values())
            finally:
                await store.close()
