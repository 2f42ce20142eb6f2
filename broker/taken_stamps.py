"""Taken stamps: up to where a client of a site's brokers has got everything from each of them, by what they say with their frames. Pure.

A broker says one stamp of its window, and one number of each stream in which it gives events to heirs. What it says holds when everything
has been taken that came with it.

That does not become untrue when it is said no more, since the broker is dead or the stream has ended. So it still counts for a while:
whoever has heard of no later owner of a topic yet is known by it.
"""

from collections.abc import Callable, Collection, Mapping
from typing import Final

# So many epochs and streams of one broker are remembered that it says nothing of any more.
MOST_FORMER: Final = 64
# For so many heartbeats it counts: access points have heard of it by then, and remember it themselves.
FORMER_BEATS: Final = 10

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
        self._former: dict[str, dict[int, int]] = {}
        # The eras in which something of a broker was taken for the last time, and in which its link broke.
        self._taken_in: dict[str, int | None] = {}
        self._broken_in: dict[str, int | None] = {}
        # Epochs and streams that are not said any more, the newest last: up to where everything has come, and until which beat that counts.
        self._ended: dict[int, tuple[int, int]] = {}
        # What heirs have given of what others had, as far as it has not been taken: heir -> (whose, up to where).
        self._given: dict[str, list[tuple[str, Stamps]]] = {}
        self._beat = 0
        self._all: dict[int, int] | None = None

    def all_of(self, slots: Collection[str]) -> dict[int, int]:
        """Returns the stamps of all brokers, and behind them those that count for a while; none while one of `slots` has not said any.

        Where there are no `slots`, nobody knows yet who the brokers are, and there are none: to all others, whoever names the stamps of
        one broker alone has never met them.
        """
        if self._all is None:
            self._all = {epoch: stamp for mine in self._taken.values() for epoch, stamp in mine.items()}
            for epoch, (stamp, _) in self._ended.items():
                self._all[epoch] = max(stamp, self._all.get(epoch, 0))
        return self._all if slots and self._taken.keys() >= set(slots) else {}

    def say(self, slot: str, stamps: Stamps) -> None:
        """Notes what a broker says."""
        self._untaken[slot] = stamps

    def take(self, slot: str) -> None:
        """Notes that everything has been taken that came with what a broker has said, or has given as the heir of others."""
        for lost, given in self._given.pop(slot, ()):
            self._raise(lost, given)
        if (said := self._untaken.pop(slot, None)) is None:
            return
        # A stamp never falls: a peer that takes one back would make us ask for events that we have.
        mine = self._taken.get(slot, {})
        if not mine.keys() <= said.keys():
            ended = {epoch: stamp for epoch, stamp in mine.items() if epoch not in said}
            self._former[slot] = dict(list({**self._former.get(slot, {}), **ended}.items())[-MOST_FORMER:])
            self._end(ended)
        self._taken[slot] = {epoch: max(stamp, mine.get(epoch, 0)) for epoch, stamp in said.items()}
        self._taken_in[slot] = self._era()
        self._all = None

    def link_down(self, slot: str) -> None:
        """Notes that the link to a broker is lost."""
        self._broken_in[slot] = self._era()

    def link_up(self, slot: str, *, may_resume: bool) -> dict[int, int] | None:
        """Returns the stamps by which a broker that is back can go on; None where nothing is known that it can go by."""
        self._untaken.pop(slot, None)
        self._given.pop(slot, None)
        era = self._broken_in.pop(slot, None)
        if may_resume and era is not None and era == self._era() and slot in self._taken:
            return self._taken[slot]
        self._forget(slot)
        return None

    def forget(self, slot: str) -> None:
        """Notes that nobody goes on from what a broker has said, though it has come."""
        self._untaken.pop(slot, None)
        self._end(self._taken.get(slot, {}))
        self._forget(slot)

    def inherit(self, lost: str, stamps: Stamps, heir: str) -> None:
        """Notes that `heir` has given everything up to `stamps` of what a broker had that is `lost`. It holds when that has been taken."""
        if stamps:
            self._given.setdefault(heir, []).append((lost, stamps))

    def _raise(self, lost: str, stamps: Stamps) -> None:
        """Notes that what a `lost` broker had has come up to `stamps`: no other broker speaks of that."""
        others = {epoch for slot, mine in self._taken.items() if slot != lost for epoch in mine}
        known = {epoch: stamp for epoch, stamp in stamps.items() if epoch not in others}
        for said in (self._taken, self._former):
            if lost in said:
                said[lost] = {epoch: max(stamp, known.get(epoch, 0)) for epoch, stamp in said[lost].items()}
        self._end(known)

    def _end(self, stamps: Stamps) -> None:
        """Has `stamps` count for a while though nobody says them."""
        for epoch, stamp in stamps.items():
            had, _ = self._ended.pop(epoch, (0, 0))
            self._ended[epoch] = max(stamp, had), self._beat + FORMER_BEATS
        while len(self._ended) > MOST_FORMER:
            del self._ended[next(iter(self._ended))]
        self._all = None

    def tick(self) -> None:
        """Counts a heartbeat interval, in which nobody says any more what has counted for long enough."""
        self._beat += 1
        if any(until < self._beat for _, until in self._ended.values()):
            self._ended = {epoch: each for epoch, each in self._ended.items() if each[1] >= self._beat}
            self._all = None

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
