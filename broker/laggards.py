"""Laggards: subscribing links that are behind, and get what is recorded from the window until they are not. Pure.

A link is behind when it has come back and says from where on it lacks events, or when too much waits on it. Nothing is dropped from it,
and nothing live overtakes (DPS-10, DPS-12): what is published meanwhile on topics that are recorded is in the window, behind what the link
still lacks, and comes from there. When the link has got the newest event of the window, it is live again in the same step. What has gone
from the window by then is lost, and counted.

A link gets an event from the window once at most, and only if it would have got it live:

- A topic that it subscribes while it is behind is served from that moment on.
- An event that went to another broker of its site, which owned the topic then, is passed over.
"""

from collections.abc import Callable, Iterable
from typing import Final

from infra.kernel.fanout import Fanout
from infra.kernel.interest import LINKS

from .window import EventWindow

# So many events of the window are looked at in one turn.
AT_ONCE: Final = 1024


class _Laggard:
    """A link that is behind.

    - `stamp`: it has got everything up to here. `begun`: it had when it began to be behind.
    - `opening`: the bodies that it gets begin with it: another site gets events of this one.
    - `is_announcing`: it has come back, and has not said everything yet that it wanted before; nothing is served until it has.
    - `known`: changes with higher numbers are new also while it is announcing; 0 where none is.
    - `is_new`: whether the change that is being done is.
    - `since`: row -> the stamp from which on it wants the topic, where that is later than where it is behind.
    - `passed`: stamps of events that went to another link for it.
    """

    __slots__ = ("begun", "is_announcing", "is_new", "known", "opening", "passed", "since", "stamp")

    def __init__(self, stamp: int, opening: bytes, is_announcing: bool, known: int = 0) -> None:
        self.stamp = self.begun = stamp
        self.opening, self.is_announcing, self.known = opening, is_announcing, known
        self.is_new = not is_announcing
        self.since: dict[int, int] = {}
        self.passed: set[int] = set()


class Laggards:
    """The links of `fanout` that are behind.

    - `live`: the mask of all others.
    - `lost`: how many stamps were passed over because what they stood for had gone; at most so many events were lost for some link.
    - `served`: how many events links got from the window.
    """

    def __init__(self, fanout: Fanout, window: EventWindow) -> None:
        self.live = LINKS
        self.lost = self.served = 0
        self._fanout, self._window = fanout, window
        self._links: dict[int, _Laggard] = {}

    def __contains__(self, bit: int) -> bool:
        return bit in self._links

    def __len__(self) -> int:
        return len(self._links)

    def fill(self, bit: int, opening: bytes) -> None:
        """Notes that too much waits on link `bit`: it has got everything up to now, and gets nothing more for the moment.

        `opening`: the bodies that it gets begin so.
        """
        self._begin(bit, _Laggard(self._window.stamp, opening, is_announcing=False))

    def resume(self, bit: int, stamp: int, opening: bytes, known: int = 0) -> None:
        """Notes that link `bit` is that of somebody who has come back, and has got everything up to `stamp` before.

        - `stamp`: one of the window, or an earlier one.
        - `opening`: the bodies that it gets begin so.
        - `known`: its changes up to that number repeat what it wanted before; 0 where all do that come before `announced`.
        """
        self._begin(bit, _Laggard(stamp, opening, is_announcing=True, known=known))

    def change(self, bit: int, number: int) -> None:
        """Notes that the change `number` of link `bit` is done next."""
        if (laggard := self._links.get(bit)) is not None and laggard.is_announcing:
            laggard.is_new = 0 < laggard.known < number

    def _begin(self, bit: int, laggard: _Laggard) -> None:
        if bit not in self._links:
            self._links[bit] = laggard
            self.live &= ~(1 << bit)

    def announced(self, bit: int) -> bool:
        """Notes that link `bit` has said again everything that it wanted before. Returns whether it was waited for."""
        laggard = self._links.get(bit)
        if laggard is None or not laggard.is_announcing:
            return False
        laggard.is_announcing, laggard.is_new = False, True
        return True

    def wanted(self, bit: int, rows: Iterable[int]) -> None:
        """Notes that link `bit` has begun to want `rows`."""
        laggard = self._links.get(bit)
        if laggard is not None and laggard.is_new:
            laggard.since.update(dict.fromkeys(rows, self._window.stamp))

    def passed(self, mask: int) -> None:
        """Notes that the newest event of the window goes to other links of the same sites than those of `mask`."""
        for bit, laggard in self._links.items():
            if mask & 1 << bit:
                laggard.passed.add(self._window.stamp)

    def end(self, bit: int) -> None:
        """Has link `bit` be live again, or forgets it because it is gone."""
        if self._links.pop(bit, None) is not None:
            self.live |= 1 << bit

    def stamp(self, bit: int) -> int:
        """Returns the stamp up to which link `bit` has been given everything."""
        laggard = self._links.get(bit)
        return self._window.stamp if laggard is None else laggard.stamp

    def until(self, bit: int, row: int) -> int | None:
        """Returns the stamp up to which link `bit` will get nothing more of the topic that has `row`; None while it is live."""
        laggard = self._links.get(bit)
        return None if laggard is None else max(laggard.stamp, laggard.since.get(row, 0))

    def serve(self, bit: int, is_full: Callable[[], bool]) -> bool:
        """Gives link `bit`, which is behind and has announced everything, what it lacks next. Returns whether it is live again.

        It gives as much as can be looked at in one turn of the loop, and stops while the link `is_full`; then it goes on where it was.
        """
        laggard, window = self._links[bit], self._window
        if laggard.stamp < window.whole_from:
            self.lost += window.whole_from - laggard.stamp
            laggard.stamp = window.whole_from
        flag, masks, handles, receiver = (
            1 << bit,
            self._fanout.interest.masks,
            self._fanout.interest.handles(bit),
            self._fanout.receiver(bit),
        )
        left = AT_ONCE
        for stamp, row, body in window.after(laggard.stamp, laggard.opening, laggard.begun):
            if not left:
                return False
            left -= 1
            laggard.stamp = stamp  # first: what is given next may be sent off at once, with this stamp
            if masks[row] & flag and stamp > laggard.since.get(row, 0) and stamp not in laggard.passed:
                receiver.deliver(handles[row], body)
                self.served += 1
                if is_full():
                    return False
        self.end(bit)
        return True
