"""Membership: which of a site's brokers are alive, and which view says so (design 6).

1. A slot is alive while something was heard from it within `dead_s`, or within `suspect_s` once its link is lost. So failure is
   suspected by a lost link and decided by silence.
2. The lowest slot of the view that is alive issues a new one, one number higher, whenever the set of live slots is not the view's. Where
   none of them is alive, the lowest of all does. So who comes is taken in by the others, and issues views from then on if it is the lowest:
   everybody learns with one view who issues the next. If it came by a view of its own, two might have one number. Where the lowest of the
   view is of an older version, it does come by its own: that one leaves it to who comes.
3. A higher view is taken over, whoever passes it on, if a broker of this site can have issued it: it has configured slots only, and its
   number is not far ahead of ours. So a lie costs one view, and not all that follow.
4. Nothing is issued in the first `grace_s` of a process unless every slot was heard. So a restart does not claim the whole ring for a
   moment. Nor does it change a view, for `suspect_s` longer, while somebody has not called it who is there: topics could not go to it, and
   nobody knows yet what they know of shares. Their links to its former process may be half open. For those whom it has never heard it
   waits as long, before it leaves one out of a view, and before it issues the first view that it knows: who takes its former process for
   alive refuses it, and is called again after a pause.
5. The numbers of a process are above `base`, which is higher in each life of a site (such as the time of its start in ms). Other sites
   remember the last view of a site that stopped as a whole.
6. A slot that comes, or comes back, to a view that exists is in it after `grace_s`. By then all who must link to it have found it. One
   that was left out waits as well, also where it is the lowest: the others must hear first that it has served topics while they did. So
   does one whose process was replaced: who has not met the new one yet would take it for the former.
   And it must have said a word of itself, on the link on which it calls: one that is only heard may be about to end, without our knowing.
7. A slot that was left out by a view that it had to take over leaves nobody out in turn for `CALM` times `dead_s`. Two that cannot
   hear each other, but are both heard by others, would outbid each other for ever.
8. Who comes to a view that exists, and who leaves it, does so in steps (`steps`). The next step is taken when every broker has said that
   all is done which followed from the view that holds. The view says where it goes, so whoever is the lowest goes on with it (DPS-15).
   Where one of them, or of those linked to them, knows nothing of shares, there are no steps.
9. Brokers may say whom they do not hear. Of two that both say so of each other, the lower one is in the view, and the other one is not,
   until they hear each other. Where one of them comes, that one waits: the other one has topics. Who is heard by another one that is alive
   issues views, also where we do not hear them. So an owner and an heir that do not reach each other do not wait for ever, though everybody
   else reaches both (DPS-18).
10. A slot whose process was replaced is out of the next view. Whoever issues views may not know that, if it is a new process, too. So where
    it has not done that for `suspect_s`, whoever knows it does. The owner may wait for that, and its heir (DPS-18). The new process of that
    slot issues no view meanwhile but where somebody is gone, or leaves: its numbers are higher, so its view would hold, and who had been
    served without it was left out in turn.
    Who is out of the view has no copies of what the former one had. Where it does not take over within `grace_s`, or before another view
    keeps the slot, it leaves the slot alone: `suspect_s` later the new process counts as the one in the view, and issues views.
    A slot that begins has nothing yet, so nobody waits for it. Only whoever issues views puts it out, and nobody does once it has been
    given a share: that is the new process's own.
    Where nobody has copies, whoever issues views leaves such a slot in its place, unless it has heard it say goodbye. Whoever else has
    leaves it alone, too, after `grace_s`: it may issue views much later, when the new process has served topics.
11. What an operator wants of shares is brought to whoever issues views (`issuer`), and checked against the view that holds there. Whoever
    else issued it might do so beside a step: of two views of one number only one holds, and what went with topics under the other is lost.
12. A goal of 0 is meant for a process: it leaves, or an operator wants it to have nothing. No view tells which, nor of which process.
    Where all who met that one are gone as well, nobody knows that it was replaced. So who finds a first view in which its slot is to have
    nothing says so of itself, and with the next step it is to have what anybody has who comes. A goal that comes later is kept.

Time is an argument (seconds, monotonic). There is no clock here.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Final, NamedTuple

import msgspec

from .frames import View
from .steps import Known, RingPlace, at_once, begins, next_places, was_left_out

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


class _Word(NamedTuple):
    """The word of a broker: all is done that followed from the view `settled`, and everybody linked to it knows of shares.

    `unheard`: those that it does not hear; None where it does not say.
    `anew`: see `Membership.anew`.
    """

    settled: int
    knows: bool
    unheard: frozenset[str] | None = None
    anew: int = 0


class Membership:
    """The brokers of a site as one of them sees them. `view`: the newest view that it knows."""

    def __init__(
        self,
        me: str,
        slots: Iterable[str],
        now: float,
        timing: Timing,
        base: int = 0,
        *,
        steps: int = 1,
        leave_s: float = float("inf"),
        topics: Callable[[], float] = lambda: 0.0,
    ) -> None:
        """Begins at `now` as the broker `me` of the configured `slots`.

        - `base`: see rule 5.
        - `steps`: in how many steps a slot comes or leaves (see `next_places`).
        - `leave_s`: so long that takes at most for one that leaves; then all that it has left goes at once.
        - `topics()`: returns about how many topics the site has; 0 where that is not known.
        """
        self.view = View(0, ())
        self._steps, self._leave_s, self._topics = steps, leave_s, topics
        self._words: dict[str, _Word] = {}
        self._me = me
        self._heard: dict[str, float | None] = dict.fromkeys(sorted(slots))
        self._suspected: set[str] = set()
        self._leaving: dict[str, float] = {}
        # Slots in the view whose process there is over: it was started again before it was out. The new process does not know that. So
        # others do not leave it to that slot to issue the next view. Since when they know that.
        self._over: dict[str, float] = {}
        # Those of them of which nobody had known that they left.
        self._replaced: set[str] = set()
        self._timing = timing
        self._started = now
        self._since: dict[str, float] = {}
        # Those of a version that leaves it to the lowest of all to issue views.
        self._older: set[str] = set()
        # Those that are out of the view since the last tick.
        self._left_out: set[str] = set()
        self._is_overruled = False
        # Whether it was a former process of this slot that was to have nothing in the end.
        self._is_anew = False
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

    def leave(self, slot: str, now: float) -> None:
        """Notes that `slot` says goodbye. It goes in steps; where there are none, it is not in the next view, which waits for nothing."""
        self._leaving.setdefault(slot, now)

    def is_leaving(self, slot: str) -> bool:
        """Tells whether `slot` has said goodbye."""
        return slot in self._leaving

    def rejoin(self, slot: str, now: float, *, is_in: bool = False) -> None:
        """Notes that a new process of `slot` said hello. Where the one before was to have nothing in the end, it begins anew.

        `is_in`: it has done that already, so it is the one in the view.
        """
        was_leaving = self._leaving.pop(slot, None) is not None
        if is_in:
            return
        if slot not in self.view.slots:
            # What its former process has said, and for how long that was there, says nothing of who must find this one.
            self._heard[slot] = None
            self._words.pop(slot, None)
        elif was_leaving:
            self._heard[slot] = None
        if slot in self.view.slots and (was_leaving or self.view.goal_of[slot] == 0):
            self._over[slot] = now

    def replaced(self, slot: str, now: float) -> None:
        """Notes that `slot` is another process than the one that came into the view: it is out of the next one, and then it may come."""
        if slot in self.view.slots:
            self._over[slot] = now
            self._replaced.add(slot)

    def forget_replaced(self, now: float) -> list[str]:
        """Forgets whose process was replaced so long ago that it is not to be put out any more (rule 10). Returns their slots."""
        late = [slot for slot, since in self._over.items() if now - since > self._timing.grace_s]
        return self._forget([slot for slot in late if slot not in self._replaced or self._me not in self.view.slots])

    def _forget(self, replaced: list[str]) -> list[str]:
        """Forgets that processes of these slots were replaced, unless they are to have nothing in the end. Returns their slots."""
        forgotten = [slot for slot in replaced if self.view.goal_of[slot]]
        for slot in forgotten:
            del self._over[slot]
        self._replaced.difference_update(forgotten)
        return forgotten

    def met(self, slot: str, *, is_older: bool) -> None:
        """Notes whether `slot` is of a version that leaves it to the lowest of all to issue views, also where that one comes (rule 2)."""
        (self._older.add if is_older else self._older.discard)(slot)

    def told(self, slot: str, settled: int, *, knows: bool, unheard: Iterable[str] | None = None, anew: int = 0) -> None:
        """Notes what `slot` says: all is done that followed from the view `settled`; and whether all who are linked to it know shares.

        - `unheard`: those that it does not hear; None where it does not say.
        - `anew`: its `anew`.
        """
        self._words[slot] = _Word(settled, knows, None if unheard is None else frozenset(self._heard).intersection(unheard), anew)

    @property
    def anew(self) -> int:
        """The number of the view that holds, if this slot has been to have nothing since before this process began; else 0 (rule 12)."""
        return self.view.number if self._is_anew else 0

    def unheard(self, now: float) -> list[str]:
        """Returns the slots from which nothing was heard for so long, at `now`, that they may be dead."""
        return [slot for slot in self._heard if not self._is_alive(slot, now)]

    def _is_heard(self, slot: str, now: float) -> bool:
        """Tells whether a broker that we hear says that it hears `slot`."""
        others = (other for other, word in self._words.items() if word.unheard is not None and slot not in word.unheard)
        return any(other not in (slot, self._me) and other in self._heard and self._is_alive(other, now) for other in others)

    def _are_apart(self, one: str, other: str) -> bool:
        """Tells whether two say of each other that they do not hear them."""
        mine, theirs = (self._words[slot].unheard if slot in self._words else None for slot in (one, other))
        return mine is not None and theirs is not None and other in mine and one in theirs

    def alive(self, now: float) -> tuple[str, ...]:
        """Returns the slots that are alive at `now`, sorted."""
        return tuple(slot for slot in self._heard if slot not in self._leaving and self._is_alive(slot, now))

    def issuer(self, now: float) -> str | None:
        """Returns who issues views: the lowest of the view that is alive, else the lowest of all (rule 2)."""
        found = self._lowest(self.view.slots, now)
        return self._lowest(self._heard, now) if found is None or found in self._older else found

    def _lowest(self, slots: Iterable[str], now: float) -> str | None:
        """Returns the lowest of `slots` that is alive, and may be in a view. It is asked with every heartbeat."""
        for slot in slots:
            is_out = slot in self._leaving or slot in self._over or not self._may_join(slot, now)
            if not is_out and (self._is_alive(slot, now) or self._is_heard(slot, now)):
                return slot
        return None

    def _must_put_out(self, now: float) -> bool:
        """Tells whether somebody is still in the view whose process was replaced, and whoever issues views does not know that (rule 10)."""
        is_member = self._me in self.view.slots and self._me not in self._replaced
        late = (slot for slot in self._replaced if now - self._over[slot] > self._timing.suspect_s)
        return is_member and any(not begins(slot, self.view) for slot in late)

    def is_suspected(self, slot: str, now: float) -> bool:
        """Tells whether `slot` may be dead at `now`: a link to it was lost, or nothing was heard from it for `suspect_s`."""
        heard = self._heard.get(slot)
        return slot != self._me and (slot in self._suspected or heard is None or now - heard > self._timing.suspect_s)

    def _may_join(self, slot: str, now: float) -> bool:
        if slot in self.view.slots or not self.view.slots:
            return True
        has_said = slot == self._me or slot in self._words
        return has_said and now - self._since.get(slot, self._started) >= self._timing.grace_s

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
        self._is_anew |= not self.view.number and view.goal_of.get(self._me) == 0
        was_out = self._me not in self.view.slots
        self._go_by(view)
        if was_out:
            self._forget([*self._over])
        return True

    def _go_by(self, view: View) -> None:
        """Goes by `view`. Forgets which processes are over whose slots were left out: who is out comes back as a new process."""
        before, self.view = self.view, view
        out = {slot for slot in before.slots if was_left_out(slot, before, view)}
        self._left_out |= out - {*view.slots}
        # A new process that is in the view in place of one that was to have nothing, and is to have something, need not be out first.
        begun = {slot for slot, goal in before.goal_of.items() if not goal and view.goal_of.get(slot)}
        # Nor need one that took the place of a process which had nothing yet, and has got its first share itself.
        grown = {slot for slot in self._replaced if begins(slot, before) and view.share_of.get(slot)}
        done = out | grown | (begun - self._replaced)
        self._over = {slot: since for slot, since in self._over.items() if slot not in done}
        self._replaced &= self._over.keys()
        self._is_anew = self._is_anew and view.goal_of.get(self._me) == 0

    def _is_possible(self, view: View) -> bool:
        is_near = view.number <= min(max(self._base, self.view.number) + AHEAD, MOST_VIEW_NUMBER)
        return is_near and view.is_sound and self._heard.keys() >= {*view.slots}

    def tick(self, now: float, *, waits: bool = False) -> bool:
        """Issues a new view if that is this broker's duty and the set of live slots has changed. Returns whether it did.

        `waits`: others may be about to put this slot out, for the sake of its former process. So it only issues what cannot wait (rule 10).
        """
        self._begin_to_wait(now)
        if self._is_overruled:
            self._is_overruled, self._calm_until = False, now + CALM * self._timing.dead_s
        is_due = self.issuer(now) == self._me or self._must_put_out(now)
        if not is_due or not self._is_complete(now):
            return False
        goal = self.view.goal_of
        before = {slot: RingPlace(share, goal[slot]) for slot, share in self.view.share_of.items()}
        after = self._next(before, now)
        if after == before or (waits and not self._is_urgent(before, after)):
            return False
        # Slots that say goodbye may be left out at any time: nobody contradicts that (rule 7).
        missing = before.keys() - after.keys() - self._leaving.keys() - self._over.keys()
        if missing and (now < self._calm_until or self._may_yet_find_us(missing, now)):
            return False
        self._issue(after)
        self._begin_to_wait(now)
        return True

    def _is_urgent(self, before: Mapping[str, RingPlace], after: Mapping[str, RingPlace]) -> bool:
        """Tells whether somebody of the view is gone, or leaves: then everybody waits for the next one."""
        return not before.keys() <= after.keys() or not self._leaving.keys().isdisjoint(before)

    def _begin_to_wait(self, now: float) -> None:
        """Has those that were left out wait from `now` on (rule 6)."""
        self._since.update(dict.fromkeys(self._left_out, now))
        self._left_out.clear()

    def _may_yet_find_us(self, slots: Iterable[str], now: float) -> bool:
        """Tells whether one of `slots` that was never heard may be alive: it may have refused us for the sake of our former process."""
        return self._is_early(now) and not self._are_heard(slots)

    def _is_early(self, now: float) -> bool:
        return now - self._started < self._timing.grace_s + self._timing.suspect_s

    def _are_heard(self, slots: Iterable[str]) -> bool:
        """Tells whether something was heard from each of `slots` since this process began."""
        return all(self._heard[slot] is not None for slot in slots if slot != self._me)

    def aim(self, goal: Mapping[str, int]) -> None:
        """Issues a view in which slots are to have the shares of `goal` in the end. Steps lead there, whoever is the lowest by then.

        Only whoever is the `issuer` may be asked: another one may not have heard yet of the view that holds (rule 11).
        """
        shares = self.view.share_of
        self._issue({slot: RingPlace(share, goal.get(slot, self.view.goal_of[slot])) for slot, share in shares.items()})

    def can_step(self, now: float) -> bool:
        """Tells whether every broker that is alive has said that all who are linked to it know of shares."""
        return all(slot in self._words and self._words[slot].knows for slot in self.alive(now))

    def done(self) -> frozenset[str]:
        """Returns the slots that have said that all is done which followed from the view that holds."""
        return frozenset(slot for slot, word in self._words.items() if word.settled == self.view.number)

    def _issue(self, places: Mapping[str, RingPlace]) -> None:
        shares, goal = ({slot: place[part] for slot, place in places.items()} for part in (0, 1))
        self._go_by(View.of(max(self.view.number, self._base) + 1, shares, goal))

    def _next(self, before: Mapping[str, RingPlace], now: float) -> dict[str, RingPlace]:
        known = self._known_of_all(now)
        there = [slot for slot, each in known.items() if each in (Known.HERE, Known.LEAVING)]
        if before and self._is_early(now) and not self._words.keys() >= {*there} - {self._me}:
            return dict(before)
        words = [self._words.get(slot, _Word(0, knows=False)) for slot in there]
        if not all(word.knows for word in words):
            return at_once(known)
        settled = all(word.settled == self.view.number for slot, word in zip(there, words, strict=True) if slot in before)
        if settled:  # as for a step: whoever knows more of former processes has put them out of the view by then
            known |= {slot: Known.ANEW for slot in there if known[slot] is Known.HERE and self._is_to_begin(slot)}
        return next_places(before, known, self._steps, settled=settled, topics=self._topics() if settled else 0.0)

    def _is_to_begin(self, slot: str) -> bool:
        """Tells whether it was a former process of `slot` that is to have nothing under the view that holds (rule 12)."""
        word = self._words.get(slot)
        return word is not None and self.view.goal_of.get(slot) == 0 and word.anew == self.view.number

    def _known_of_all(self, now: float) -> dict[str, Known]:
        """Returns what is known of every slot. Of two that are apart, only one is there: who is in the view, or the lower one (rule 9)."""
        known: dict[str, Known] = {}
        for slot in sorted(self._heard, key=lambda slot: slot not in self.view.slots):
            is_apart = any(each is not Known.GONE and self._are_apart(other, slot) for other, each in known.items())
            known[slot] = Known.GONE if is_apart else self._known(slot, now)
        return known

    def _known(self, slot: str, now: float) -> Known:
        if slot in self._over or not self._is_alive(slot, now):
            return Known.GONE
        if (since := self._leaving.get(slot)) is not None:
            if slot not in self.view.slots:
                return Known.GONE  # it comes no more: what it says of itself, and whom it does not hear, concerns nobody
            return Known.LEAVING if now - since < self._leave_s else Known.OVERDUE
        return Known.HERE if self._may_join(slot, now) else Known.GONE

    def _is_complete(self, now: float) -> bool:
        """Tells whether nothing needs to be waited for (rule 4). Who knows no view does not know of whom others have one."""
        if self.view.slots:
            return not self._is_new(now) or self._are_heard(self._heard)
        return not self._may_yet_find_us(self._heard, now)

    def _is_new(self, now: float) -> bool:
        return now - self._started < self._timing.grace_s
