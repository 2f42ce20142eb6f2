"""Processes of slots: which one of each broker said hello last, and which one is in the view. Pure.

A view names slots, and not processes. A process that is started again before it is missed is not the one in the view: it knows nothing of
what that one has served. So it must be out of one view before it may come. Who meets it only when it has come must not take it for one
that was just replaced. They would put it out once more, and everybody would take that for a split.

So each broker notes which process it knows to be in the view. Of one that it did not hear when its slot came into the view it knows
nothing. Then it is the one that it meets next. Whoever has let that one in knows better (`Membership`, rule 10).
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from .frames import View
from .steps import was_left_out


class Meeting(NamedTuple):
    """A meeting with a process that has said hello.

    - `is_new`: another one of its slot was met before.
    - `is_in`: its slot is in the view, and nothing is known of another one that came there.
    """

    is_new: bool
    is_in: bool


class SlotProcesses:
    """The processes of the slots of one site, by the numbers that they say (`Hello.incarnation`)."""

    def __init__(self) -> None:
        self._met: dict[str, int] = {}
        self._in_view: dict[str, int] = {}
        self._view = View(0, ())

    def meet(self, slot: str, process: int) -> Meeting:
        """Notes that a `process` of `slot` has said hello."""
        before, self._met[slot] = self._met.get(slot, process), process
        is_in = False
        if slot in self._view.slots:
            is_in = self._in_view.get(slot, process) == process
            self._in_view[slot] = process
        return Meeting(before != process, is_in)

    def is_over(self, slot: str, process: int) -> bool:
        """Tells whether another process of `slot` was met since that one."""
        return self._met.get(slot) != process

    def have_met(self, slots: Iterable[str]) -> bool:
        """Tells whether a process of each of `slots` has said hello, so that it knows of this one."""
        return all(slot in self._met for slot in slots)

    def follow(self, view: View, is_suspected: Callable[[str], bool]) -> None:
        """Takes over `view`. `is_suspected(slot)`: that slot may be dead, so the process that was met may not be the one that came."""
        before, self._view = self._view, view
        for slot in view.slots:
            if slot not in before.slots or was_left_out(slot, before, view):
                self._in_view.pop(slot, None)
                if slot in self._met and not is_suspected(slot):
                    self._in_view[slot] = self._met[slot]
        for slot in self._in_view.keys() - view.slots:
            del self._in_view[slot]
