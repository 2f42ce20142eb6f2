"""The access points of an aggregator: what they want, and what they are told of it."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

from broker.client import SiteClient
from infra.kernel.events import topic_in
from infra.kernel.frames import (
    AnyFrame,
    Deliver,
    Fence,
    Fenced,
    Heartbeat,
    Keeps,
    Leaving,
    Recall,
    Staying,
    Subscribe,
    Unsubscribe,
)
from infra.kernel.limbo import Limbo
from infra.kernel.moving_topics import Told
from infra.kernel.receipts import Receipts
from infra.kernel.shares import Shares
from infra.kernel.topics import Topic
from infra.runtime.link import Link
from infra.runtime.link_handlers import makes_no_sense

from .core import AggregatorCore, Rows
from .loss_notices import LossNotices
from .recalls import Recalls
from .tellings import Tellings
from .untold_losses import UntoldLosses

# So many heartbeats a fence waits for other sites: an event of theirs may be on its way to a broker that is being left.
FENCE_BEATS: Final = 3
# So many heartbeats it waits for a broker that is not linked, and brings what was missed when it is. A dead one is out of the view by then.
CAUGHT_UP_BEATS: Final = 10
# What a part of what an access point wanted costs that is gone, beside a byte of a long message (see `Shares`).
LEAVE_COST: Final = 6 << 10


class _Fence(NamedTuple):
    """The fence `number`: what brokers were told when it was asked for, and at which heartbeat that was."""

    number: int
    told: Told
    beat: int


class PointLink:
    """The handler of a link from an access point.

    - `bit`: its number in the table of interest.
    - `receipts`: which of its changes are installed, and what it was told of them.
    - `fence`: the fence that it waits for; None while it waits for none.
    - `stays`: whether it has said that it has nowhere else to go.
    - `dropped`: the handles of events that found no room on the way to it and of which it has not been told.
    - `tellings`: those of such ones.
    """

    __slots__ = ("_points", "bit", "dropped", "fence", "link", "receipts", "stays", "tellings")

    def __init__(self, points: "AccessPoints", link: Link, bit: int) -> None:
        self.link, self.bit = link, bit
        self.receipts = Receipts()
        self.fence: _Fence | None = None
        self.stays = False
        self.dropped: set[int] = set()
        self.tellings = Tellings()
        self._points = points
        link.dropped = self.dropped.add

    def frames(self, frames: list[AnyFrame]) -> None:
        """Takes changes of what it wants, and its part of a move; then says what of that is done."""
        for frame in frames:
            match frame:
                case Subscribe() | Unsubscribe():
                    self._points.change(self, frame)
                case Recall():
                    self._points.recalls.ask(self, frame)
                case Fence(n):
                    self.fence = self._points.fence(n)
                case Staying():
                    self._points.stay(self)
                case Heartbeat():
                    pass
                case _:
                    raise makes_no_sense(frame, self.link.peer)
        self._points.tell(self)

    @property
    def is_told(self) -> bool:
        """Whether it knows of all that was dropped on the way to it."""
        return not (self.dropped or self.tellings)

    def down(self, reason: str) -> None:
        """Withdraws everything that it wanted."""
        self._points.lose(self)


class AccessPoints:
    """All access points of one aggregator.

    - `core`: whose interest they have.
    - `brokers`: where that is announced.
    - `gone()`: is called when one has left, or has said that it cannot.
    - `shares`: of the turns of the loop.
    - `recalls`: what they have asked of brokers.
    - `losses`: what topics may lack, until they have been told. `notices`: how they are told.
    """

    def __init__(self, core: AggregatorCore, brokers: SiteClient, gone: Callable[[], None], shares: Shares) -> None:
        self.everyone: dict[PointLink, None] = {}
        # Whether events are being given, of which brokers' stamps do not tell yet.
        self._is_giving = False
        self._beat = 0
        self._core, self._brokers, self._gone, self._shares = core, brokers, gone, shares
        self._limbo = Limbo([brokers.announcer])
        self.recalls = Recalls(lambda topic: brokers.announcer.ring.owner(Topic(topic)), brokers.links)
        self.notices = LossNotices(core, self.everyone)
        self.losses = UntoldLosses(brokers, self.notices.telling)
        self._keeps: Keeps | None = None

    def __len__(self) -> int:
        return len(self.everyone)

    @property
    def staying(self) -> int:
        """How many have nowhere else to go."""
        return sum(point.stays for point in self.everyone)

    @property
    def losing(self) -> int:
        """How many of those that have nowhere else to go want events. One that has no clients any more loses nothing."""
        return sum(point.stays and any(self._core.interest.wanted(1 << point.bit)) for point in self.everyone)

    @property
    def topics_in_limbo(self) -> int:
        """How many topics nobody wants any more whose rows are not free yet."""
        return len(self._limbo)

    def link_up(self, link: Link) -> PointLink:
        """Returns the handler of one more link, which wants nothing yet."""
        point = PointLink(self, link, self._core.open(link))
        self.everyone[point] = None
        link.stamps = partial(self._stamps, point)
        self._tell_keeps(point)
        return point

    def _stamps(self, point: PointLink) -> dict[int, int]:
        """Returns up to where `point` has been given everything; nothing while it does not know of what was dropped before that, or lost.

        Whoever loses us meanwhile would be told by others that nothing is missing. Nor is it said with a part of a large batch: it would
        say that what the part has is still to come.
        """
        is_told = self.losses.are_told and point.is_told and not self._is_giving
        return self._brokers.stamps if is_told else {}

    def give(self, deliver: Deliver) -> None:
        """Gives events of a broker to those who want them."""
        self._is_giving = True
        try:
            self._core.fan_out(deliver.handles, deliver.bodies)
        finally:
            self._is_giving = False

    def pass_over(self, slot: str, bodies: Iterable[bytes]) -> None:
        """Notes events that the broker `slot` has sent and that nobody gets from us, since its heirs give them; if they do."""
        topics = {topic for body in bodies if (topic := topic_in(body)) is not None and topic in self._core.interest.rows}
        self.losses.pass_over(slot, topics)

    def keep(self, keeps: Keeps) -> None:
        """Tells all what windows of this site keep, if that is news."""
        if keeps != self._keeps:
            self._keeps = keeps
            self._brokers.copied, self.notices.kinds = frozenset(keeps.copied), keeps.kinds
            for point in self.everyone:
                self._tell_keeps(point)

    def _tell_keeps(self, point: PointLink) -> None:
        if self._keeps is not None and point.link.knows(Keeps):
            point.link.send(self._keeps)

    def lose(self, point: PointLink) -> None:
        """Forgets one whose link is gone, and what it wanted with it; of very much a share in each turn, as if the rest were left later."""
        del self.everyone[point]
        self.recalls.forget(point)
        self._forget(self._core.close(point.bit))
        self._gone()

    def _forget(self, parts: Iterator[Rows]) -> None:
        left = self._shares.take()
        while left > 0:
            if (rows := next(parts, None)) is None:
                return
            self._shares.spend(LEAVE_COST)
            left -= LEAVE_COST
            self._withdraw(rows)
        self._shares.wait(partial(self._forget, parts))

    def leave(self) -> None:
        """Asks them all to go to another aggregator."""
        for point in self.everyone:
            point.link.send(Leaving())

    def stay(self, point: PointLink) -> None:
        """Notes that `point` has nowhere else to go."""
        point.stays = True
        self._gone()

    def fence(self, n: int) -> "_Fence":
        """Asks every broker, and the sites behind them, for a sign; returns the fence `n`, which is through when it has come."""
        return _Fence(n, self._brokers.announcer.ask_all(), self._beat)

    def change(self, point: PointLink, frame: Subscribe | Unsubscribe) -> None:
        """Changes what `point` wants; `tell` says when that is installed."""
        topics: Sequence[Topic] = frame.topics  # type: ignore[assignment]  # the codec has checked them
        if isinstance(frame, Subscribe):
            self._brokers.want(self._core.subscribe(point.bit, topics, frame.handles, frame.gains))
        else:
            self._withdraw(self._core.unsubscribe(point.bit, topics))
        # After that: the mark says how far brokers must get for this very change to be installed.
        point.receipts.record(frame.n, {}, self._brokers.announcer.mark())

    def _withdraw(self, rows: Rows) -> None:
        if rows:
            self._brokers.unwant(topic for _, topic in rows)
            self._limbo.add(rows)

    def release(self) -> None:
        """Frees the rows that nobody wants any more, as far as no delivery can come under them."""
        for row, topic in self._limbo.leave():
            self._core.interest.release(row, topic)

    def tell_all(self) -> None:
        """Tells everybody what is installed, after brokers have got further or one is lost."""
        self.release()
        for point in self.everyone:
            self.tell(point)

    def tell(self, point: PointLink) -> None:
        """Tells `point` which of its changes are installed, and that its fence has come through, if that is news."""
        if (news := point.receipts.advance(self._brokers.announcer.reached)) is not None:
            point.link.send(news)
        if point.fence is not None and self._is_through(point.fence):
            point.link.send(Fenced(point.fence.number))
            point.fence = None

    def _is_through(self, fence: "_Fence") -> bool:
        """Tells whether nothing comes any more that was sent before, also by heirs. Who does not answer is not waited for for long."""
        announcer, beats = self._brokers.announcer, self._beat - fence.beat
        if beats <= CAUGHT_UP_BEATS and (self.losses.wait_for_heirs or not announcer.has_caught_up):
            return False
        return announcer.has_done(fence.told) and (beats > FENCE_BEATS or announcer.has_answered(fence.told))

    def tick(self) -> None:
        """Counts a heartbeat interval, and frees rows."""
        self._beat += 1
        self._brokers.reweigh(self._core.gains.changed())
        self.release()
        self.recalls.tick()
        self.losses.tick()
        for point in self.everyone:
            if point.fence is not None:
                self.tell(point)
            if point.dropped and not point.link.full:
                point.tellings.begin(self.notices.telling_dropped(point))
