"""Copies: what this broker has, as the heir of others, of topics that they own (DPS-18). Pure.

An owner gives its heir what a former owner hands over (`inheritance`): first what it has of the topics, then each event before anybody gets
it. Here that waits, in a window of its own for each owner, and serves nobody. Then one of two things happens:

- The owner goes as planned. It hands its topics over itself, and the copy is forgotten.
- It is gone from the view without a word. What it has given is taken over as if it handed it over now (`moving`).

A copy counts for the view under which its owner has said that it is whole. What is not whole claims nothing.

An owner may go by a view of which its heir has not heard yet. What it gives then is kept, since it does not give it again. The heir says
that it has it when it goes by that view, too.
"""

from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import islice
from typing import Final, NamedTuple

from msgspec.structs import replace

from infra.kernel.frames import Copies, CopiesHeld, Frame, KeptEvents, Moved, Past, PastTenure, Sealed, TenureChange, View
from infra.kernel.recent import RecentIds
from infra.kernel.steps import was_left_out
from infra.kernel.topics import Kind, Topic

from .inheritance import AT_ONCE, KeptPart, horizons_at, topics_of
from .said_link import SaidLink
from .topic_numbers import MAX_INHERITED
from .window import EventWindow
from .window_bounds import Windows, copied
from .window_origins import SeenStamps

NO_LAST: Final = (0, 0)
Goes = Callable[[Topic], bool]


class Claim(NamedTuple):
    """The part of a copy that is this broker's now.

    - `epoch`, `stream`: by which stamps it is known who has got what of it.
    - `end`, `n`: up to where it has everything of them.
    - `kinds`: those of which it is everything that anybody has got.
    - `topics`: those of which there are events.
    """

    epoch: int
    stream: int
    end: int
    n: int
    kinds: frozenset[Kind]
    topics: list[Topic]

    def seen(self, stamps: Mapping[int, int]) -> SeenStamps | None:
        """Returns what somebody with these `stamps` has; None where that is not known."""
        if self.epoch not in stamps:
            return None
        return SeenStamps({self.stream: 0, **stamps}, frozenset({self.epoch, self.stream}))


class _Copy:
    """The copy of one owner's topics, in one stream. `past`: what it said when it was whole."""

    def __init__(self, stream: int, incarnation: int, bounds: Windows, max_bytes: int) -> None:
        self.stream, self.incarnation = stream, incarnation
        self.window = EventWindow(stream, bounds, max_bytes)
        self.lasts: dict[Topic, tuple[int, int]] = {}
        self.ids = RecentIds()
        self.followed: set[Topic] = set()
        self.past: Past | None = None
        self.n = 0
        self._rows: dict[Topic, int] = {}
        self._last_row = 0

    def take(self, frame: Copies) -> None:
        self.n = max(self.n, frame.n)
        for part in frame.parts:
            if frame.anew and not isinstance(part, Past):
                for topic in part.topics:
                    self.window.forget(self._row(Topic(topic)))
        for part in frame.parts:
            match part:
                case Moved(topics, lasts, ids):
                    self._learn([Topic(topic) for topic in topics], lasts, ids, anew=frame.anew)
                case KeptEvents():
                    self._keep(part)
                case Past():
                    self.past = part

    def _row(self, topic: Topic) -> int:
        if (row := self._rows.get(topic)) is None:
            # Never one that was given before: topics are forgotten in any order, and another one may still have it.
            row = self._rows[topic] = self._last_row = self._last_row + 1
        return row

    def _learn(self, topics: Collection[Topic], lasts: Collection[tuple[int, int]], ids: Collection[list[bytes]], *, anew: bool) -> None:
        for topic, last, known in zip(topics, lasts, ids, strict=True):
            if last != NO_LAST:
                self.lasts[topic] = last
            elif anew:  # its owner has no number of it: it was another one's meanwhile, and what that one gave nobody knows
                self.lasts.pop(topic, None)
            for event_id in known:
                self.ids.seen(b"%b %b" % (topic, event_id))
        while len(self.lasts) > MAX_INHERITED:
            del self.lasts[next(iter(self.lasts))]

    def _keep(self, kept: KeptEvents) -> None:
        for topic, followed, past in zip(map(Topic, kept.topics), kept.followed, topics_of(kept), strict=True):
            self.window.inherit(self._row(topic), topic, past)
            (self.followed.add if followed else self.followed.discard)(topic)

    def forget_before(self, view: View) -> None:
        """Forgets that it was whole under a view before `view`: another process may be in this one."""
        if self.past is not None and self.past.number < view.number:
            self.past = None

    def tick(self, now_s: float) -> None:
        """Drops what is too old, and forgets topics of which nothing is left."""
        self.window.tick(now_s)
        if len(self._rows) > 2 * self.window.topics + AT_ONCE:
            self._rows = {topic: row for topic, row in self._rows.items() if row in self.window.rows}
            self.followed &= self._rows.keys()

    @property
    def topics(self) -> list[Topic]:
        """The topics of which there are events."""
        return [topic for topic, row in self._rows.items() if row in self.window.rows]

    def kept(self, topics: Collection[Topic]) -> KeptEvents:
        """Returns what is here of `topics`."""
        part = KeptPart()
        for topic in topics:
            past = self.window.past(self._rows[topic])
            # Events of other sites may be missing among copies.
            part.add(topic, topic in self.followed, past.as_unheard() if past is not None else None)
        return part.frame()

    def tenures(self, past: Past, slot: str, before: View, view: View) -> list[PastTenure]:
        """Returns what must be known of former owners, the one first that has given this copy, and is not in `view` any more."""
        mine, *others = (horizons_at(self.window, each) for each in past.tenures)
        stream = PastTenure(self.stream, slot, self.n, 0, {}, [])
        out = TenureChange(before, view, max(1, mine.end))  # which it has not seen
        return [replace(mine, stream=self.stream, changes=[*mine.changes, out]), horizons_at(self.window, stream), *others]


class OwnerCopies:
    """The copies that the broker `me` has.

    - `windows`: the bounds of what is kept; `max_bytes`: of what is kept for each owner.
    - `is_alone`: there are no other sites. Where there are, events of theirs may be missing, so nothing is claimed.
    """

    def __init__(self, me: str, windows: Windows, max_bytes: int, *, is_alone: bool) -> None:
        self._me, self._windows, self._max_bytes, self._is_alone = me, windows, max_bytes, is_alone
        self._view = View(0, ())
        # The brokers that have been in a view here.
        self._met: set[str] = set()
        self._copies: dict[str, _Copy] = {}
        self._said: dict[str, tuple[int, int]] = {}
        # Slot -> what of its copy has been taken over when it was gone from the view for the last time.
        self.claims: dict[str, Claim] = {}

    @property
    def used_bytes(self) -> int:
        """How much memory all copies take, about."""
        return sum(copy.window.used_bytes for copy in self._copies.values())

    def take(self, link: SaidLink, frame: Copies) -> None:
        """Takes what the owner at the other end of `link` gives. One that is gone from the view, or is another process, gives nothing.

        One that has been in none yet is in one of which nobody has told us so far.
        """
        slot, copy = link.peer.node, self._copies.get(link.peer.node)
        is_early = slot not in self._view.slots
        if is_early and slot in self._met:
            return
        if copy is None or copy.stream != frame.stream:
            if not is_early and copy is not None and copy.past is not None and copy.incarnation != link.peer.incarnation:
                return  # what its former life has given is all that there is of that: it waits for the next view
            copy = self._copies[slot] = _Copy(frame.stream, link.peer.incarnation, self._windows, self._max_bytes)
        copy.take(frame)

    def say(self, link: SaidLink) -> None:
        """Says over `link` what is held now, if that is news. Owners wait for it, so it comes behind a batch, and not for each event.

        Nothing is said to an owner that is in no view here: it may be out, and not know that, and must let nothing out.
        """
        slot, copy = link.peer.node, self._copies.get(link.peer.node)
        if slot not in self._view.slots:
            return
        if copy is not None and copy.incarnation == link.peer.incarnation and self._said.get(slot) != (said := (copy.stream, copy.n)):
            self._said[slot] = said
            link.send(CopiesHeld(*said))

    def follow(self, view: View, is_leaving: Callable[[str], bool]) -> dict[str, Iterator[Frame | None]]:
        """Takes over `view`. Returns what is taken over now, as the owners that are gone would have handed it over, by their slots.

        `is_leaving(slot)`: that broker has said that it leaves, so it hands over itself.
        """
        before, self._view = self._view, view
        taken: dict[str, Iterator[Frame | None]] = {}
        ring = before.ring if self._copies else None
        for slot in before.slots:
            if not was_left_out(slot, before, view):
                if slot in self._copies and self._me not in view.ring.heirs(slot):
                    del self._copies[slot]
                continue
            self.claims.pop(slot, None)
            copy = self._copies.pop(slot, None)
            if ring is not None and copy is not None and copy.past is not None:
                is_planned = before.goal_of[slot] == 0 or is_leaving(slot)
                if copy.past.number == before.number and not is_planned:
                    taken[slot] = self._claim(slot, copy, copy.past, before, view)
        self._met.update(view.slots)
        for slot in view.slots:
            if slot not in before.slots and (early := self._copies.get(slot)) is not None:
                early.forget_before(view)
        return taken

    def _claim(self, slot: str, copy: _Copy, past: Past, before: View, view: View) -> Iterator[Frame | None]:
        was, now = before.ring, view.ring

        def goes(topic: Topic) -> bool:
            return was.owner(topic) == slot and was.heir(topic) == self._me and now.owner(topic) == self._me

        tenures = copy.tenures(past, slot, before, view)
        kinds = copied(self._windows) if self._is_alone else frozenset[Kind]()
        claim = Claim(tenures[0].epoch, copy.stream, tenures[0].end, copy.n, kinds, [])
        self.claims[slot] = claim
        return self._frames(copy, claim, tenures, goes, view)

    def _frames(self, copy: _Copy, claim: Claim, tenures: list[PastTenure], goes: Goes, view: View) -> Iterator[Frame | None]:
        """Yields what the owner would have said, and None after each turn's work."""
        lasts = iter(copy.lasts.items())
        while part := list(islice(lasts, AT_ONCE)):
            gone = [(topic, last) for topic, last in part if goes(topic)]
            yield Moved([topic for topic, _ in gone], [last for _, last in gone], [[] for _ in gone])
            yield None
        known = iter(copy.ids)
        while keys := list(islice(known, AT_ONCE)):
            pairs = [(Topic(topic), event_id) for topic, _, event_id in (key.rpartition(b" ") for key in keys)]
            yield Moved([topic for topic, _ in pairs], [NO_LAST for _ in pairs], [[event_id] for _, event_id in pairs])
            yield None
        frames, topics = 0, iter(copy.topics)
        while some := list(islice(topics, AT_ONCE)):
            mine = [topic for topic in some if goes(topic)]
            claim.topics.extend(mine)
            yield copy.kept(mine)
            frames += 1
            yield None
        if self._is_alone:
            yield Past(view.number, frames, tenures)
        yield Sealed(view)

    def tick(self, now_s: float) -> None:
        """Drops at `now_s` what is too old."""
        for copy in self._copies.values():
            copy.tick(now_s)
