"""What the server of Segue Radio tells open pages: pushes that it took for a browser, and mails, each to the pages of its user."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import msgspec

# A page that reads so slowly has gone away; it loads what it missed when it comes back.
MOST_WAITING: Final = 100

Piece = tuple[str, dict[str, Any]]


class RadioNews:
    """The open pages. A page that does not read loses the oldest of `MOST_WAITING` pieces."""

    def __init__(self) -> None:
        self._pages: dict[str, set[asyncio.Queue[Piece]]] = defaultdict(set)

    @contextmanager
    def page(self, user: str) -> Iterator[asyncio.Queue[Piece]]:
        """Yields the queue of what comes for `user` while the block runs."""
        queue: asyncio.Queue[Piece] = asyncio.Queue(MOST_WAITING)
        self._pages[user].add(queue)
        try:
            yield queue
        finally:
            self._pages[user].discard(queue)

    def tell(self, user: str, kind: str, what: dict[str, Any]) -> None:
        """Tells all pages of `user` of `what`."""
        for queue in self._pages[user]:
            if queue.full():
                queue.get_nowait()
            queue.put_nowait((kind, what))


def encoded(piece: Piece) -> bytes:
    """Returns `piece` as a Server-Sent Event."""
    kind, what = piece
    return b"event: %b\ndata: %b\n\n" % (kind.encode(), msgspec.json.encode(what))
