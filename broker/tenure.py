"""Tenure: which broker has owned a topic since when, and by which stamps somebody has missed nothing of it. Pure.

Each change of the ring is noted with the stamp of the own window at which it was over. Until then, former owners may have events on their
way. A former owner that has handed over what it had recorded (`inheritance`) has told its own changes with that. So a stamp that it gave
before is understood: `descend` goes from owner to owner, back to one that had the topic when the stamp was given.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from msgspec.structs import replace

from infra.kernel.frames import PastTenure, TenureChange, View
from infra.kernel.loss_reasons import LossReason
from infra.kernel.membership import MOST_VIEW_NUMBER
from infra.kernel.ring import CELL_SHIFT, CELLS, Ring, hash64
from infra.kernel.topics import Kind, Topic, kind_of

from .window_origins import SeenStamps, WindowPlace

MOST_CHANGES: Final = 128
# So many other brokers, each since it was started, are known at most.
MOST_PASTS: Final = 64
MOST_RINGS: Final = 512
MOST_STAMP: Final = 1 << 62
# The first stamp of a window.
FIRST_STAMP: Final = 1
# The answer is not known yet: whoever asks must ask again.
MOVED: Final = "moved"
# The cells of nothing.
NOWHERE: Final = bytes(CELLS)


class Descent(NamedTuple):
    """The owners of a topic since somebody was given stamps.

    - `begins`: for each of them, from which stamp on its window must be whole: epoch -> stamp.
    - `reason`: why nobody can say what was missed; empty where somebody can.
    """

    begins: dict[int, int]
    reason: str = ""

    def seen(self, stamps: dict[int, int]) -> SeenStamps:
        """Returns what somebody with these `stamps` has."""
        return SeenStamps(stamps, frozenset(self.begins))

    def surely_seen(self, stamps: dict[int, int]) -> Callable[[WindowPlace], bool]:
        """Returns what tells whether somebody with these `stamps` has what was recorded at a place, also where not all owners are known."""
        return (lambda place: place[1] <= stamps.get(place[0], 0)) if self.reason else self.seen(stamps).has


class Tenure:
    """The changes of the ring that the broker `slot` has seen, whose window counts in `epoch`; and those that others have told.

    - `is_awaited(slot)`: tells whether that broker may still hand over what it has recorded.
    - `copied`: the kinds of topics of which heirs have what a broker had that is gone without a word.
    """

    def __init__(
        self,
        slot: str,
        epoch: int,
        is_awaited: Callable[[str], bool] = lambda slot: False,
        copied: frozenset[Kind] = frozenset(),
    ) -> None:
        self._slot, self._epoch, self._is_awaited, self._copied = slot, epoch, is_awaited, copied
        self._changes: deque[TenureChange] = deque()
        # Of what is older than this stamp, nobody knows who had it.
        self._floor = 0
        self._pasts: dict[int, tuple[PastTenure, int]] = {}
        # The views by which others served topics that were this broker's, with the stamp at which it learned of that.
        self._splits: deque[tuple[int, View]] = deque(maxlen=MOST_CHANGES)
        self._rings: dict[View, Ring] = {}
        # 1 for each cell of the ring in which any of the changes may have moved a key. Most keys have not moved.
        self._moved = NOWHERE
        # Epoch of a broker that is gone -> the streams in which it gave what it had: each of its heirs tells of its own.
        self._streams: dict[int, set[int]] = {}

    # What happens.

    def begin(self, before: View, after: View) -> None:
        """Notes a change of the ring, from one view to another."""
        self._changes.append(TenureChange(before, after))
        # While they are laid out anyway: later it would hold up whoever asks.
        cells = self._ring(before).moved_cells(self._ring(after))
        self._moved = (int.from_bytes(self._moved) | int.from_bytes(cells)).to_bytes(CELLS)

    def end(self, stamp: int, oldest: int) -> None:
        """Notes that all changes are over at `stamp`. Nobody asks for what came before the stamp `oldest`."""
        if self._changes and not self._changes[-1].over:
            self._changes = deque(change if change.over else replace(change, over=stamp) for change in self._changes)
        while len(self._changes) > MOST_CHANGES:
            self._floor = self._changes.popleft().over
        while self._changes and self._changes[0].over < oldest:
            self._changes.popleft()
        while self._splits and self._splits[0][0] < oldest:
            self._splits.popleft()
        self._pasts = {epoch: told for epoch, told in self._pasts.items() if told[1] >= oldest}
        self._keep_streams()
        if not self._changes:
            self._moved = NOWHERE
        if not self._changes or len(self._rings) > MOST_RINGS:
            self._rings.clear()

    @property
    def is_over(self) -> bool:
        """Whether every change is over: nothing of former owners is on its way."""
        return not self._changes or self._changes[-1].over > 0

    @property
    def came_at(self) -> int | None:
        """The stamp at which the last change was over, 0 where none is known; None while one is not over."""
        return 0 if not self._changes else self._changes[-1].over or None

    @property
    def is_taking_over(self) -> bool:
        """Whether a change is not over by which topics may have come from other brokers."""
        return not self.is_over and any(not change.over and change.before.slots for change in self._changes)

    def split(self, view: View, stamp: int) -> None:
        """Notes that until `stamp` another part of the site went by `view`."""
        self._splits.append((stamp, view))

    def handed(self, slot: str, view: View, tenures: Iterable[PastTenure], stamp: int) -> None:
        """Notes at `stamp` that `slot` has handed over everything that is another's since `view`.

        `tenures`: its own first, then those that it knows.
        """
        epoch = None
        for past in tenures:
            if epoch is None:
                epoch = past.epoch
            if past.epoch != self._epoch:
                known = self._pasts.pop(past.epoch, None)
                self._pasts[past.epoch] = (past if known is None else _merged(known[0], past), stamp)
                if past.stream:
                    self._streams.setdefault(past.epoch, set()).add(past.stream)
        while len(self._pasts) > MOST_PASTS:
            del self._pasts[next(iter(self._pasts))]
        self._keep_streams()
        if epoch is not None:
            self._changes = deque(
                replace(change, formers=change.formers | {slot: epoch})
                if not change.over and slot in change.before.slots and change.after.order <= view.order
                else change
                for change in self._changes
            )

    def _keep_streams(self) -> None:
        """Forgets the streams of those of whom nothing is known any more."""
        if self._streams:
            self._streams = {epoch: streams for epoch, streams in self._streams.items() if epoch in self._pasts}

    @property
    def has_heirs(self) -> bool:
        """Whether some broker is gone without a word, and an heir has told what it had."""
        return bool(self._streams)

    def told(self, mine: PastTenure) -> list[PastTenure]:
        """Returns what the next owner must know: `mine` with the changes and splits that were noted here, and what others have told."""
        changes = list(self._changes)
        whole = replace(mine, changes=changes, splits=list(self._splits), evicted=max(mine.evicted, self._floor))
        return [
            whole,
            *(replace(past, stream=stream) for past, _ in self._pasts.values() for stream in sorted(self._streams.get(past.epoch, (0,)))),
        ]

    # What it means.

    @property
    def pasts(self) -> Sequence[PastTenure]:
        """What others have told."""
        return [past for past, _ in self._pasts.values()]

    def horizon(self, epoch: int, kind: str) -> tuple[int, int]:
        """Returns up to which stamps of the other broker that counts in `epoch` events on topics of `kind` had gone when it handed over.

        First those that went for want of memory, then those that were too old.
        """
        past = self._pasts[epoch][0]
        return past.evicted, past.too_old.get(kind, 0)

    def has_moved(self, topic: Topic) -> bool:
        """Returns whether `topic`, which is the broker's, came from another one lately."""
        came = self._came(self._changes, hash64(topic), self._slot, MOST_VIEW_NUMBER) if self._changes else None
        return came is not None and bool(came.before.slots)

    def may_be_awaited(self, topic: Topic, horizon: Callable[[Kind], int]) -> bool:
        """Returns whether somebody may come back for `topic`, which is the broker's, of whom it has not heard.

        They were served by an owner that is gone without a word: its heir has its events, and does not know who followed. `horizon`
        returns the stamp before which nobody is served by now, of a kind of topics.
        """
        kind = kind_of(topic)
        if not self.has_heirs or kind not in self._copied:
            return False
        came = self._came(self._changes, hash64(topic), self._slot, MOST_VIEW_NUMBER)
        return came is not None and (not came.over or came.over >= horizon(kind))

    def descend(self, topic: Topic, stamps: dict[int, int]) -> Descent:
        """Returns who has owned `topic`, which is the broker's, since somebody was given `stamps`."""
        begins: dict[int, int] = {}
        epoch, slot, changes, floor, splits = self._epoch, self._slot, self._changes, self._floor, self._splits
        hashed, limit = hash64(topic) if changes or splits else 0, MOST_VIEW_NUMBER
        while True:
            came = self._came(changes, hashed, slot, limit)
            over, stamp = came.over if came is not None else floor, stamps.get(epoch)
            if any(until >= (stamp or 0) and self._owner(view, hashed) != slot for until, view in splits):
                return Descent(begins, LossReason.SPLIT)
            if stamp is not None and stamp >= over and (came is None or over):
                begins[epoch] = min(stamp, begins.get(epoch, stamp))
                return Descent(begins)
            if came is None:
                return Descent(begins, LossReason.OWNER_LOST)
            is_mine = epoch == self._epoch and limit == MOST_VIEW_NUMBER
            if over or is_mine:  # else it went on before anything was published here
                begins[epoch] = min(max(stamp or 0, over), begins.get(epoch, MOST_STAMP))
            former = self._owner(came.before, hashed) or ""
            if is_mine and not over and (former in came.formers or self._is_awaited(former)):
                return Descent(begins, MOVED)
            epoch = came.formers.get(former, 0)
            if epoch == self._epoch:
                past_changes, floor, splits = self._changes, self._floor, self._splits
            elif (told := self._pasts.get(epoch)) is not None:
                past_changes, floor, splits = deque(told[0].changes), 0, deque(told[0].splits)
            else:
                return Descent(begins, LossReason.OWNER_LOST)
            left = self._left(past_changes, hashed, former, limit)
            if left is None or self._owner(left.after, hashed) != slot:
                return Descent(begins, LossReason.OWNER_LOST)
            if epoch != self._epoch and (streams := self._streams.get(epoch)):
                if not self._is_inherited(topic, hashed, former, left) or not streams <= self._pasts.keys():
                    return Descent(begins, LossReason.OWNER_LOST)
                # What came last is known by its place in one of them, too. Which of them is the topic's nobody knows any more.
                begins.update((stream, stamps.get(stream, 0)) for stream in streams)
            slot, changes, limit = former, past_changes, left.after.number - 1

    def _came(self, changes: Sequence[TenureChange], hashed: int, slot: str, limit: int) -> TenureChange | None:
        """Returns the last of `changes`, up to the view number `limit`, by which a key came to `slot`."""
        if changes is self._changes and not self._moved[hashed >> CELL_SHIFT]:
            return None
        for change in reversed(changes):
            if change.after.number <= limit and self._owner(change.after, hashed) == slot != self._owner(change.before, hashed):
                return change
        return None

    def _left(self, changes: Sequence[TenureChange], hashed: int, slot: str, limit: int) -> TenureChange | None:
        """Returns the last of `changes`, up to the view number `limit`, by which a key went from `slot` to another one."""
        for change in reversed(changes):
            if change.after.number <= limit and self._owner(change.before, hashed) == slot != self._owner(change.after, hashed):
                return change
        return None

    def _is_inherited(self, topic: Topic, hashed: int, former: str, left: TenureChange) -> bool:
        """Tells whether a topic that has `left` a broker, whose copies were taken over when it was gone, was handed over or is in a copy.

        An heir has what it was the heir of. Others own the rest then, and know of the same former owner.
        """
        is_gone = former not in left.after.slots
        return not is_gone or (
            kind_of(topic) in self._copied and self._ring(left.before).heir_at(hashed) == self._owner(left.after, hashed)
        )

    def _owner(self, view: View, hashed: int) -> str | None:
        return self._ring(view).owner_at(hashed)

    def _ring(self, view: View) -> Ring:
        ring = self._rings.get(view)
        if ring is None:
            ring = self._rings[view] = view.ring
        return ring


def _merged(known: PastTenure, past: PastTenure) -> PastTenure:
    """Returns one tenure of what was told of it at two times, or by two brokers. Changes that only one of them knew are there."""
    changes = {change.after.order: change for change in _ended(known.changes, past.changes)}
    for change in _ended(past.changes, known.changes):
        mine = changes.get(change.after.order)
        changes[change.after.order] = (
            change if mine is None else replace(change, over=change.over or mine.over, formers=mine.formers | change.formers)
        )
    return replace(
        past,
        end=max(known.end, past.end),
        evicted=max(known.evicted, past.evicted),
        too_old={kind: max(known.too_old.get(kind, 0), past.too_old.get(kind, 0)) for kind in {**known.too_old, **past.too_old}},
        changes=[changes[order] for order in sorted(changes)][-MOST_CHANGES:],
        splits=sorted({*known.splits, *past.splits}, key=lambda each: (each[0], each[1].order))[-MOST_CHANGES:],
    )


def _ended(told: Sequence[TenureChange], others: Sequence[TenureChange]) -> Iterator[TenureChange]:
    """Yields what was `told` of the changes that a broker saw, where `others` were told another time, by what is known of them by now.

    It tells all that are not over. So one that it has forgotten is over, and was before all that it still keeps. Else whoever had
    everything of that broker would be taken for one who may lack something of its former owners.
    """
    for change in told:
        is_forgotten = bool(others) and change.after.order < others[0].after.order
        yield replace(change, over=change.over or FIRST_STAMP) if is_forgotten else change
