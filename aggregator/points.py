"""The access points of an aggregator: what they want, and what they are told of it."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import partial
from typing import Final, NamedTuple

from broker.client import BrokerLink, SiteClient
from infra.kernel.events import topic_in
from infra.kernel.frames import (
    AnyFrame,
    Applied,
    Deliver,
    Fence,
    Fenced,
    Heartbeat,
    Inherited,
    Keeps,
    Leaving,
    Lost,
    Recall,
    Recalled,
    Staying,
    Subscribe,
    Unsubscribe,
)
from infra.kernel.limbo import Limbo
from infra.kernel.loss_reasons import LossReason
from infra.kernel.moving_topics import Told
from infra.kernel.receipts import Receipts
from infra.kernel.ring import Ring
from infra.kernel.shares import Shares
from infra.kernel.topics import Topic, kind_of
from infra.runtime.link import Link
from infra.runtime.link_handlers import makes_no_sense
from infra.runtime.turns import in_turns

from .core import AggregatorCore, Rows
from .losses import MovedUnseen, OpenLosses, OwnerLosses
from .recalls import Recalls

# So many heartbeats a fence waits for other sites: an event of theirs may be on its way to a broker that is being left.
FENCE_BEATS: Final = 3
# So many heartbeats it waits for a broker that is not linked, and brings what was missed when it is. A dead one is out of the view by then.
CAUGHT_UP_BEATS: Final = 10
# So many topics are looked at in one turn, to find those that may lack something.
LOST_AT_ONCE: Final = 4096
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
    - `tellings`: how many times it is being told of such ones.
    """

    __slots__ = ("_points", "bit", "dropped", "fence", "link", "receipts", "stays", "tellings")

    def __init__(self, points: "AccessPoints", link: Link, bit: int) -> None:
        self.link, self.bit = link, bit
        self.receipts = Receipts()
        self.fence: _Fence | None = None
        self.stays = False
        self.dropped: set[int] = set()
        self.tellings = 0
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
    - `is_taking`: whether events are being taken, of which brokers' stamps do not tell yet.
    """

    def __init__(self, core: AggregatorCore, brokers: SiteClient, gone: Callable[[], None], shares: Shares) -> None:
        self.everyone: dict[PointLink, None] = {}
        self.is_taking = False
        self._beat = 0
        self._core, self._brokers, self._gone, self._shares = core, brokers, gone, shares
        self._limbo = Limbo([brokers.announcer])
        self.recalls = Recalls(lambda topic: brokers.announcer.ring.owner(Topic(topic)), brokers.links)
        self._losses = OwnerLosses()
        self._orphaned = OpenLosses(brokers.bequests)
        # What moved unseen, and what brokers were told by then: what comes behind their answers is not missing.
        self._unseen: list[tuple[Told, MovedUnseen]] = []
        # How many losses everybody is being told of.
        self._tellings = 0
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
    def orphaned(self) -> int:
        """How many losses of brokers there are of which nobody has been told yet: their heirs may have everything."""
        return len(self._orphaned)

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
        is_untold = self._tellings or self._orphaned or self._unseen or point.dropped or point.tellings
        return {} if self.is_taking or is_untold else self._brokers.stamps

    def keep(self, keeps: Keeps) -> None:
        """Tells all what windows of this site keep, if that is news."""
        if keeps != self._keeps:
            self._keeps = keeps
            self._brokers.copied = frozenset(keeps.copied)
            for point in self.everyone:
                self._tell_keeps(point)

    def broker_up(self, slot: str, incarnation: int) -> None:
        """Notes a link to a broker: where it is another process than before, what it owned may lack something."""
        self._losses.hold(self._brokers.announcer.ring)
        begun = self._brokers.announcer.take_begun(slot)
        if (ring := self._losses.link_up(slot, incarnation, begun)) is not None:
            self._owner_lost(slot, ring)
        self.follow_ring()  # it may have said another view

    def broker_down(self, slot: str) -> None:
        """Notes that the link to a broker is lost."""
        self.recalls.link_down(slot)
        announcer = self._brokers.announcer
        self._orphaned.link_down(slot, is_back=self._brokers.is_back(slot))
        self._losses.link_down(slot, is_left=slot not in announcer.ring.slots and announcer.has_parted(slot))
        self.follow_ring()

    def follow_ring(self) -> None:
        """Notes who owns what now, and tells who has lost what others own by now."""
        doubted = [slot for slot in self._brokers.view.slots if not self._brokers.is_back(slot)]
        for slot, ring in self._losses.follow(self._brokers.announcer.ring, doubted):
            self._owner_lost(slot, ring)
        self._unseen.extend((self._brokers.announcer.told(), moved) for moved in self._losses.take_moved())
        self._tell_unseen()
        self._tell_orphaned()

    def _tell_unseen(self) -> None:
        """Tells who may lack something of what moved while its owner was not linked, when brokers have done what they were told by then."""
        unseen, self._unseen = self._unseen, []
        for told, moved in unseen:
            if self._brokers.announcer.has_done(told):
                self.lost(LossReason.OWNER_LOST, moved)
            else:
                self._unseen.append((told, moved))

    def _owner_lost(self, slot: str, ring: Ring) -> None:
        self._orphaned.note(slot, ring, self._beat)
        self._tell_orphaned()

    def _tell_orphaned(self) -> None:
        """Tells who has lost what a broker owned that is gone, when its heirs have said what they have of it."""
        for loss in self._orphaned.closed(self._beat, has_copies=bool(self._brokers.copied)):
            self.lost(LossReason.OWNER_LOST, loss.concerns, loss.passed_over)
        # One that is back, and is no loss, had not been dead: what its heirs say counts for no later loss.
        for slot in [slot for slot in self._brokers.bequests if slot not in self._orphaned.slots and self._brokers.is_back(slot)]:
            del self._brokers.bequests[slot]

    def pass_over(self, slot: str, bodies: Iterable[bytes]) -> None:
        """Notes events that the broker `slot` has sent and that nobody gets from us, since its heirs give them; if they do."""
        topics = {topic for body in bodies if (topic := topic_in(body)) is not None and topic in self._core.interest.rows}
        self._orphaned.pass_over(slot, self._losses.last_ring(slot), topics, self._beat)

    def lost(self, reason: str, concerns: Callable[[Topic], bool], among: Collection[Topic] | None = None) -> None:
        """Tells access points that topics which `concerns` is true of may lack something, some of them in each turn of the loop.

        `among`: no others are looked at; None is all.
        """
        self._tellings += 1
        in_turns(self._tell_all(reason, concerns, among))

    def _tell_all(self, reason: str, concerns: Callable[[Topic], bool], among: Collection[Topic] | None) -> Iterator[float]:
        """Tells all access points of topics that `concerns` is true of. Then stamps go on."""
        rows = self._core.interest.rows
        some = None if among is None else [(rows[topic], topic) for topic in sorted(among) if topic in rows]
        yield from self._tell_lost(reason, lambda row, topic: concerns(topic), None, some)
        self._tellings -= 1

    def lost_on(self, topics: Iterable[bytes], reason: str) -> None:
        """Tells access points that these `topics` may lack something."""
        masks, rows = self._core.interest.masks, self._core.interest.rows
        known = [(topic, rows[Topic(topic)]) for topic in topics if topic in rows]
        for point in self.everyone:
            mine = [topic for topic, row in known if masks[row] & 1 << point.bit]
            if mine and point.link.knows(Lost):
                point.link.send(Lost(mine, reason))

    def _tell_lost(
        self, reason: str, concerns: Callable[[int, Topic], bool], only: PointLink | None, among: Rows | None = None
    ) -> Iterator[float]:
        """Tells all access points, or `only` one, of the rows that `concerns` is true of, some in each turn. `among`: see `lost`."""
        wanted = list(self._core.wanted()) if among is None else among
        kinds = self._keeps.kinds if self._keeps is not None else {}
        masks = self._core.interest.masks
        for start in range(0, len(wanted), LOST_AT_ONCE):
            some = [(row, topic) for row, topic in wanted[start : start + LOST_AT_ONCE] if kind_of(topic) in kinds and concerns(row, topic)]
            for point in self.everyone if some else ():
                mine: list[bytes] = [topic for row, topic in some if masks[row] & 1 << point.bit]
                if mine and only in (None, point) and point.link.knows(Lost):
                    point.link.send(Lost(mine, reason))
            yield 0.0

    def _tell_dropped(self, point: PointLink) -> Iterator[float]:
        """Tells an access point that reads again of which topics something was dropped on the way to it. Then its stamps go on."""
        if point not in self.everyone:
            return
        handles, dropped = self._core.interest.handles(point.bit), set(point.dropped)
        point.dropped.clear()
        point.tellings += 1
        yield from self._tell_lost(LossReason.TOO_MUCH, lambda row, topic: row < len(handles) and handles[row] in dropped, point)
        point.tellings -= 1

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
        if beats <= CAUGHT_UP_BEATS and (self._orphaned or not announcer.has_caught_up):
            return False
        return announcer.has_done(fence.told) and (beats > FENCE_BEATS or announcer.has_answered(fence.told))

    def tick(self) -> None:
        """Counts a heartbeat interval, and frees rows."""
        self._beat += 1
        self._brokers.reweigh(self._core.gains.changed())
        self.release()
        self.recalls.tick()
        self.follow_ring()
        for point in self.everyone:
            if point.fence is not None:
                self.tell(point)
            if point.dropped and not point.link.full:
                in_turns(self._tell_dropped(point))


class FeedingLink:
    """The handler of a link to a broker, which gives us the events of its topics."""

    __slots__ = ("_broker", "_core", "_lost", "_points")

    def __init__(self, broker: BrokerLink, core: AggregatorCore, points: AccessPoints, lost: Callable[[], None]) -> None:
        self._broker, self._core, self._points, self._lost = broker, core, points, lost
        points.broker_up(broker.slot, broker.incarnation)

    def frames(self, frames: list[AnyFrame]) -> None:
        """Takes events, answers about those of the past, and news of what is installed."""
        for part in _parts(frames):
            self._take(part)
        self._points.follow_ring()
        # Behind the events: who waits for a fence gets what came in front of it first.
        if _has_news(frames):
            self._points.tell_all()

    def _take(self, frames: list[AnyFrame]) -> None:
        # Whether an event counts follows from what its broker had said by then, and not from what comes behind it.
        deliveries = iter(self._broker.deliveries([frame for frame in frames if not isinstance(frame, Keeps | Recalled | Lost)]))
        for frame in frames:
            match frame:
                case Deliver():
                    self._fan_out(counts := next(deliveries))
                    if len(counts.bodies) < len(frame.bodies):
                        self._points.pass_over(self._broker.slot, set(frame.bodies).difference(counts.bodies))
                case Recalled():  # in its place among the events
                    self._points.recalls.answered(self._broker.slot, frame)
                case Keeps():
                    self._points.keep(frame)
                case Lost([], reason):
                    self._points.lost(reason, self._broker.owns)
                case Lost(topics, reason):
                    self._points.lost_on(topics, reason)
        self._broker.taken()

    def _fan_out(self, deliver: Deliver) -> None:
        self._points.is_taking = True
        try:
            self._core.fan_out(deliver.handles, deliver.bodies)
        finally:
            self._points.is_taking = False

    def down(self, reason: str) -> None:
        """Takes what was installed there for lost."""
        self._lost()
        # First: with the link, nothing is left there that has moved, and a broker that hung would seem to have left as planned.
        self._points.broker_down(self._broker.slot)
        self._broker.down(reason)
        self._points.tell_all()


def _parts(frames: list[AnyFrame]) -> Iterator[list[AnyFrame]]:
    """Yields `frames` in parts, each of which ends before something that is passed on at once behind events.

    With that, access points are given the events, and hear up to where everything has come. So what came with them has been taken by then.
    """
    start, is_behind = 0, False
    for at, frame in enumerate(frames):
        if is_behind and isinstance(frame, Recalled | Lost | Keeps):
            yield frames[start:at]
            start, is_behind = at, False
        is_behind = is_behind or isinstance(frame, Deliver)
    yield frames[start:] if start else frames


def _has_news(frames: Iterable[AnyFrame]) -> bool:
    return any(isinstance(frame, Applied | Heartbeat | Inherited) for frame in frames)
