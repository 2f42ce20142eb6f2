"""A life of what an aggregator decides: what it announces to brokers, when that is installed, which rows are free, who gets an event."""

import random
from collections import deque
from collections.abc import Iterator
from typing import ClassVar, Final

from aggregator.core import AggregatorCore, Rows
from infra.kernel.announcer import PARTING_BEATS, Announcer
from infra.kernel.frames import AnyFrame, Applied, Deliver, Frame, Subscribe, Unsubscribe, View
from infra.kernel.limbo import Limbo
from infra.kernel.receipts import Receipts
from infra.kernel.ring import POINTS
from infra.kernel.topics import Topic, format_topic, user_topic

from ..oracle import Violated
from .core_life import ODD_NUMBERS, CoreLife, read

TOPICS: Final = tuple(user_topic(f"u{n}") for n in range(7))
SLOTS: Final = ("b1", "b2", "b3")
SITE: Final = "sto"
# Shares that a slot may have; few, since each layout of a ring is reckoned once in a process.
SHARES: Final = (POINTS, 32, 0)


class FedBroker:
    """A broker as the aggregator sees it, with a queue each way: what it has taken in, it has installed.

    `held`: topic -> the handle under which it sends events. `lies`: whether its answers may be anything.
    """

    def __init__(self, slot: str) -> None:
        self.slot = slot
        self.is_up = self.lies = False
        self.held: dict[Topic, int] = {}
        self.down: deque[Frame] = deque()
        self.up: deque[AnyFrame] = deque()

    def send(self, frame: Frame) -> None:
        """Queues what it is told."""
        self.down.append(frame)

    def take(self) -> None:
        """Takes the next frame in, and answers."""
        frame = self.down.popleft()
        match frame:
            case Subscribe(n, handles, topics):
                self.held.update(zip(map(Topic, topics), handles, strict=True))
            case Unsubscribe(n, topics):
                for topic in topics:
                    self.held.pop(Topic(topic), None)
            case _:
                raise Violated(f"a broker is told {frame}")
        self.up.append(Applied(n, {SITE: n}))

    def end(self) -> None:
        """Loses its link, and with it all that it was told."""
        self.is_up = False
        self.held.clear()
        self.down.clear()
        self.up.clear()


class FedPoint:
    """An access point: it looks at each event that it is given. `wants`: topic -> handle. `marks`: its changes, and what each waits for.

    `is_fooled`: what comes now is from a broker that lies, so it may be anything.
    """

    def __init__(self) -> None:
        self.bit: int | None = None
        self.wants: dict[Topic, int] = {}
        self.receipts = Receipts()
        self.marks = [0]
        self.got = 0
        self.is_fooled = False

    @property
    def n(self) -> int:
        """The number of its last change."""
        return len(self.marks) - 1

    def deliver(self, handle: int, body: bytes) -> None:
        """Raises Violated for an event of something else than it has asked for under this handle."""
        self.got += 1
        if self.wants.get(Topic(body)) != handle and not self.is_fooled:
            raise Violated(f"an access point gets {body!r} under {handle}, and wants {self.wants}")


class FeedingLife(CoreLife):
    """An aggregator between access points and the brokers of its site."""

    KINDS: ClassVar[dict[str, int]] = {
        "subscribe": 12,
        "unsubscribe": 10,
        "point_lost": 1,
        "broker": 24,
        "answers": 16,
        "publish": 14,
        "broker_lost": 2,
        "broker_back": 4,
        "view": 3,
        "old_view": 1,
        "turn": 6,
        "tick": 3,
        "lie": 5,
    }

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self.core = AggregatorCore()
        # What is left of moves, which is done in later turns of the loop.
        self._left: list[Iterator[float]] = []
        self.announcer = Announcer(SITE, self.core.wanted, self.core, spawn=self._left.append)
        self.limbo = Limbo([self.announcer])
        self.brokers = {slot: FedBroker(slot) for slot in SLOTS}
        self.points = [FedPoint() for _ in range(3)]
        for point in self.points:
            point.bit = self.core.open(point)
        self._handle = self._steps = self._beats = 0
        # Topic -> since which operation it is wanted. What nobody has held is not covered; what was once must stay so.
        self._since: dict[Topic, int] = {}
        self._covered: set[Topic] = set()
        self._is_fragile = self._has_lied = False
        self._marks: deque[tuple[int, int]] = deque(maxlen=8)
        self._number = 0
        # Slots that had something when it moved, as long as anything moves.
        self._former: set[str | None] = set()
        for slot in SLOTS[:2]:
            self._up(self.brokers[slot])
        self._go_by(View(1, SLOTS[:2]))

    # What access points want.

    def _subscribe(self, which: int, first: int, count: int, gain: int) -> None:
        point = self.points[which % len(self.points)]
        topics = [TOPICS[(first + n) % len(TOPICS)] for n in range(1 + count % 3)]
        handles = [self._handle + n for n in range(1, 1 + len(topics))]
        self._handle += len(topics)
        if point.bit is None:
            point.bit = self.core.open(point)
        point.wants.update(zip(topics, handles, strict=True))
        for topic in topics:
            self._since.setdefault(topic, self._steps)
        self.announcer.want(self.core.subscribe(point.bit, topics, handles, bytes([gain % 8] * len(topics)) if gain % 2 else b""))
        self._changed(point)

    def _unsubscribe(self, which: int, first: int, *_: int) -> None:
        point = self.points[which % len(self.points)]
        topic = TOPICS[first % len(TOPICS)]
        if point.bit is not None:
            point.wants.pop(topic, None)
            self._withdraw(self.core.unsubscribe(point.bit, [topic]))
            self._changed(point)

    def _point_lost(self, which: int, *_: int) -> None:
        point = self.points[which % len(self.points)]
        if point.bit is not None:
            point.wants.clear()
            for rows in self.core.close(point.bit):
                self._withdraw(rows)
            point.bit, point.receipts, point.marks = None, Receipts(), [0]

    def _changed(self, point: FedPoint) -> None:
        mark = self.announcer.mark()
        point.marks.append(mark)
        self._marks.append((mark, self._steps))
        point.receipts.record(point.n, {}, mark)

    def _withdraw(self, rows: Rows) -> None:
        for _, topic in rows:
            del self._since[topic]
            self._covered.discard(topic)
        if rows:
            self.announcer.unwant(topic for _, topic in rows)
            self.limbo.add(rows)

    # Brokers.

    def _broker(self, which: int, count: int, *_: int) -> None:
        broker = self._of(which)
        for _n in range(min(1 + count % 4, len(broker.down))):
            broker.take()

    def _of(self, which: int) -> FedBroker:
        return self.brokers[SLOTS[which % len(SLOTS)]]

    def _answers(self, which: int, count: int, *_: int) -> None:
        broker = self._of(which)
        for _n in range(min(1 + count % 4, len(broker.up))):
            self._take(broker, broker.up.popleft())

    def _take(self, broker: FedBroker, frame: AnyFrame) -> None:
        match frame:
            case Applied(n, sites):
                self.announcer.applied(broker.slot, n, sites)
                self._release()
                for point in self.points:
                    self._tell(point)
            case Deliver(handles, bodies):
                for point in self.points:
                    point.is_fooled = broker.lies
                self.core.fan_out(handles, bodies)
            case _:
                raise Violated(f"an aggregator is told {frame}")

    def _tell(self, point: FedPoint) -> None:
        news = point.receipts.advance(self.announcer.reached)
        if news is not None and news.n != point.n:
            raise Violated(f"an access point hears that change {news.n} is done, and has made {point.n}")
        for site, n in news.sites.items() if news is not None else ():
            if point.marks[n] > self.announcer.reached[site]:
                raise Violated(f"an access point hears that change {n} is installed at {site}, and it is not")

    def _release(self) -> None:
        for row, topic in self.limbo.leave():
            self.core.interest.release(row, topic)

    def _publish(self, which: int, *_: int) -> None:
        """Has a broker that serves a topic send an event of it."""
        serving = [(broker, topic, handle) for broker in self.brokers.values() for topic, handle in broker.held.items()]
        if serving:
            broker, topic, handle = serving[which % len(serving)]
            broker.up.append(Deliver([handle], [topic]))
            self.looked_at["events"] += 1

    def _broker_lost(self, which: int, *_: int) -> None:
        broker = self._of(which)
        if broker.is_up:
            broker.end()
            self.announcer.node_down(broker.slot)
            self._is_fragile = True

    def _broker_back(self, which: int, *_: int) -> None:
        if not (broker := self._of(which)).is_up:
            self._up(broker)

    def _up(self, broker: FedBroker) -> None:
        broker.is_up, broker.lies = True, False
        self.announcer.node_up(broker.slot, broker)

    # Views, and time.

    def _turn(self, *_: int) -> None:
        self._left[:] = [work for work in self._left if next(work, None) is not None]

    def _view(self, which: int, shares: int, loses: int, *_: int) -> None:
        slots = tuple(slot for n, slot in enumerate(SLOTS) if (1 + which % 7) & 1 << n)
        places = tuple(SHARES[(shares >> 2 * n) % len(SHARES)] for n in range(len(slots)))
        view = View(self._number + 1, slots, places if any(places) and shares % 2 else ())
        self._go_by(view, is_loss=bool(loses % 2))

    def _go_by(self, view: View, *, is_loss: bool = False) -> None:
        self._number = view.number
        self._beats = 0
        self._is_fragile |= not self.announcer.is_parted  # of several moves in a row the first may be given up
        self._former |= {self.announcer.ring.owner(topic) for topic in self._since}
        if not self.announcer.set_view(view, (lambda: None) if is_loss else None):
            raise Violated(f"{view} is a higher view, and was not taken over")

    def _old_view(self, number: int, which: int, *_: int) -> None:
        before = self.announcer.view
        slots = tuple(slot for n, slot in enumerate(SLOTS) if which & 1 << n)
        if self.announcer.set_view(View(number % (before.number or 1), slots)) or self.announcer.view is not before:
            raise Violated("a view of yesterday was taken over")

    def _tick(self, *_: int) -> None:
        self._beats += 1
        self._is_fragile |= self._beats >= PARTING_BEATS and not self.announcer.is_parted
        self.announcer.tick()
        self._release()

    def _lie(self, which: int, number: int, site: int, what: int) -> None:
        """Has a broker answer what it has not done, or what it was never told, or send under handles that nobody named."""
        broker = self._of(which)
        if not self.has_liars or not broker.is_up:
            return
        self._has_lied = broker.lies = True
        odd = ODD_NUMBERS[number % len(ODD_NUMBERS)]
        if what % 2:
            answer = read(Applied(odd, {(SITE, "lon", "x" * 64)[site % 3]: ODD_NUMBERS[site % len(ODD_NUMBERS)]}))
        else:
            answer = read(Deliver([(1 << 32) - 1, len(self.core.interest.masks) + number % 3], [b"U?", b""]))
        if answer is not None:
            self._take(broker, answer)

    # What must hold.

    def check(self) -> None:
        """Looks whether what is said to be installed is, whether a move leaves nothing unserved, and whether interest is exact."""
        self._steps += 1
        if {topic for _, topic in self.core.wanted()} != {topic for point in self.points for topic in point.wants}:
            raise Violated("what is wanted is not what access points want")
        newest = self.announcer.mark()
        if any(mark > newest for mark in self.announcer.reached.values()):
            raise Violated(f"marks {self.announcer.reached} are reached, and {newest} is the newest")
        if self.announcer.is_parted:
            self._former.clear()
        odd = [slot for slot in SLOTS if slot not in self._former and not self.announcer.has_parted(slot)]
        if odd and self.announcer.is_announced:  # before, only the ring is known, not what is on it
            raise Violated(f"{odd} had nothing that has moved, and are said to serve it still")
        held = {topic for broker in self.brokers.values() if broker.is_up for topic in broker.held}
        if not self._has_lied:
            self._check_installed(held)
            self._check_covered(held)

    def _check_installed(self, held: set[Topic]) -> None:
        reached = self.announcer.reached.get(SITE, 0)
        for mark, step in self._marks:
            if mark <= reached:
                for topic, since in self._since.items():
                    if since < step and topic not in held:
                        raise Violated(f"{format_topic(topic)} is said to be installed, and nobody has it")
                self.looked_at["installed"] += 1

    def _check_covered(self, held: set[Topic]) -> None:
        """Looks whether somebody serves each topic that was served before (make before break)."""
        if self._is_fragile or not self.announcer.reached.get(SITE):  # former owners are kept for what was installed before the move
            self._covered.clear()
            self._is_fragile = not self.announcer.is_parted
        for topic in self._covered:
            if topic not in held:
                raise Violated(f"{format_topic(topic)} was served, and is not any more")
        for broker in self.brokers.values():
            if not broker.down:  # else it may be about to give up what was withdrawn, and is wanted anew
                self._covered |= broker.held.keys() & self._since.keys()

    def settle(self) -> None:
        """Has liars go, brokers come back, and all arrive: then each broker has what it owns, and nothing else."""
        for slot in SLOTS:
            if self.brokers[slot].lies:
                self._broker_lost(SLOTS.index(slot))
            self._broker_back(SLOTS.index(slot))
        self._has_lied = False
        for _ in range(PARTING_BEATS + 2):  # so long a former owner is kept for a site that only a liar has named
            self._arrive()
            self._tick()
        self._arrive()
        self._check_exact()

    def _arrive(self) -> None:
        while self._left or any(broker.down or broker.up for broker in self.brokers.values()):
            self._turn()
            for broker in self.brokers.values():
                while broker.down:
                    broker.take()
                while broker.up:
                    self._take(broker, broker.up.popleft())

    def _check_exact(self) -> None:
        ring = self.announcer.ring
        for broker in self.brokers.values():
            mine = {topic for topic in self._since if ring.owner(topic) == broker.slot}
            if broker.held.keys() != mine:
                raise Violated(f"{broker.slot} has {sorted(broker.held)}, and owns {sorted(mine)}")
        if not self.announcer.is_parted or len(self.limbo):
            raise Violated("all has arrived, and something still waits for former owners, or in limbo")
        newest = self.announcer.mark()
        if self.announcer.reached.get(SITE, 0) < newest:
            raise Violated("all has arrived, and not everything is said to be installed")
        if self.core.interest.rows.keys() != self._since.keys():
            raise Violated("rows are left of topics that nobody wants")
        for topic, row in self.core.interest.rows.items():
            wanting = sum(topic in point.wants for point in self.points)
            for point in self.points:
                point.is_fooled = False
            before = sum(point.got for point in self.points)
            self.core.fan_out([row], [topic])
            if sum(point.got for point in self.points) - before != wanting:
                raise Violated(f"{wanting} access points want {format_topic(topic)}, and another number of them get it")
