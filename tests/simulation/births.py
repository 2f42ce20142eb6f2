"""Hashes by birth instead of by address, so that sets have the same order in every run.

Production keeps links, sessions and connections in sets, whose order is that of addresses in memory. Any order is right there. But a
simulation must choose the same one each time, or a seed would not repeat (DPS-29). The same goes for sets of ids, whose order is that of
hashes, which differ from process to process: where few are handed over in a turn, it shows which come first.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from accesspoint.session import Session
from infra.kernel.recent import RecentIds
from infra.runtime.http.connection import HttpConnection
from infra.runtime.link import Link
from infra.runtime.wire.tcp import TcpWire

_CLASSES: Final[tuple[type[Any], ...]] = (Session, HttpConnection, Link, TcpWire)


class Births:
    """The order in which objects were hashed for the first time. They are kept, so that no address is used twice."""

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}
        self._kept: list[object] = []

    def number(self, born: object) -> int:
        """Returns the number of an object; the next one if it has none yet."""
        if (number := self._numbers.get(id(born))) is None:
            number = self._numbers[id(born)] = len(self._kept)
            self._kept.append(born)
        return number


@contextmanager
def hashed_by_birth() -> Iterator[None]:
    """Has objects of production hashed by birth, and ids in order, while the block runs."""
    births = Births()
    before = [(each, each.__dict__.get("__hash__")) for each in _CLASSES]

    def by_birth(born: object) -> int:
        return births.number(born)

    def by_value(ids: RecentIds) -> Iterator[bytes]:
        return iter(sorted(by_hash(ids)))

    by_hash = RecentIds.__iter__
    RecentIds.__iter__ = by_value  # type: ignore[method-assign]
    for each in _CLASSES:
        each.__hash__ = by_birth  # type: ignore[assignment]
    try:
        yield
    finally:
        RecentIds.__iter__ = by_hash  # type: ignore[method-assign]
        for each, own in before:
            if own is None:
                del each.__hash__
            else:
                each.__hash__ = own


class BornTask(asyncio.Task[Any]):
    """A task with a hash of its own: `number`."""

    number = 0

    def __hash__(self) -> int:
        return self.number

    __eq__ = object.__eq__


class BornFuture(asyncio.Future[Any]):
    """A future with a hash of its own: `number`."""

    number = 0

    def __hash__(self) -> int:
        return self.number

    __eq__ = object.__eq__
