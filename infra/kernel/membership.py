"""Membership: which of a site's brokers are alive, and which view says so (design 6).

1. A slot is alive while something was heard from it within `dead_s`, or within `suspect_s` once its link is lost. So failure is
   suspected by a lost link and decided by silence.
2. The lowest slot that is alive issues a new view, one number higher, whenever the set of live slots is not the view's.
3. A higher view is taken over, whoever passes it on, if a broker of this site can have issued it: it has configured slots only, and its
   number is not far ahead of ours. So a lie costs one view, and not all that follow.
4. Nothing is issued in the first `grace_s` of a process unless every slot was heard. So a restart does not claim the whole ring for a
   moment.
5. The numbers of a process are above `base`, which is higher in each life of a site (such as the time of its start in ms). Other sites
   remember the last view of a site that stopped as a whole.
6. A slot that comes, or comes back, to a view that exists is in it after `grace_s`. By then all who must link to it have found it.
7. A slot that was left out by a view that it had to take over leaves nobody out in turn for `CALM` times `dead_s`. Two that cannot
   hear each other, but are both heard by others, would outbid each other for ever.

Time is an argument (seconds, monotonic). There is no clock here.
"""

from collections.abc import Iterable
from typing import Final

import msgspec

from .frames import View

CALM: Final = 2
# So far a number may be ahead of those of this process, which begin with the time of its start in ms: a year. It leaves room to count on.
AHEAD: Final = 366 * 86_400_000
# No number is higher, whatever the clock says; those that frames can carry go much further.
MOST_VIEW_NUMBER: Final = 1 << 53


class Timing(msgspec.Struct, frozen=True, kw_only=True):
    """Times in seconds. `suspect_s` < `dead_s`; both are several heartbeats. In `grace_s` everybody finds a broker that has come."""

    suspect_s: float = 1.0
    dead_s: float = 2.5
    grace_s: float = 2.5


class Membership:
    """The brokers of a site as one of them sees them. `view`: the newest view that it knows."""

    def __init__(self, me: str, slots: Iterable[str], now: float, timing: Timing, base: int = 0) -> None:
        """Begins at `now` as the broker `me` of the configured `slots`. `base`: see rule 5."""
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
        """Notes that a frame came from `slot`."""
        if slot in self._heard:
            if not self._is_alive(slot, now):  # asked before `_heard` changes: it has come back, and waits for `grace_s` (rule 6)
                self._since[slot] = now
            self._heard[slot] = now
            self._suspected.discard(slot)

    def link_lost(self, slot: str) -> None:
        """Notes that the link to `slot` broke. It is suspected now, and dead if it stays silent for `suspect_s`."""
        if slot in self._heard:
            self._suspected.add(slot)

    def leave(self, slot: str) -> None:
        """Notes that `slot` says goodbye. It is not in the next view, which waits for nothing."""
        self._leaving.add(slot)

    def rejoin(self, slot: str) -> None:
        """Notes that a new process of `slot` said hello."""
        if slot in self._leaving:
            self._leaving.discard(slot)
            self._heard[slot] = None

    def alive(self, now: float) -> tuple[str, ...]:
        """Returns the slots that are alive at `now`, sorted."""
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
        """Takes over `view`, which somebody sent, if it is higher, and returns whether it was.

        Between equal numbers the slots decide, and then their shares, in the same way everywhere. A view that no broker can have issued
        is passed over.
        """
        if view.order <= self.view.order or not self._is_possible(view):
            return False
        self._is_overruled |= self._me in self.view.slots and self._me not in view.slots
        self.view = view
        return True

    def _is_possible(self, view: View) -> bool:
        is_near = view.number <= min(max(self._base, self.view.number) + AHEAD, MOST_VIEW_NUMBER)
        return is_near and view.is_sound and self._heard.keys() >= {*view.slots}

    def tick(self, now: float) -> bool:
        """Issues a new view if that is this broker's duty and the set of live slots has changed. Returns whether it did."""
        if self._is_overruled:
            self._is_overruled, self._calm_until = False, now + CALM * self._timing.dead_s
        alive = tuple(slot for slot in self.alive(now) if self._may_join(slot, now))
        if not alive or alive[0] != self._me or alive == self.view.slots or not self._settled(now):
            return False
        # Slots that say goodbye may be left out at any time: nobody contradicts that (rule 7).
        missing = set(self.view.slots).difference(alive, self._leaving)
        if missing and now < self._calm_until:
            return False
        self.view = View(max(self.view.number, self._base) + 1, alive)
        return True

    def _settled(self, now: float) -> bool:
        complete = all(heard is not None for slot, heard in self._heard.items() if slot != self._me)
        return complete or now - self._started >= self._timing.grace_s
