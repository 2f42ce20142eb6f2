"""The book of revocations of one node: what it knows of them, how it learns more, and whom it tells.

Brokers tell each other everything, and all their other peers; aggregators tell their access points. What is no news is told to nobody,
so what goes round in circles ends.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import Final

from infra.kernel.errors import Refused
from infra.kernel.every_one import for_every_one
from infra.kernel.frames import Revoked
from infra.kernel.revocations import Ban, Entry, Revocation, Revocations

from .link import Link
from .logs import Logger
from .tokens import Identity, Service

# So many entries go in one frame: some 60 kB.
PORTION: Final = 1000
# So long a service that starts waits for a broker before it opens its door.
PATIENCE_S: Final = 2.0
Hearer = Callable[[Sequence[Entry]], None]


class RevocationBook:
    """The revocations that one node knows, and who is told of news. `wall` is Unix time in seconds.

    `is_whole`: a broker has told all that it knew since this node was started, or this node is one, or knows none that could tell.
    """

    def __init__(self, wall: Callable[[], float]) -> None:
        self.known = Revocations()
        self._whole = asyncio.Event()
        self._wall = wall
        self._hearers: list[Hearer] = []

    @property
    def is_whole(self) -> bool:
        """See above."""
        return self._whole.is_set()

    async def heard(self, log: Logger) -> None:
        """Returns when the book is whole, or after `PATIENCE_S`. Then `log` is told that revoked tokens are taken until it is.

        A service waits for that before it opens its door. Without a broker it works all the same: it keeps what must not be lost.
        """
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE_S):
                await self._whole.wait()
        if not self.is_whole:
            log.warning("no broker has told whose tokens are revoked; until one does, all are taken", waited_s=PATIENCE_S)

    @property
    def now_ms(self) -> int:
        """Unix time in milliseconds."""
        return int(self._wall() * 1000)

    def on_news(self, hearer: Hearer) -> None:
        """Has `hearer` called with each news: the entries that hold from now on. It may be empty: then the book has become whole."""
        self._hearers.append(hearer)

    def refusal(self, who: Identity | Service) -> Refused | None:
        """Returns why `who`, whose token is good, is refused all the same; None if they are not."""
        if not len(self.known):  # as a rule, and this is asked with every request
            return None
        if isinstance(who, Service):
            return self.known.service_refusal(who.name, who.id, who.issued_s, self._wall())
        return self.known.user_refusal(who.user, who.id, who.issued_s, self._wall())

    def add(self, entry: Entry) -> None:
        """Adds what an operator has decided. Raises `Refused` when there is no room."""
        self._spread(self.known.add(entry))

    def merge(self, entries: Iterable[Entry]) -> None:
        """Adds what was kept on disk, or what another node knows."""
        self._spread(self.known.merge(entries, self.now_ms))

    def learn(self, frame: Revoked) -> None:
        """Takes what a peer tells."""
        news = self.known.merge([*frame.revocations, *frame.bans], self.now_ms)
        became_whole = frame.last and not self.is_whole
        if frame.last:
            self._whole.set()
        if news or became_whole:
            self._hear(news)

    def begin(self) -> None:
        """Makes the book whole: there is nobody who would tell all, for this node is a broker."""
        if not self.is_whole:
            self._whole.set()
            self._hear(())

    def meet(self, link: Link) -> None:
        """Takes the book for whole where the peer of `link`, which would tell, is of a version that knows nothing of revocations."""
        if not link.knows(Revoked):
            self.begin()

    def _spread(self, news: Sequence[Entry]) -> None:
        if news:
            self._hear(news)

    def _hear(self, news: Sequence[Entry]) -> None:
        for_every_one(partial(hearer, news) for hearer in self._hearers)

    def tell_all(self, link: Link) -> None:
        """Tells the peer of `link` everything, if it can understand it."""
        self.tell([link], [*self.known.revocations(), *self.known.bans()])

    def tell(self, links: Iterable[Link], news: Sequence[Entry]) -> None:
        """Tells the peers of `links` some `news`, those that can understand it."""
        frames = list(_frames(news, self.is_whole))
        for link in links:
            if link.knows(Revoked):
                for frame in frames:
                    link.send(frame)


def _frames(entries: Sequence[Entry], is_whole: bool) -> Iterator[Revoked]:
    """Yields `entries` in portions. Without any, one frame: that there is nothing is worth knowing, too."""
    for start in range(0, max(len(entries), 1), PORTION):
        some = entries[start : start + PORTION]
        revocations = [each for each in some if isinstance(each, Revocation)]
        bans = [each for each in some if isinstance(each, Ban)]
        yield Revoked(revocations, bans, last=is_whole and start + PORTION >= len(entries))
