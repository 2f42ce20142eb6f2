"""The epoch of a store: a number that names one history of marks. Devices that meet another one begin again.

A store that is put back from a copy gives marks again that devices have seen already, for other items. So it begins a new
epoch. Nodes recognise such a store by numbers that rise for as long as they work on it: the counters of their leases and the
version of their claims (`ownership`). A file in the folder of the node remembers how far they had risen; a store that has less
was put back. The file is written with every beat, so a copy is recognised if the nodes went on for a beat after it was made.
"""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Final

from .module_context import ModuleContext
from .ownership.core import Claims, NodeRecord
from .store import Store

FILE: Final = "notification.high-water"
# The number always fills the same few bytes, so that one write replaces it whole.
DIGITS: Final = 20


def height_of(epoch: int, claims: Claims, members: Iterable[NodeRecord]) -> int:
    """Returns the highest number in a store; its `epoch`, `claims` and `members` were read in the order members, claims, epoch.

    It never sinks: a node is buried only when the claims have a version above its counter.
    """
    return max(epoch, claims.version, *(member.counter for member in members))


def is_put_back(height: int, remembered: int | None, *, is_beside: bool) -> bool:
    """Returns whether a store of this `height` was put back.

    - `remembered`: the height that the folder remembers; None: nothing.
    - `is_beside`: the store lies in that folder. Then one that was in use comes from elsewhere if the folder remembers nothing.
    """
    return height > 0 and is_beside if remembered is None else height < remembered


class HighWater:
    """The highest number that was seen in the store, in a file of `folder`. Nodes that share the folder share the file."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE

    def load(self) -> int | None:
        """Returns the number; None where there is no file, or one that cannot be read."""
        try:
            text = self._path.read_bytes()
        except OSError:
            return None
        return int(text) if len(text) == DIGITS and text.isdigit() else None

    def save(self, number: int) -> None:
        """Remembers `number`, unless the file has a higher one. Raises OSError."""
        if number <= (self.load() or -1):
            return
        file = os.open(self._path, os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.pwrite(file, b"%0*d" % (DIGITS, number), 0)
        finally:
            os.close(file)


class StoreEpoch:
    """The epoch of the store as a node knows it, in `number`. `is_beside`: the store lies in `folder`."""

    def __init__(self, module: ModuleContext, folder: Path, *, is_beside: bool) -> None:
        self.number = 0
        self._store, self._wall, self._logger = module.store, module.context.wall, module.context.log
        self._high_water, self._is_beside, self._said = HighWater(folder), is_beside, ""

    async def open(self) -> None:
        """Finds out whether the store was put back, before anything is written to it. Raises Unavailable."""
        former = await self._store.epoch()
        remembered = self._high_water.load()
        members, claims = await self._store.members(), await self._store.claims()
        height = height_of(former, claims, members)
        if remembered is None:
            remembered = self._high_water.load()  # another node that starts now may have made the file meanwhile
        if is_put_back(height, remembered, is_beside=self._is_beside) and former:
            self._logger.warning("the store was put back from a copy: a new epoch begins, in which devices begin again")
            await begin_epoch(self._store, former, self._wall, above=max(height, remembered or 0))
        await self.read()
        self.reached(self.number)

    async def read(self) -> None:
        """Reads the epoch again: another node, or an operator, may have begun a new one. A store without one gets its first.

        Raises Unavailable.
        """
        self.number = await self._store.epoch() or await begin_epoch(self._store, 0, self._wall)

    def reached(self, number: int) -> None:
        """Remembers that the store has had `number`."""
        try:
            self._high_water.save(number)
            self._said = ""
        except OSError as error:
            self._say(f"{FILE} cannot be written, so a store that is put back may not be recognised: {error.strerror}")

    def _say(self, trouble: str) -> None:
        if trouble != self._said:
            self._logger.warning(trouble)
        self._said = trouble


async def begin_epoch(store: Store, former: int, wall: Callable[[], float], above: int = 0) -> int:
    """Begins a new epoch after `former`, unless somebody else has; returns the one that holds.

    Its number is above `above`, and resembles the time of `wall`: so a copy that is put back twice does not come to the same.
    Raises Unavailable.
    """
    number = max(above, former, int(wall() * 1_000_000)) + 1
    return number if await store.begin_epoch(number, former) else await store.epoch()
