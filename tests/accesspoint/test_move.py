"""Moves from an aggregator that leaves, over every order in which links may bring what was sent: nothing is lost, nothing comes twice,
nothing out of order.

The access point's side is the real one. Brokers, aggregators and links are a model: queues, each of which keeps its order.
"""

import random
from collections import defaultdict, deque
from collections.abc import Callable
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from accesspoint.core import AccessPointCore
from accesspoint.gap_notices import GapNotices
from accesspoint.hub import Hub
from accesspoint.keeping import Keeping
from accesspoint.move import NEXT, Move, News, Step
from accesspoint.options import AccessPointOptions
from accesspoint.recoveries import Recoveries
from accesspoint.source import Source
from infra.kernel.announcer import Announcer
from infra.kernel.events import numbering
from infra.kernel.frames import Applied, Deliver, Fence, Fenced, Frame, Leaving, Staying, Subscribe, Unsubscribe
from infra.kernel.topics import Topic, user_topic
from infra.runtime.link import Link
from infra.runtime.logs import get_logger
from infra.runtime.node import Node

TOPICS = [user_topic(f"u{n}") for n in range(3)]
STEPS = 200
# How likely it is that something happens that takes long, each time that something happens.
SLOW = 0.05
BROKERS = 2
AGGREGATORS = ["a", "b", "c"]


def body_of(topic: int, seq: int) -> bytes:
    return b'%b%d,"topic":"t%d"}' % (numbering("sto", topic % BROKERS), seq, topic)


class Aggregator:
    """One as an access point sees it, with the queues around it. `is_warm`: brokers send it everything because others want that.
    `links`: which brokers it is linked to."""

    def __init__(self, name: str, is_warm: bool, links: list[bool]) -> None:
        self.name, self.dialled = name, name
        self.is_linked = self.is_dead = self.is_leaving = self.stays = False
        self.wants = [is_warm] * BROKERS
        self.asked: deque[Frame] = deque()  # from the access point
        self.asks: list[deque[int]] = [deque() for _ in range(BROKERS)]  # to brokers
        self.sent: list[deque[tuple[int, int] | int]] = [deque() for _ in range(BROKERS)]  # from brokers
        self.out: deque[Frame] = deque()  # to the access point
        self.links = links
        self.wanted: set[int] = set()
        self._changes = 0
        self._waits: list[tuple[int, set[int], Frame]] = []
        self._applied = [0] * BROKERS

    def knows(self, kind: type[Frame]) -> bool:
        return False

    def send(self, frame: Frame) -> None:
        self.asked.append(frame)

    def take(self) -> None:
        match self.asked.popleft():
            case Subscribe(n, handles):
                self.wanted.update(handles)
                self._ask(set(range(BROKERS)), Applied(n, {"sto": n}))
            case Fence(n):
                self._ask({broker for broker in range(BROKERS) if self.links[broker]}, Fenced(n))
            case Staying():
                self.stays = True
            case Unsubscribe(n, topics):
                self.wanted.difference_update(TOPICS.index(Topic(topic)) for topic in topics)
                self._ask(set(range(BROKERS)), Applied(n, {"sto": n}))
            case other:
                raise AssertionError(other)

    def _ask(self, brokers: set[int], answer: Frame) -> None:
        """Has brokers take a change in; `answer` is called when `brokers` have."""
        self._changes += 1
        self._waits.append((self._changes, brokers, answer))
        for broker, ask in enumerate(self.asks):
            if self.links[broker]:
                ask.append(self._changes)
        self._answer()

    def link(self, broker: int) -> None:
        self.links[broker] = True
        self.asks[broker].append(self._changes)

    def hear(self, broker: int) -> None:
        match self.sent[broker].popleft():
            case (topic, seq):
                if topic in self.wanted:
                    self.out.append(Deliver([topic], [body_of(topic, seq)]))
            case n:
                self._applied[broker] = n
                self._answer()

    def _answer(self) -> None:
        waits, self._waits = self._waits, []
        for wait in waits:
            n, brokers, answer = wait
            if all(self._applied[broker] >= n for broker in brokers):
                self.out.append(answer)
            else:
                self._waits.append(wait)


class World:
    """Everything, and the real `Source` in the middle."""

    def __init__(self, seed: int, warm: list[bool], move_bytes: int) -> None:
        self.rng = random.Random(seed)
        options = AccessPointOptions(site="sto", node="ap1", policy="open", aggregators=AGGREGATORS, move_bytes=move_bytes)
        self.announcer = Announcer("sto", lambda: enumerate(TOPICS))
        self.heard: dict[int, list[int]] = defaultdict(list)
        self.published = [0] * len(TOPICS)
        self.keeps_numbers = False
        core = cast(AccessPointCore, self)
        self.subscriptions = self.hub = self.inboxes = self.catch_up = self
        self.catch_ups = 0
        hub = Hub()
        self.recoveries = Recoveries(options, hub, self.announcer, Keeping(), GapNotices(hub, lambda step: None, lambda session: None))
        self.called: set[str] = set()
        self.source = Source(options, core, cast(Node, self), lambda: 0.0, get_logger("accesspoint", "ap1", "sto"))
        old = self.source.address
        self.all = {
            name: Aggregator(name, is_warm or name == old, [is_warm or name == old or self.rng.random() < 0.7 for _ in range(BROKERS)])
            for name, is_warm in zip(AGGREGATORS, warm, strict=True)
        }
        self.source.start()
        self.old = self.all[self.source.address]
        self.link_up(self.old)
        self.old.take()

    # What the source uses: the hub, the subscriptions, the node.

    def deliver(self, handles: list[int], bodies: list[bytes]) -> None:
        for topic, body in zip(handles, bodies, strict=True):
            self.heard[topic].append(int(body.split(b'"seq":')[1].split(b",")[0]))

    def want(self) -> None:
        self.catch_ups += 1

    def advance(self, now_s: float) -> None:
        pass

    def dial(self, address: str, role: str, site: str) -> None:
        self.called.add(address)

    def hang_up(self, address: str) -> None:
        self.called.discard(address)

    # What may happen.

    def link_up(self, aggregator: Aggregator) -> None:
        aggregator.is_linked = True
        self.source.link_up(cast(Link, aggregator))

    def cut(self, aggregator: Aggregator) -> None:
        aggregator.is_linked = False
        aggregator.wanted.clear()
        aggregator.out.clear()
        aggregator.asked.clear()
        self.source.link_down(cast(Link, aggregator))

    def publish(self, topic: int) -> None:
        self.published[topic] += 1
        broker = topic % BROKERS
        for aggregator in self.all.values():
            if aggregator.wants[broker] and not aggregator.is_dead:
                aggregator.sent[broker].append((topic, self.published[topic]))

    def apply(self, aggregator: Aggregator, broker: int) -> None:
        aggregator.wants[broker] = True
        aggregator.sent[broker].append(aggregator.asks[broker].popleft())

    def frame(self, aggregator: Aggregator) -> None:
        self.source.take(cast(Link, aggregator), cast(Any, aggregator.out.popleft()))

    def steps(self) -> list[Callable[[], None]]:
        """Returns what can happen next, save new events and deaths."""
        found: list[Callable[[], None]] = []
        for each in self.all.values():
            if each.is_dead:
                continue
            if each.is_linked and each.name not in self.called and (not each.out or self.rng.random() < SLOW):
                found.append(lambda each=each: self.cut(each))  # type: ignore[misc]
            if each.is_linked and each.out:  # also of a link that was hung up: it ends a turn later
                found.append(lambda each=each: self.frame(each))  # type: ignore[misc]
            if not each.is_linked and each.name in self.called and not each.is_leaving:
                found.append(lambda each=each: self.link_up(each))  # type: ignore[misc]
            if each.asked:
                found.append(each.take)
            for broker in range(BROKERS):
                if not each.links[broker] and self.rng.random() < SLOW:
                    found.append(lambda each=each, broker=broker: each.link(broker))  # type: ignore[misc]
                if each.asks[broker]:
                    found.append(lambda each=each, broker=broker: self.apply(each, broker))  # type: ignore[misc]
                if each.sent[broker]:
                    found.append(lambda each=each, broker=broker: each.hear(broker))  # type: ignore[misc]
        return found

    def settle(self) -> None:
        """Goes on until nothing is on its way any more."""
        for _ in range(10_000):
            if steps := self.steps():
                self.rng.choice(steps)()
            elif self.source.link is None or self.source._move is not None:
                self.source.tick()
            elif all(each.is_dead or all(each.links) for each in self.all.values()):
                return
        raise AssertionError(f"it never ends: {self.source._move and self.source._move.step}")

    def leave(self, aggregator: Aggregator) -> None:
        aggregator.is_leaving = True
        if aggregator.is_linked:
            aggregator.out.append(Leaving())

    def die(self, aggregator: Aggregator) -> None:
        aggregator.is_dead = True
        if aggregator.is_linked:
            self.cut(aggregator)
        self.called.discard(aggregator.name)

    @property
    def others(self) -> list[Aggregator]:
        return [each for each in self.all.values() if each is not self.old]


def play(world: World, *extra: Callable[[], None]) -> None:
    """Plays a while of events, and whatever else can happen, in any order; each of `extra` at some time, in their order."""
    rng, waiting, busy = world.rng, deque(extra), world.rng.random()
    for _ in range(STEPS):
        steps = world.steps()
        if waiting and rng.random() < 0.03:
            waiting.popleft()()
        elif not steps or rng.random() < busy / 2:
            world.publish(rng.randrange(len(TOPICS)))
        else:
            rng.choice(steps)()
    while waiting:
        waiting.popleft()()
    world.settle()
    for topic in range(len(TOPICS)):
        world.publish(topic)
    world.settle()


SEEDS = st.integers(0, 1 << 32)
WARM = st.lists(st.booleans(), min_size=3, max_size=3)
AMPLE = 1 << 30


def everything(world: World) -> dict[int, list[int]]:
    return {topic: list(range(1, last + 1)) for topic, last in enumerate(world.published)}


@given(SEEDS, WARM)
@settings(max_examples=400)
def test_a_move_loses_nothing_doubles_nothing_and_keeps_the_order(seed: int, warm: list[bool]) -> None:
    world = World(seed, warm, AMPLE)
    play(world, lambda: world.leave(world.old))
    assert world.heard == everything(world)
    assert (world.source.moves, world.source.failovers, world.keeps_numbers) == ({"whole": 1}, 0, False)
    assert (world.catch_ups, world.announcer.restored) == (0, 0)
    assert world.source.address != world.old.name


@given(SEEDS, WARM)
@settings(max_examples=400)
def test_where_the_next_one_leaves_too_at_any_moment_nothing_is_lost(seed: int, warm: list[bool]) -> None:
    world = World(seed, warm, AMPLE)
    second = world.all[world.source._others()[0]]
    play(world, lambda: world.leave(world.old), lambda: world.leave(second))
    assert world.heard == everything(world)
    assert world.source.address not in (world.old.name, second.name)


@given(SEEDS, WARM)
@settings(max_examples=400)
def test_where_the_next_one_dies_before_it_delivers_nothing_is_lost(seed: int, warm: list[bool]) -> None:
    """Then the third one is called, and the old one delivers meanwhile."""
    world = World(seed, warm, AMPLE)
    second = world.all[world.source._others()[0]]

    def die() -> None:
        if world.source.address == world.old.name:
            world.die(second)

    play(world, lambda: world.leave(world.old), die)
    assert world.heard == everything(world)
    assert world.source.address == (next(each.name for each in world.others if each is not second) if second.is_dead else second.name)


@given(SEEDS, WARM)
@settings(max_examples=200)
def test_where_no_other_can_be_reached_that_is_said_and_the_old_one_goes_on(seed: int, warm: list[bool]) -> None:
    world = World(seed, warm, AMPLE)
    for other in world.others:
        world.die(other)
    play(world, lambda: world.leave(world.old))
    assert world.heard == everything(world)
    assert (world.old.stays, world.source.address) == (True, world.old.name)


@given(SEEDS, WARM)
@settings(max_examples=400)
def test_where_the_old_one_dies_while_another_is_linked_nothing_comes_twice_or_out_of_order(seed: int, warm: list[bool]) -> None:
    world = World(seed, warm, AMPLE)

    def die() -> None:
        if world.source._new is not None and world.source.address == world.old.name:
            world.die(world.old)

    play(world, lambda: world.leave(world.old), die)
    check_order(world)


@given(SEEDS, WARM, st.sampled_from([0, 300, 1000, 3000]))
@settings(max_examples=400)
def test_where_too_much_waits_nothing_comes_twice_or_out_of_order(seed: int, warm: list[bool], move_bytes: int) -> None:
    world = World(seed, warm, move_bytes)
    play(world, lambda: world.leave(world.old))
    check_order(world)
    assert world.source.moves.total() == 1
    assert world.catch_ups == world.source.moves["cut"]


def check_order(world: World) -> None:
    for topic, heard in world.heard.items():
        assert heard == sorted(set(heard))
        assert heard[-1] == world.published[topic]


@pytest.mark.parametrize("step", Step)
@pytest.mark.parametrize("news", News)
def test_the_table_names_every_change(step: Step, news: News) -> None:
    move = Move(AMPLE)
    move.step = step
    assert move.on(news) is NEXT.get((step, news), step)
    if step in (Step.OVER, Step.FAILED):
        assert move.step is step


def test_what_is_known_of_one_that_was_lost_is_forgotten() -> None:
    """The numbers of topics may be given to others meanwhile."""
    move = Move(1000)
    for news in (News.LINKED, News.NEW_FENCED):
        move.on(news)
    move.by_old([1], [body_of(1, 5)])
    move.by_new([1] * 9, [body_of(1, 6)] * 9)
    assert move.is_full
    for news in (News.NEW_LOST, News.LINKED, News.NEW_FENCED):
        move.on(news)
    assert not move.is_full
    move.by_new([1], [body_of(1, 3)])
    assert move.take_kept() == ([1], [body_of(1, 3)])


def test_what_no_broker_has_written_does_not_end_a_move() -> None:
    """A broker of another site may send anything. The access point lost its link to both aggregators for that."""
    move = Move(1 << 20)
    move.step = Step.INSTALLING
    move.by_old([0, 0], [b"{}", body_of(0, 1)])
    assert move.by_new([0, 0, 0], [b"{}", body_of(0, 1), body_of(0, 2)]) == ([], [])
    assert move.take_kept() == ([0], [body_of(0, 2)])
