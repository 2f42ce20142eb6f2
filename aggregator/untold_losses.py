"""Untold losses: what topics may lack, from the moment in which that is found until all access points have been told.

Each loss waits for somebody, or for nobody, and then it is told:

- A broker is gone that owned topics, or is another process (`OwnerLosses`). Its heirs are waited for: they may have everything
  (`OpenLosses`). What none of them has is told. What they have of a later process is nothing of it. Where another process is back that no
  heir was asked about, that one is waited for, too.
- Events were passed over, of a broker that is out of the view (`UntoldLosses.pass_over`). The same, of their topics.
- Topics moved while a broker was not linked (`MovedUnseen`). All brokers are waited for, to do what they had been told by then: what
  comes behind that is not missing. All these topics are told.
- A broker says that all its topics may lack something (`UntoldLosses.tell_of`). It is told, and nobody is waited for.

To tell takes some turns of the loop. A stamp says that nothing is missing before it, so none is said until all is told. What was dropped
on the way to one access point is told to that one alone (`PointLink.is_told`).
"""

from collections.abc import Callable, Collection, Iterator
from functools import partial

from broker.client import SiteClient
from infra.kernel.loss_reasons import LossReason
from infra.kernel.moving_topics import Told
from infra.kernel.ring import Ring, hash64
from infra.kernel.topics import Topic

from .losses import MovedUnseen, OwnerLosses
from .open_losses import OpenLoss, OpenLosses
from .tellings import Tellings

Tell = Callable[[str, Callable[[Topic], bool], Collection[Topic] | None], Iterator[float]]
"""Tells of a loss, some of it in each step: its reason, which topics it concerns, and which ones are looked at; None is all."""


class UntoldLosses:
    """The losses that are waiting, and those that are being told. `brokers`: whose links show them."""

    def __init__(self, brokers: SiteClient, tell: Tell) -> None:
        self._brokers, self._tell = brokers, tell
        self._found = OwnerLosses()
        self._open = OpenLosses(brokers.bequests)
        # What moved unseen, and what brokers were told by then. The same of what was lost with a process that another one is back for.
        self._unseen: list[tuple[Told, MovedUnseen]] = []
        self._behind: list[tuple[Told, OpenLoss]] = []
        self._tellings = Tellings()
        self._beat = 0

    @property
    def are_told(self) -> bool:
        """Whether none is left, so that stamps may be said."""
        return not (self._open or self._unseen or self._behind or self._tellings)

    @property
    def wait_for_heirs(self) -> bool:
        """Whether heirs may still give what a broker had sent before."""
        return bool(self._open)

    def broker_up(self, slot: str, incarnation: int) -> None:
        """Notes a link to a broker: where it is another process than before, what it owned may lack something."""
        announcer = self._brokers.announcer
        self._found.hold(announcer.ring)
        if (ring := self._found.link_up(slot, incarnation, announcer.take_begun(slot))) is not None:
            self._open.note(slot, ring, self._beat, is_out=False, epochs=self._brokers.epochs_of(slot))
        self.follow_ring()  # it may have said another view

    def broker_down(self, slot: str) -> None:
        """Notes that the link to a broker is lost."""
        announcer = self._brokers.announcer
        self._open.link_down(slot, is_back=self._brokers.is_back(slot))
        self._found.link_down(slot, is_left=slot not in announcer.ring.slots and announcer.has_parted(slot))
        self.follow_ring()

    def follow_ring(self) -> None:
        """Notes who owns what now, and what brokers have said since. Tells what is waited for no more."""
        announcer = self._brokers.announcer
        doubted = [slot for slot in self._brokers.view.slots if not self._brokers.is_back(slot)]
        for slot, ring in self._found.follow(announcer.ring, doubted):
            self._open.note(slot, ring, self._beat, is_out=True)
        self._unseen.extend((announcer.told(), moved) for moved in self._found.take_moved())
        self._tell_open()
        self._tell_unseen()

    def pass_over(self, slot: str, topics: Collection[Topic]) -> None:
        """Notes that events on `topics` were passed over, which the broker `slot` has sent."""
        rings = self._found.rings(slot)
        self._open.pass_over(slot, rings[0] if rings else Ring(()), topics, self._beat)

    def tell_of(self, slot: str, reason: str) -> None:
        """Tells that all topics of the broker `slot` may lack something, as it says: also what has moved, until it says that it knows."""
        rings = self._found.rings(slot)

        def is_its(topic: Topic) -> bool:
            hashed = hash64(topic)
            return any(ring.owner_at(hashed) == slot for ring in rings)

        self._begin(reason, is_its)

    def tick(self) -> None:
        """Counts a heartbeat interval: nobody is waited for for ever."""
        self._beat += 1
        self.follow_ring()

    def _begin(self, reason: str, concerns: Callable[[Topic], bool], among: Collection[Topic] | None = None) -> None:
        """Tells that topics which `concerns` is true of may lack something. `among`: no others are looked at; None is all."""
        self._tellings.begin(self._tell(reason, concerns, among))

    def _tell_open(self) -> None:
        closed = self._open.closed(self._beat, has_copies=bool(self._brokers.copied))
        self._behind.extend((self._awaited(loss), loss) for loss in closed)
        behind, self._behind = self._behind, []
        for told, loss in behind:
            if self._brokers.announcer.has_done(told):
                self._begin(LossReason.OWNER_LOST, loss.concerns, loss.passed_over)
            else:
                self._behind.append((told, loss))
        # One that is back, and is no loss, had not been dead: what its heirs say counts for no later loss.
        bequests = self._brokers.bequests
        for slot in [slot for slot in bequests if slot not in self._open.slots and self._brokers.is_back(slot)]:
            del bequests[slot]

    def _awaited(self, loss: OpenLoss) -> Told:
        """Returns what the next process must have done first. What it publishes before it knows who follows is lost, too."""
        told = self._brokers.announcer.told() if loss.is_back and loss.bequest is None else {}
        return {slot: n for slot, n in told.items() if slot == loss.slot}

    def _tell_unseen(self) -> None:
        unseen, self._unseen = self._unseen, []
        for told, moved in unseen:
            if self._brokers.announcer.has_done(told):
                self._begin(LossReason.OWNER_LOST, partial(moved, has_copies=bool(self._brokers.copied)))
            else:
                self._unseen.append((told, moved))
