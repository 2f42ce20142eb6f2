"""Membership: who of a site's brokers is alive, and which view says so (design 6).

Rules. (1) A slot is alive while something was heard from it within `dead_s`, or within `suspect_s` once its link is
lost: failure is suspected by a lost link and decided by silence. (2) The lowest slot that is alive issues a new view,
one number higher, whenever the set of live slots is not the view's. (3) A higher view, from whomever, is taken over.
(4) Nothing is issued in the first `grace_s` of a process unless every slot was heard, so that a restart does not
claim the whole ring for a moment. (5) The numbers of a process are above `base`, which is higher in each life of a site
(such as the time of its start in ms): other sites remember the last view of a site that stopped as a whole. (6) Who
comes, or comes back, to a view that exists is in it after `grace_s`: by then all who must link to it have found it. (7) Who
was left out by a view that it had to take over leaves nobody out in turn for `CALM` times `dead_s`: two that cannot hear
each other, but are both heard by others, would outbid each other for ever.

Time is an argument (seconds, monotonic). There is no clock here.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from .frames import View

CALM: Final = 2


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """Seconds. `suspect_s` < `dead_s`; both are several heartbeats. In `grace_s` everybody finds a broker that has come."""

    suspect_s: float = 1.0
    dead_s: float = 2.5
    grace_s: float = 2.5


class Membership:
    """The view of one broker on the brokers of its own site."""

    def __init__(self, me: str, slots: Iterable[str], now: float, timing: Timing, base: int = 0) -> None:
        self.view = View(0, ())
        self._me = me
        self._heard: dict[str, float | None] = dict.fromkeys(sorted(slots))
        self._suspected: set[str] = set()
        self._leaving: set[str] = set()
        self._timing = timing
        self._started = now
        self._since: dict[str, float] = {}
        self._is_overruled = False
        self._calm_until = now
        self._base = base

    def heard(self, slot: str, now: float) -> None:
        """A frame came from `slot`."""
        if slot in self._heard:
            if not self._is_alive(slot, now):
                self._since[slot] = now
            self._heard[slot] = now
            self._suspected.discard(slot)

    def link_lost(self, slot: str) -> None:
        """The link to `slot` broke: it is suspected, and dead if it stays silent for `suspect_s`."""
        if slot in self._heard:
            self._suspected.add(slot)

    def leave(self, slot: str) -> None:
        """`slot` says goodbye: it is out of the next view without waiting."""
        self._leaving.add(slot)

    def rejoin(self, slot: str) -> None:
        """A new process of `slot` said hello."""
        if slot in self._leaving:
            self._leaving.discard(slot)
            self._heard[slot] = None

    def alive(self, now: float) -> tuple[str, ...]:
        """The slots that are alive at `now`, in ring order."""
        return tuple(slot for slot in self._heard if slot not in self._leaving and self._is_alive(slot, now))

    def _may_join(self, slot: str, now: float) -> bool:
        is_member = slot in self.view.slots or not self.view.slots
        return is_member or now - self._since.get(slot, self._started) >= self._timing.grace_s

    def _is_alive(self, slot: str, now: float) -> bool:
        if slot == self._me:
            return True
        heard = self._heard[slot]
        limit = self._timing.suspect_s if slot in self._suspected else self._timing.dead_s
        return heard is not None and now - heard <= limit

    def offer(self, view: View) -> bool:
        """Somebody's view; taken over if it is higher. Equal numbers are decided by the slots, the same way everywhere."""
        if (view.number, view.slots) <= (self.view.number, self.view.slots):
            return False
        self._is_overruled |= self._me in self.view.slots and self._me not in view.slots
        self.view = view
        return True

    def tick(self, now: float) -> bool:
        """Issue a new view if that is this broker's duty and the set of live slots has changed."""
        if self._is_overruled:
            self._is_overruled, self._calm_until = False, now + CALM * self._timing.dead_s
        alive = tuple(slot for slot in self.alive(now) if self._may_join(slot, now))
        if not alive or alive[0] != self._me or alive == self.view.slots or not self._settled(now):
            return False
        missing = set(self.view.slots).difference(alive, self._leaving)
        if missing and now < self._calm_until:
            return False
        self.view = View(max(self.view.number, self._base) + 1, alive)
        return True

    def _settled(self, now: float) -> bool:
        complete = all(heard is not None for slot, heard in self._heard.items() if slot != self._me)
        return complete or now - self._started >= self._timing.grace_s
