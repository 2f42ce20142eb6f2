"""Shares: the turns of one loop, divided between all who want something done. Pure.

Whoever has much to do does a share of it, and goes on in a later turn, behind the others. So what one wants is never a long turn for
everybody else, and neither is what a hundred want.
"""

from collections import deque
from collections.abc import Callable, Iterator
from typing import Final

from .every_one import for_every_one

# What costs 1 is a byte of a request or a long message, as a rule a quarter of a microsecond: a share is four milliseconds. A smaller one
# would divide usual requests of publishers, whose events then leave in more and smaller writes: that cost a third more for each delivery.
SHARE: Final = 16 << 10
WHOLE: Final = 64 << 10


class Shares:
    """The shares of each turn: at most `share` for one, and `whole` for all together. `soon(step)` has a step called in the next turn.

    What one step does cannot be divided, so a turn may cost one step more than `whole`.
    """

    __slots__ = ("_begun", "_left", "_share", "_soon", "_waiting", "_whole")

    def __init__(self, soon: Callable[[Callable[[], None]], object], share: int = SHARE, whole: int = WHOLE) -> None:
        self._soon, self._share, self._whole = soon, share, whole
        self._waiting: deque[Callable[[], None]] = deque()
        self._left = whole
        self._begun = False

    def __len__(self) -> int:
        return len(self._waiting)

    def take(self) -> int:
        """Returns how much the caller may do now. If it is 0, or if more is to be done, call `wait`."""
        if not self._begun:
            self._begun, self._left = True, self._whole
            self._soon(self._turn)
        left, share = self._left, self._share  # every read asks for it: `min` and `max` would cost twice as much as all the rest
        return share if left > share else left if left > 0 else 0

    def spend(self, cost: int) -> None:
        """Notes what was done of that."""
        self._left -= cost

    def wait(self, step: Callable[[], None]) -> None:
        """Has `step` called once in a later turn, when it is its turn. There it calls `take` again."""
        self._waiting.append(step)
        self.take()  # or no turn would come

    def _turn(self) -> None:
        self._begun = bool(self._waiting)
        if self._begun:
            self._left = self._whole
            self._soon(self._turn)
            for_every_one(self._next())

    def _next(self) -> Iterator[Callable[[], None]]:
        """Returns the steps that waited when the turn began, as far as it reaches."""
        for _ in range(len(self._waiting)):
            if self._left <= 0:
                return
            yield self._waiting.popleft()
