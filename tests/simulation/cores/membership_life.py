"""A life of what the brokers of a site agree on: who is alive, which view holds, and in which steps it changes."""

import random
from typing import ClassVar, Final

from infra.kernel.frames import Announced, View
from infra.kernel.membership import MOST_VIEW_NUMBER, Membership, Timing
from infra.kernel.ring import POINTS
from infra.kernel.slot_processes import SlotProcesses

from ..oracle import Violated
from .core_life import ODD_NUMBERS, CoreLife, read

SLOTS: Final = ("b1", "b2", "b3", "b4")
TIMING: Final = Timing()
BEAT_S: Final = 0.25
LEAVE_S: Final = 6.0
STEPS: Final = 4
# What a view may say that no broker issues; and shares that one may have.
STRANGERS: Final = ("b9", "", "lon/b1")
SHARES: Final = (0, 1, 64, POINTS, POINTS + 1, 1 << 20)
# By then all have found each other, nobody is calm any more, and who had to come has come in steps.
AGREED_BEATS: Final = 80


class MembershipLife(CoreLife):
    """The brokers of one site, which hear each other's heartbeats, unless they are cut off. They are killed, started, and leave.

    In half of all lives there are copies, so whose process was replaced must be out of one view. `base` rises with each life of a process,
    as the time of its start does.
    """

    KINDS: ClassVar[dict[str, int]] = {"beats": 40, "kill": 4, "start": 8, "leave": 3, "cut": 4, "heal": 4, "aim": 2, "lie": 8}

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.brokers: dict[str, Membership] = {}
        self._base = 1000
        self._leaving: dict[str, float] = {}
        self._cuts: set[frozenset[str]] = set()
        self._before: dict[str, View] = {}
        # Slot -> which life of it runs, and what that one knows of the lives of others.
        self._lives: dict[str, int] = {}
        self._known: dict[str, SlotProcesses] = {}
        self._has_copies = rng.choice((True, False))
        self._steps = rng.choice((1, STEPS))
        for slot in SLOTS[:3]:
            self._begin(slot)

    def _begin(self, slot: str) -> None:
        self._base += 1000
        self._leaving.pop(slot, None)
        self.brokers[slot] = Membership(slot, SLOTS, self.now_s, TIMING, self._base, steps=self._steps, leave_s=LEAVE_S)
        self._before[slot] = View(0, ())
        self._say(slot)
        self._lives[slot] = self._base
        self._known[slot] = SlotProcesses()

    def _heard_by(self, slot: str) -> list[str]:
        return [other for other in self.brokers if other != slot and frozenset((slot, other)) not in self._cuts]

    def _say(self, slot: str) -> None:
        """Has a broker tell itself how far it is: all that follows from its view is done at once."""
        broker = self.brokers[slot]
        broker.told(slot, broker.view.number, knows=True)

    def _beats(self, count: int, *_: int) -> None:
        for _n in range(1 + count % 4):
            self.now_s += BEAT_S
            for slot, broker in list(self.brokers.items()):
                self._say(slot)
                broker.forget_replaced(self.now_s)
                broker.tick(self.now_s)
                self._follow(slot)
                for other in self._heard_by(slot):
                    hearer = self.brokers[other]
                    self._meet(other, slot)
                    hearer.heard(slot, self.now_s)
                    if slot in self._leaving:
                        hearer.leave(slot, self.now_s)
                    hearer.offer(broker.view)
                    self._follow(other)
                    hearer.told(slot, broker.view.number, knows=True)
            self._check_views()
            for slot in [slot for slot in self._leaving if slot not in self.brokers[slot].view.slots]:
                if len(self.brokers) > 1:
                    self._end(slot)

    def _meet(self, hearer: str, slot: str) -> None:
        """Has a broker hear which life of another one runs."""
        met = self._known[hearer].meet(slot, self._lives[slot])
        if met.is_new:
            self.brokers[hearer].rejoin(slot, self.now_s, is_in=met.is_in)
            if self._has_copies and not met.is_in:
                self.brokers[hearer].replaced(slot, self.now_s)

    def _follow(self, slot: str) -> None:
        broker = self.brokers[slot]
        self._known[slot].follow(broker.view, lambda other: broker.is_suspected(other, self.now_s))

    def _end(self, slot: str) -> None:
        del self.brokers[slot]
        self._leaving.pop(slot, None)
        for other in self.brokers.values():
            other.link_lost(slot)

    def _kill(self, which: int, *_: int) -> None:
        if len(self.brokers) > 1:
            self._end(list(self.brokers)[which % len(self.brokers)])

    def _start(self, which: int, *_: int) -> None:
        if (slot := SLOTS[which % len(SLOTS)]) not in self.brokers:
            self._begin(slot)

    def _leave(self, which: int, *_: int) -> None:
        slot = list(self.brokers)[which % len(self.brokers)]
        if len(self.brokers) > len(self._leaving) + 1:
            self._leaving.setdefault(slot, self.now_s)
            self.brokers[slot].leave(slot, self.now_s)

    def _cut(self, one: int, other: int, *_: int) -> None:
        pair = frozenset((SLOTS[one % len(SLOTS)], SLOTS[other % len(SLOTS)]))
        self._cuts |= {pair} if len(pair) == 2 else set()

    def _heal(self, *_: int) -> None:
        self._cuts.clear()

    def _aim(self, which: int, share: int, *_: int) -> None:
        """Has an operator say what a slot is to have in the end."""
        slot, broker = list(self.brokers.items())[which % len(self.brokers)]
        if broker.view.slots and self._steps > 1:
            goal = broker.view.goal_of | {broker.view.slots[0]: (POINTS, 128)[share % 2]}
            broker.aim(goal)
            self._follow(slot)

    def _lie(self, which: int, number: int, slots: int, how: int) -> None:
        """Has somebody pass on a view that no broker has issued, or one of yesterday."""
        if not self.has_liars:
            return
        slot, broker = list(self.brokers.items())[which % len(self.brokers)]
        before = broker.view
        named = tuple(sorted((*(slot for n, slot in enumerate(SLOTS) if slots & 1 << n), *([STRANGERS[how % 3]] if how % 4 == 0 else []))))
        shares = tuple(SHARES[(how >> n) % len(SHARES)] for n in range(len(named) + (number % 3 == 0)))
        numbers = (*ODD_NUMBERS, -1, before.number, before.number - 1, before.number + 1)
        lie = View(numbers[number % len(numbers)], named, shares if how % 3 == 0 else (), (0,) * len(named) if how % 7 == 0 else ())
        if read(Announced(lie)) is None:
            return
        is_taken = broker.offer(lie)
        self._follow(slot)
        if is_taken and (lie.order <= before.order or not {*named} <= {*SLOTS} or not lie.is_sound or lie.number > MOST_VIEW_NUMBER):
            raise Violated(f"{lie} was taken over after {before}")
        self.looked_at["lies"] += 1

    def check(self) -> None:
        """See `_check_views`, which also looks behind each heartbeat."""
        self._check_views()

    def _check_views(self) -> None:
        for slot, broker in self.brokers.items():
            view = broker.view
            if view is self._before[slot]:
                continue
            if view.order < self._before[slot].order:
                raise Violated(f"{slot} goes from {self._before[slot]} back to {view}")
            if not {*view.slots} <= {*SLOTS} or not view.is_sound or view.number > MOST_VIEW_NUMBER + len(SLOTS):
                raise Violated(f"{slot} goes by {view}, which makes no sense")
            if view.slots and not any(view.share_of.values()):
                raise Violated(f"{slot} goes by {view}, under which nobody owns anything")
            self._before[slot] = view
            self.looked_at["views"] += 1

    def settle(self) -> None:
        """Has everybody come, and hear each other: then they agree on a view in which all are, and go on agreeing."""
        self._heal()
        for which in range(len(SLOTS)):
            self._start(which)
        for _ in range(AGREED_BEATS // 4):
            self._beats(3)
        for which in range(len(SLOTS)):  # who was leaving has gone
            self._start(which)
        for _ in range(AGREED_BEATS // 4):
            self._beats(3)
        views = {broker.view for broker in self.brokers.values()}
        view = next(iter(views))
        if len(views) > 1 or view.slots != SLOTS or not view.is_there:
            raise Violated(f"all hear each other, and go by {views}")
        self._beats(3)
        if (later := {broker.view for broker in self.brokers.values()}) != views:
            raise Violated(f"all have agreed on {views}, and then {later} was issued")
