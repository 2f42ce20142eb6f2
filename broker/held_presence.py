"""Held presence: what waits for a link to another site that gets more than it takes. Pure.

Of each topic only the newest event waits, and it says how many it replaced (DPS-21). All of them are of this site, since no other events
cross a site link. A newer one takes the place of the older, so a topic that speaks all the time waits no longer than others.

What most clients there follow goes first, as far as it is told how many do (see `gains`); of topics with one gain the oldest. What has
waited for `max_age_s` goes before all others, the oldest first, so that no topic waits for ever (DPS-22).

What waits is bounded in bytes. Without room, what is worth least is shed, and counted: the newest of the lowest gain that waits, if that
gain is lower than the one of what comes; else what comes.

Only presence may be held: nobody misses an older one once the newest is there. Everything else passes by (see `SiteOutlet`).
"""

from collections import OrderedDict
from typing import Final

from infra.kernel.events import skipped_in, with_skipped
from infra.kernel.gains import Gains

# What an event that waits takes besides its body, about.
EVENT_BYTES: Final = 250


class _Held:
    """The newest event of a topic.

    - `skipped`: how many it has replaced here.
    - `gain`, `since_s`: of the topic, and since when it has waited.
    """

    __slots__ = ("body", "gain", "since_s", "skipped")

    def __init__(self, body: bytes, gain: int, since_s: float) -> None:
        self.body, self.gain, self.since_s, self.skipped = body, gain, since_s, 0

    @property
    def size_bytes(self) -> int:
        """What it takes, about."""
        return len(self.body) + EVENT_BYTES


class HeldPresence:
    """The events that wait for one link, by the handles of their topics; they take at most `max_bytes`.

    - `gains`: those of the handles, which may change.
    - `conflated`: how many events were replaced by newer ones. `shed`: how many were dropped for want of room. `overdue`: how many went
      because they had waited for `max_age_s`, before others with a higher gain.
    - `bytes`: what they take, about.
    """

    def __init__(self, max_bytes: int, max_age_s: float, gains: Gains) -> None:
        self.conflated = self.shed = self.overdue = self.bytes = 0
        self._max_bytes, self._max_age_s, self._gains = max_bytes, max_age_s, gains
        # In the order in which the topics came: all of them, and those of each gain. A dict finds its first key slowly when many before it
        # have gone.
        self._waiting: OrderedDict[int, _Held] = OrderedDict()
        self._by_gain: dict[int, OrderedDict[int, None]] = {}
        self._used = 0  # bit `g` is set while something of gain `g` waits

    def __len__(self) -> int:
        """Returns how many events wait."""
        return len(self._waiting)

    def hold(self, handle: int, body: bytes, now_s: float) -> None:
        """Has an event of the topic `handle` wait, instead of the one that does already."""
        held = self._waiting.get(handle)
        if held is not None:
            held.skipped += 1 + skipped_in(held.body)
            self.bytes += len(body) - len(held.body)
            held.body = body
            self.conflated += 1
            return
        held = _Held(body, self._gains[handle], now_s)
        if self._has_room(held):
            self._waiting[handle] = held
            self._by_gain.setdefault(held.gain, OrderedDict())[handle] = None
            self._used |= 1 << held.gain
            self.bytes += held.size_bytes
        else:
            self.shed += 1

    def _has_room(self, held: _Held) -> bool:
        """Makes room for `held` at the cost of what is worth less; returns whether there is enough."""
        while self.bytes + held.size_bytes > self._max_bytes:
            if not self._used & (1 << held.gain) - 1:
                return False
            lowest = (self._used & -self._used).bit_length() - 1
            self._remove(next(reversed(self._by_gain[lowest])))
            self.shed += 1
        return True

    def take(self, now_s: float) -> tuple[int, bytes]:
        """Takes the event out that is the next to go; returns handle and body. There must be one."""
        handle, oldest = next(iter(self._waiting.items()))
        highest = self._used.bit_length() - 1
        if now_s - oldest.since_s < self._max_age_s:
            handle = next(iter(self._by_gain[highest]))
        elif oldest.gain < highest:
            self.overdue += 1
        held = self._remove(handle)
        return handle, with_skipped(held.body, held.skipped) if held.skipped else held.body

    def forget(self, handle: int) -> None:
        """Drops what waits for the topic `handle`: nobody wants it any more."""
        if handle in self._waiting:
            self._remove(handle)

    def _remove(self, handle: int) -> _Held:
        held = self._waiting.pop(handle)
        level = self._by_gain[held.gain]
        del level[handle]
        if not level:
            self._used ^= 1 << held.gain
        self.bytes -= held.size_bytes
        return held

    def close(self) -> None:
        """Drops everything: the link is gone. What waited is shed."""
        self.shed += len(self._waiting)
        self._waiting, self._by_gain, self._used, self.bytes = OrderedDict(), {}, 0, 0
