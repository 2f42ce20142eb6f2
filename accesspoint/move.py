"""Move: from an aggregator that leaves to another one, without losing an event. Pure.

Make before break. The old aggregator goes on delivering while the new one is told everything. What comes by both is put in order by
*fences*: an aggregator answers one when everything that brokers had sent it by then has been passed on.

1. Until the new one has answered a fence, what it delivers is passed over: the old one delivers it, too, and may have done so long
   ago. What it delivers after that is kept.
2. When everything is installed by way of the new one, the old one is asked. Whatever reached it before comes in front of its answer;
   whatever did not was sent to the new one, too. So the old one can go at its answer.
3. From then on the new one delivers, beginning with what was kept, but not what the old one has delivered: numbers rise by one per
   topic, site and epoch, and those that the old one delivers are noted from the moment the new one is linked. The new one may be
   behind the old one, so it is asked once more: after its answer nothing can come from it that is noted.

A topic that is wanted only since step 1 is *unserved*: it is announced to the new one alone. What that delivers of it is kept from the
beginning, since the old one does not deliver it. Who recovers it waits, and the new one is asked when it delivers (`recoveries.py`): behind
an answer by way of the old one nothing live would come. Where the move fails, or is cut, what was kept was given to nobody, and is asked
for behind the stamps of before the move: later ones of the old one do not tell of it.

Where the old one is lost, or too much is kept, the new one delivers at once, and is asked for what was still on its way, as in a failover.

A topic of which the access point has missed something, and was not answered yet, is asked of the new one. What the old one has delivered of
it was given to nobody, so it comes with the answer or behind it.
"""

from collections.abc import Collection, Sequence
from enum import Enum
from typing import Final

from infra.kernel.events import place

# What noting a topic costs, or keeping an event besides its body: keys, numbers, entries of lists and maps.
ENTRY_BYTES: Final = 200


class Step(Enum):
    """The steps of a move."""

    CALLING = "the new one is called"
    ANNOUNCING = "it is linked, told everything, and asked for its fence"
    INSTALLING = "what it delivers is kept, until everything is installed by way of it"
    FENCING = "the old one is asked for its fence"
    ALONE = "the old one was lost before the new one had answered its fence"
    CATCHING_UP = "the new one delivers, and is asked for another fence"
    OVER = "the new one delivers nothing any more that the old one has delivered"
    FAILED = "both are lost"


class News(Enum):
    """The events in the life of a move."""

    LINKED = "the new one is linked"
    NEW_FENCED = "the new one has answered its fence"
    INSTALLED = "everything is installed by way of the new one"
    OLD_FENCED = "the old one has answered its fence"
    FULL = "too much is kept or noted"
    NEW_LOST = "the link to the new one is lost"
    OLD_LOST = "the link to the old one is lost"


# Executed by `Move.on`; what is not here changes nothing.
NEXT: Final[dict[tuple[Step, News], Step]] = {
    (Step.CALLING, News.LINKED): Step.ANNOUNCING,
    (Step.CALLING, News.OLD_LOST): Step.FAILED,
    (Step.ANNOUNCING, News.NEW_FENCED): Step.INSTALLING,
    (Step.ANNOUNCING, News.FULL): Step.ALONE,
    (Step.ANNOUNCING, News.NEW_LOST): Step.CALLING,
    (Step.ANNOUNCING, News.OLD_LOST): Step.ALONE,
    (Step.INSTALLING, News.INSTALLED): Step.FENCING,
    (Step.INSTALLING, News.FULL): Step.CATCHING_UP,
    (Step.INSTALLING, News.NEW_LOST): Step.CALLING,
    (Step.INSTALLING, News.OLD_LOST): Step.CATCHING_UP,
    (Step.FENCING, News.OLD_FENCED): Step.CATCHING_UP,
    (Step.FENCING, News.FULL): Step.CATCHING_UP,
    (Step.FENCING, News.NEW_LOST): Step.CALLING,
    (Step.FENCING, News.OLD_LOST): Step.CATCHING_UP,
    (Step.ALONE, News.NEW_FENCED): Step.CATCHING_UP,
    (Step.ALONE, News.NEW_LOST): Step.FAILED,
    (Step.CATCHING_UP, News.NEW_FENCED): Step.OVER,
    (Step.CATCHING_UP, News.NEW_LOST): Step.FAILED,
}

Deliveries = tuple[list[int], list[bytes]]
"""Handles, and the bodies of their events."""


class Move:
    """One move. At most `max_bytes` are kept, notes included."""

    def __init__(self, max_bytes: int) -> None:
        self.step = Step.CALLING
        self._max_bytes = max_bytes
        self._forget()

    def on(self, news: News) -> Step:
        """Takes `news` in; returns the step that holds now."""
        self.step = NEXT.get((self.step, news), self.step)
        if self.step is Step.CALLING:
            self._forget()
        return self.step

    def _forget(self) -> None:
        self._bytes = 0
        # (handle, origin) -> the number of the last event that the old one has delivered. One origin is one site in one epoch.
        self._last: dict[tuple[int, bytes], int] = {}
        self._kept: Deliveries = ([], [])

    @property
    def is_full(self) -> bool:
        """Tells whether more is kept and noted than may be."""
        return self._bytes > self._max_bytes

    def by_old(self, handles: Sequence[int], bodies: Sequence[bytes]) -> None:
        """Notes what the old one delivers."""
        if self.step is Step.CALLING:  # the new one is not linked, so nothing can come by both
            return
        last, known = self._last, len(self._last)
        for handle, body in zip(handles, bodies, strict=True):
            origin, seq = _place(body)
            # Handles mean the same with both: `keeps_numbers` sees to it that none is given to another topic meanwhile.
            last[handle, origin] = seq
        self._bytes += (len(last) - known) * ENTRY_BYTES

    def by_new(self, handles: Sequence[int], bodies: Sequence[bytes], unserved: Collection[int] = ()) -> Deliveries:
        """Returns what is to be delivered now of what the new one sends; the rest is kept, or passed over.

        `unserved`: the handles of topics of which the old one knows nothing.
        """
        if self.step is Step.CATCHING_UP:
            return self._fresh(handles, bodies)
        if self.step in (Step.INSTALLING, Step.FENCING):
            self._keep(handles, bodies)
        elif self.step is Step.ANNOUNCING and unserved:
            alone = [at for at, handle in enumerate(handles) if handle in unserved]
            self._keep([handles[at] for at in alone], [bodies[at] for at in alone])
        return [], []

    def _keep(self, handles: Sequence[int], bodies: Sequence[bytes]) -> None:
        self._kept[0].extend(handles)
        self._kept[1].extend(bodies)
        self._bytes += sum(map(len, bodies)) + len(bodies) * ENTRY_BYTES

    def take_kept(self) -> Deliveries:
        """Returns what is to be delivered of what was kept, in the order in which it came; nothing is kept any more."""
        kept, self._kept = self._kept, ([], [])
        return self._fresh(*kept)

    def forgo(self, handles: Collection[int]) -> None:
        """Forgets what the old one has delivered of these: nobody was given it, and the new one is asked for it."""
        self._last = {key: seq for key, seq in self._last.items() if key[0] not in handles}

    def _fresh(self, handles: Sequence[int], bodies: Sequence[bytes]) -> Deliveries:
        """Returns these without what the old one has delivered."""
        fresh: Deliveries = ([], [])
        for handle, body in zip(handles, bodies, strict=True):
            origin, seq = _place(body)
            if seq > self._last.get((handle, origin), 0):
                fresh[0].append(handle)
                fresh[1].append(body)
        return fresh


def _place(body: bytes) -> tuple[bytes, int]:
    """Returns what `place` does. What no broker can have written has no number, and is not delivered by the new one."""
    try:
        return place(body)
    except ValueError:
        return b"", 0
