"""A life of numbers at several sites: topics on which this site and another one publish, and that move between two brokers here.

Clients go away, and come back here or at a third site with the numbers that they have. Nothing is lost on any way. So who is told that
nothing of a topic is missing has got each event once, in order, and numbers jump nowhere. Who is told that something is begins anew.
"""

import random
from collections import deque
from collections.abc import Callable, Sequence
from typing import ClassVar, Final

from broker.core import BrokerCore
from broker.inheritance import Inheritance
from broker.moving import Destinations
from broker.recaller import Recaller, RecallingLink
from broker.recorded_rows import Rows
from broker.tenure import Tenure
from broker.window import EventWindow
from broker.window_bounds import WindowBounds
from infra.kernel.events import Event, numbering, origin_epoch_seq, skipped_in, topic_in
from infra.kernel.frames import Recall, View
from infra.kernel.ring import POINTS
from infra.kernel.topics import Kind, Topic, format_topic, parse_topic, user_topic

from ..oracle import Violated
from .core_life import CoreLife

SLOTS: Final = ("b1", "b2")
PLAYLIST: Final = parse_topic("hm://playlist/user/ann/playlist/mix/")
# Few: so that one of them is left by all for a while, and comes back.
TOPICS: Final = (PLAYLIST, user_topic("dan"))
SHARES: Final = (0, POINTS // 2, POINTS)
BOUNDS: Final = {Kind.PLAYLIST: WindowBounds(seconds=0.5), Kind.USER: WindowBounds(keep="latest", seconds=0.5)}
BEAT_S: Final = 0.125
CLIENTS: Final = 3
LON: Final = "lon"
LON_EPOCH: Final = 1000
HERE: Final = "sto"
THERE: Final = "ash"
NOBODY: Final = View(0, ())


class _Receiver:
    """A link that gives what it gets to `take`."""

    def __init__(self, take: Callable[[bytes], None]) -> None:
        self._take = take

    def deliver(self, handle: int, body: bytes) -> None:
        self._take(body)


class SiteBroker:
    """A broker of this site. What it wants of lon is on its way for a while; `known`: what lon knows of it."""

    def __init__(self, life: "SitesLife", slot: str, epoch: int) -> None:
        self.slot, self.known, self._life = slot, set[Topic](), life
        self.window = EventWindow(epoch, BOUNDS, 1 << 20)
        self.tenure = Tenure(slot, epoch)
        self.core = BrokerCore(
            HERE,
            epoch,
            window=self.window,
            owns=lambda topic: self.mine([topic])[0],
            keeps=self.mine,
            came_at=lambda: self.tenure.came_at,
        )
        self.inheritance = Inheritance(slot, self.core, self.tenure, self._adopt)
        self.recaller = Recaller(HERE, self.core, self.tenure, is_alone=False)
        self.bits = {
            HERE: self.core.open(_Receiver(lambda body: life.give(HERE, body)), far=False),
            THERE: self.core.open(_Receiver(lambda body: life.give(THERE, body)), far=True, peer=(THERE, "b1")),
        }
        self._mark, self._handle = 0, 0
        self._on_its_way: deque[tuple[int, set[Topic]]] = deque()

    def mine(self, topics: Sequence[Topic]) -> list[bool]:
        """Tells of each topic whether it is this broker's."""
        return [self._life.owner(topic) is self for topic in topics]

    def subscribe(self, site: str, topic: Topic) -> None:
        """Has a site want a topic."""
        self._handle += 1
        self._want(self.core.subscribe(self.bits[site], [topic], [self._handle]))

    def unsubscribe(self, site: str, topic: Topic) -> None:
        """Has a site want a topic no more."""
        self.withdraw(*self.core.unsubscribe(self.bits[site], [topic]))

    def _adopt(self, topics: Sequence[tuple[Topic, bool]]) -> None:
        self._want(self.core.recorded.adopt(topics))

    def _want(self, news: Rows) -> None:
        if news:
            self._mark += 1
            self._on_its_way.append((self._mark, {topic for _, topic in news}))
            assert self.core.unheard is not None
            self.core.unheard.add([row for row, _ in news], {LON: self._mark})

    def withdraw(self, silent: Rows, dead: Rows) -> None:
        """Has lon know at once what is wanted no more, and frees rows."""
        ended = {topic for _, topic in silent}
        self.known -= ended
        self._on_its_way = deque((mark, topics - ended) for mark, topics in self._on_its_way)
        for row, topic in dead:
            self.core.release(row, topic)

    def hear(self) -> None:
        """Has lon hear the next thing that is on its way."""
        if self._on_its_way:
            mark, topics = self._on_its_way.popleft()
            self.known |= topics
            assert self.core.unheard is not None
            self.core.unheard.reach({LON: mark})

    def hear_all(self) -> None:
        """Has lon hear everything."""
        while self._on_its_way:
            self.hear()

    def relay(self, topic: Topic, body: bytes) -> None:
        """Takes an event of lon, if lon knows that it is wanted here."""
        if topic in self.known and (row := self.core.interest.rows.get(topic)) is not None:
            self.core.relay([row], [body])

    def answer(self, topic: Topic, known: list[tuple[str, int, int]]) -> tuple[str, list[bytes]]:
        """Returns why something may be missing of a topic for somebody with these numbers, and what they have missed."""
        asker = RecallingLink(self.bits[HERE], is_announced=True)
        (answer,) = self.recaller.answers(asker, Recall(1, [topic], {}, [known]))
        return answer.reasons[0], list(answer.bodies)


class NumberedClient:
    """A client: the last `numbers` of each topic and site, all that it `got`, and how much had been published when it `left`."""

    def __init__(self, name: str) -> None:
        self.name, self.site, self.left = name, "", 0
        self.numbers: dict[tuple[Topic, str], tuple[int, int]] = {}
        self.got: set[int] = set()

    def forget(self, topic: Topic) -> None:
        """Begins anew with a topic."""
        self.numbers = {key: last for key, last in self.numbers.items() if key[0] != topic}

    def known(self, topic: Topic) -> list[tuple[str, int, int]]:
        """Returns the numbers that it says of a topic."""
        return [(site, *last) for (its, site), last in self.numbers.items() if its == topic]

    def take(self, topic: Topic, body: bytes) -> None:
        """Takes an event. Raises Violated where numbers do not rise, or jump."""
        site, epoch, seq = origin_epoch_seq(body)
        if (last := self.numbers.get((topic, site))) is not None:
            if seq <= last[1]:
                raise Violated(f"{self.name} gets number {seq} of {format_topic(topic)} at {site} behind {last}")
            if seq - last[1] - 1 > (0 if topic == PLAYLIST else skipped_in(body)):
                raise Violated(f"{self.name} gets number {seq} of {format_topic(topic)} at {site} behind {last}, and nothing is missing")
        self.numbers[topic, site] = epoch, seq
        self.got.add(int(body[body.rindex(b'"n":') + 4 : -1]))


class SitesLife(CoreLife):
    """Two brokers of this site, and clients here and at a third one. Nobody lies here."""

    KINDS: ClassVar[dict[str, int]] = {"publish": 16, "publish_there": 16, "plan": 5, "beat": 20, "come": 20, "leave": 14, "hear": 20}

    def __init__(self, rng: random.Random) -> None:
        super().__init__(rng)
        self._view = NOBODY
        self.brokers = {slot: SiteBroker(self, slot, n + 1) for n, slot in enumerate(SLOTS)}
        self.clients = [NumberedClient(f"u{n}") for n in range(CLIENTS)]
        self._published: list[tuple[Topic, str]] = []
        self._seqs = dict.fromkeys(TOPICS, 0)
        self._wants: set[str] = set()
        self._go((POINTS, POINTS))

    def owner(self, topic: Topic) -> SiteBroker:
        """Returns the broker that owns a topic."""
        return self.brokers[self._view.ring.owner(topic) or SLOTS[0]]

    def give(self, site: str, body: bytes) -> None:
        """Gives an event to the clients of a site."""
        topic = topic_in(body)
        assert topic is not None
        for client in self.clients:
            if client.site == site:
                client.take(topic, body)

    # Events.

    def _new(self, topic: Topic, site: str) -> bytes:
        self._published.append((topic, site))
        return b'"topic":"%b","n":%d}' % (format_topic(topic).encode(), len(self._published) - 1)

    def _publish(self, which: int, *_: int) -> None:
        topic = TOPICS[which % len(TOPICS)]
        self.owner(topic).core.publish(Event(topic, b"", self._new(topic, HERE)))

    def _publish_there(self, which: int, *_: int) -> None:
        topic = TOPICS[which % len(TOPICS)]
        self._seqs[topic] += 1
        body = b"%b%d,%b" % (numbering(LON, LON_EPOCH), self._seqs[topic], self._new(topic, LON))
        self.give(THERE, body)
        self.owner(topic).relay(topic, body)

    # Clients.

    def _come(self, who: int, where: int, how: int, _: int) -> None:
        client = self.clients[who % CLIENTS]
        if client.site:
            return
        self._follow(HERE if where % 2 else THERE)
        if where % 2:
            self._come_here(client)
        else:
            self._come_there(client, is_told_all=how % 2 == 0)

    def _follow(self, site: str) -> None:
        """Has somebody follow all topics at a site."""
        if site not in self._wants:
            self._wants.add(site)
            for topic in TOPICS:
                self.owner(topic).subscribe(site, topic)

    def _come_here(self, client: NumberedClient) -> None:
        for topic in TOPICS:
            if not (known := client.known(topic)):
                continue
            reason, bodies = self.owner(topic).answer(topic, known)
            self.looked_at[f"{len(known)} known, {reason or 'recovered'}"] += 1
            if reason:
                client.forget(topic)
                continue
            for body in bodies:
                client.take(topic, body)
            self._check_whole(client, topic)
        client.site = HERE

    def _check_whole(self, client: NumberedClient, topic: Topic) -> None:
        """Raises Violated where somebody is told that nothing of a topic is missing, and lacks something that was published meanwhile."""
        missed: dict[str, list[int]] = {}
        for n in range(client.left, len(self._published)):
            if self._published[n][0] == topic:
                missed.setdefault(self._published[n][1], []).append(n)
        owed = [n for of_site in missed.values() for n in (of_site if topic == PLAYLIST else of_site[-1:])]
        if lacks := [n for n in owed if n not in client.got]:
            raise Violated(f"{client.name} is told that nothing of {format_topic(topic)} is missing, and lacks {lacks}")

    def _come_there(self, client: NumberedClient, *, is_told_all: bool) -> None:
        """Has a client come to the third site, which gives it all that it missed, or tells it that something is missing."""
        for topic in TOPICS:
            if not is_told_all:
                client.forget(topic)
            last = self.owner(topic).core.numbers.last(topic)
            if (topic, HERE) in client.numbers and last is not None:
                client.numbers[topic, HERE] = last
            if (topic, LON) in client.numbers:
                client.numbers[topic, LON] = LON_EPOCH, self._seqs[topic]
            client.got.update(n for n, (its, _) in enumerate(self._published) if its == topic)
        client.site = THERE

    def _leave(self, who: int, *_: int) -> None:
        client = self.clients[who % CLIENTS]
        if not client.site:
            return
        site, client.site, client.left = client.site, "", len(self._published)
        if all(other.site != site for other in self.clients):
            self._wants.remove(site)
            for topic in TOPICS:
                self.owner(topic).unsubscribe(site, topic)

    # Brokers.

    def _hear(self, which: int, *_: int) -> None:
        self.brokers[SLOTS[which % len(SLOTS)]].hear()

    def _beat(self, *_: int) -> None:
        self.now_s += BEAT_S
        for broker in self.brokers.values():
            broker.withdraw(*broker.core.recorded.tick(self.now_s))
            broker.recaller.owns_now()

    def _plan(self, one: int, other: int, *_: int) -> None:
        shares = SHARES[one % len(SHARES)], SHARES[other % len(SHARES)]
        if any(shares):
            self._go(shares)

    def _go(self, shares: Sequence[int]) -> None:
        """Has all go by another view, and what moves be handed over at once."""
        before, self._view = self._view, View(self._view.number + 1, SLOTS, tuple(shares), ())
        for broker in self.brokers.values():
            broker.tenure.begin(before, self._view)
        if before.slots:
            moved = [topic for topic in TOPICS if before.ring.owner(topic) != self._view.ring.owner(topic)]
            for topic in moved:
                for site in sorted(self._wants):
                    self.owner(topic).subscribe(site, topic)
            for broker in self.brokers.values():
                self._hand_over(broker, before)
            for topic in moved:
                former = self.brokers[before.ring.owner(topic) or ""]
                for site in sorted(self._wants):
                    former.unsubscribe(site, topic)
        for broker in self.brokers.values():
            for silent, dead in broker.core.recorded.hand_over(broker.mine):
                broker.withdraw(silent, dead)
            broker.recaller.owns_now()

    def _hand_over(self, former: SiteBroker, before: View) -> None:
        goes_to, sent = Destinations(former.slot, before.ring, self._view.ring), 0
        (heir,) = (broker for broker in self.brokers.values() if broker is not former)
        for part in former.inheritance.leaving(goes_to, former.inheritance.left()):
            if part is not None:
                sent += 1
                heir.inheritance.take(former.slot, part[1])
        for topic in TOPICS:
            if before.ring.owner(topic) == former.slot and self.owner(topic) is heir:
                self._go_on(topic, former, heir)
        heir.inheritance.end(former.slot, former.inheritance.ending(self._view.number, sent))
        heir.inheritance.sealed(former.slot, self._view)

    def _go_on(self, topic: Topic, former: SiteBroker, heir: SiteBroker) -> None:
        """Has the new owner go on with the numbers of a topic, and with what lon sends: for a while by way of the former one."""
        if (last := former.core.numbers.last(topic)) is not None:
            former.core.numbers.give_up(topic)
            heir.core.numbers.inherit(topic, last)
        row = former.core.interest.rows.get(topic)
        if topic in former.known and row is not None and former.core.recorded.is_followed(row):
            heir.hear_all()

    def check(self) -> None:
        """Looks at nothing: only what clients get can be wrong."""

    def settle(self) -> None:
        """Has all be here, with everything that is published."""
        for broker in self.brokers.values():
            broker.hear_all()
        self._follow(HERE)
        for client in self.clients:
            if not client.site:
                self._come_here(client)
        for n in range(len(TOPICS)):
            self._publish(n)
            self._publish_there(n)
