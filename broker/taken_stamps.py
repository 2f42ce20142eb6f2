"""Taken stamps: up to where a client of a site's brokers has got everything from each of them, by what they say with their frames. Pure.

A broker says one stamp of its window, and one number of each stream in which it gives events to heirs. What it says holds when everything
has been taken that came with it.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

# So many epochs and streams of one broker are remembered that it says nothing of any more.
MOST_FORMER: Final = 64

Stamps = Mapping[int, int]
"""Epoch, or stream -> up to where everything of it has come."""


class TakenStamps:
    """The stamps of each broker of a site, by their slots. `era()`: see `SiteClient`."""

    def __init__(self, era: Callable[[], int | None]) -> None:
        self._era = era
        # Slot -> what has been taken, and what it says besides of what has not been.
        self._taken: dict[str, dict[int, int]] = {}
        self._untaken: dict[str, Stamps] = {}
        # What brokers do not say of any more: earlier processes of theirs, and streams that have ended.
        self._former: dict[str, Stamps] = {}
        # The eras in which something of a broker was taken for the last time, and in which its link broke.
        self._taken_in: dict[str, int | None] = {}
        self._broken_in: dict[str, int | None] = {}
        self._all: dict[int, int] | None = None

    def all_of(self, slots: Iterable[str]) -> dict[int, int]:
        """Returns the stamps of all brokers; none while one of `slots` has not said any."""
        if self._all is None:
            self._all = {epoch: stamp for mine in self._taken.values() for epoch, stamp in mine.items()}
        return self._all if self._taken.keys() >= set(slots) else {}

    def say(self, slot: str, stamps: Stamps) -> None:
        """Notes what a broker says."""
        self._untaken[slot] = stamps

    def take(self, slot: str) -> None:
        """Notes that everything has been taken that came with what a broker has said."""
        if (said := self._untaken.pop(slot, None)) is None:
            return
        # A stamp never falls: a peer that takes one back would make us ask for events that we have.
        mine = self._taken.get(slot, {})
        if not mine.keys() <= said.keys():
            former = {**self._former.get(slot, {}), **{epoch: stamp for epoch, stamp in mine.items() if epoch not in said}}
            self._former[slot] = dict(list(former.items())[-MOST_FORMER:])
        self._taken[slot] = {epoch: max(stamp, mine.get(epoch, 0)) for epoch, stamp in said.items()}
        self._taken_in[slot] = self._era()
        self._all = None

    def link_down(self, slot: str) -> None:
        """Notes that the link to a broker is lost."""
        self._broken_in[slot] = self._era()

    def link_up(self, slot: str, *, may_resume: bool) -> dict[int, int] | None:
        """Returns the stamps by which a broker that is back can go on; None where nothing is known that it can go by."""
        self._untaken.pop(slot, None)
        era = self._broken_in.pop(slot, None)
        if may_resume and era is not None and era == self._era() and slot in self._taken:
            return self._taken[slot]
        self._forget(slot)
        return None

    def forget(self, slot: str) -> None:
        """Forgets what a broker has said."""
        self._untaken.pop(slot, None)
        self._forget(slot)

    def _forget(self, slot: str) -> None:
        self._taken.pop(slot, None)
        self._all = None

    def of_lost(self, slot: str) -> dict[int, int]:
        """Returns up to where everything of a broker has come that is lost; none where that is not known.

        What has not been taken yet has come, and will have been before anybody can answer.
        """
        era, newest = self._era(), dict[int, int]()
        if era is None or era != self._taken_in.get(slot):
            return newest
        for said in (self._former.get(slot, {}), self._taken.get(slot, {}), self._untaken.get(slot, {})):
            newest |= {epoch: max(stamp, newest.get(epoch, 0)) for epoch, stamp in said.items()}
        return newest
