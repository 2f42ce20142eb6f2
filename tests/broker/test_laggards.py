"""Links that are behind get everything once and in order, against a dumb model of what each of them wants."""

import random
from types import SimpleNamespace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from broker import laggards
from broker.core import BrokerCore
from broker.laggards import AT_ONCE
from broker.window import EventWindow
from broker.window_bounds import WindowBounds
from infra.kernel.events import Event, encode_tail, skipped_in
from infra.kernel.topics import Kind, Topic, user_topic

TOPICS = [Topic(b"Pann/p%d" % n) for n in range(4)]
OTHER = Topic(b"Iann")
USER = user_topic("ann")


def event(topic: Topic, n: int) -> Event:
    uri = "hm://notifications/inbox/ann/" if topic == OTHER else f"hm://playlist/user/ann/playlist/{topic[5:].decode()}/"
    return Event(topic, b"", encode_tail(uri, 1, str(n), "x", b"{}"))


class _Taker:
    """A link that keeps what it is given: the number of each event. With `room` left, it is not full."""

    def __init__(self) -> None:
        self.got: list[int] = []
        self.room = 10**9

    def deliver(self, handle: int, body: bytes) -> None:
        self.got.append(int(body.split(b'"id":"')[1].split(b'"')[0]))
        self.room -= 1

    def is_full(self) -> bool:
        return self.room <= 0


class LaggardMachine(RuleBasedStateMachine):
    """One link that wants some topics, is filled, broken and back, while events go out. The other one is never behind."""

    def __init__(self) -> None:
        super().__init__()
        window = EventWindow(7, {Kind.PLAYLIST: WindowBounds(events=10**6, bytes=10**9)}, 10**9)
        self.core, self.window = BrokerCore("sto", 7, window=window), window
        assert self.core.laggards is not None
        self.laggards = self.core.laggards
        self.other = _Taker()
        self.core.subscribe(self.core.open(self.other, False), [*TOPICS, OTHER], range(5))
        self.taker = _Taker()
        self.bit: int | None = self.core.open(self.taker, False)
        self.wants: set[Topic] = set()
        self.fresh: set[Topic] = set()
        self.due: list[int] = []
        self.live: list[int] = []
        self.published = self.stamp = 0
        self.wanted_behind = False
        self.got: list[int] = []

    @rule(topic=st.sampled_from([*TOPICS, OTHER]))
    def publish(self, topic: Topic) -> None:
        self.core.publish(event(topic, self.published))
        if topic in self.wants and (self.bit is not None or topic != OTHER):
            (self.live if topic == OTHER else self.due).append(self.published)
        self.published += 1

    @precondition(lambda self: self.bit is not None)
    @rule(topic=st.sampled_from([*TOPICS, OTHER]))
    def want(self, topic: Topic) -> None:
        assert self.bit is not None
        self.core.subscribe(self.bit, [topic], [TOPICS.index(topic) if topic in TOPICS else 4])
        # When it breaks off then, it gets what came before, too, since its stamp is older than its wish.
        self.wanted_behind |= topic not in self.wants and self.bit in self.laggards
        self.wants.add(topic)

    @precondition(lambda self: self.bit is not None and self.bit not in self.laggards)
    @rule(room=st.integers(1, 5))
    def fill(self, room: int) -> None:
        assert self.bit is not None
        self.laggards.fill(self.bit, b"")
        self.taker.room = room

    @precondition(lambda self: self.bit is not None and not self.wanted_behind)
    @rule()
    def break_off(self) -> None:
        assert self.bit is not None
        self.stamp = self.laggards.stamp(self.bit)
        self.core.close(self.bit)
        self.got += self.taker.got
        self.bit = None

    @precondition(lambda self: self.bit is None)
    @rule()
    def come_back(self) -> None:
        self.taker = _Taker()
        self.bit = self.core.open(self.taker, False)
        known = sorted(self.wants)
        self.laggards.resume(self.bit, self.stamp, b"", len(known) + 1)
        for n, topic in enumerate([*known, *sorted(self.fresh)], start=2):
            self.laggards.change(self.bit, n)
            self.core.subscribe(self.bit, [topic], [0])
        assert self.laggards.announced(self.bit)
        self.wanted_behind |= bool(self.fresh)
        self.wants |= self.fresh
        self.fresh.clear()

    @precondition(lambda self: self.bit is None)
    @rule(topic=st.sampled_from(TOPICS))
    def want_meanwhile(self, topic: Topic) -> None:
        """Begins to want a topic while there is no link. What came before the link is back came by no link, or by another one."""
        self.fresh |= {topic} - self.wants

    @precondition(lambda self: self.bit is not None and self.bit in self.laggards)
    @rule(room=st.integers(1, 4))
    def serve(self, room: int) -> None:
        assert self.bit is not None
        self.taker.room = room
        self.wanted_behind &= not self.laggards.serve(self.bit, self.taker.is_full)

    @invariant()
    def all_of_it_comes_once_and_in_order(self) -> None:
        """Compares what the link has got with what it is due (DPS-10, DPS-12)."""
        got = self.got + (self.taker.got if self.bit is not None else [])
        recorded = [n for n in got if n not in self.live]
        assert recorded == self.due[: len(recorded)]
        assert [n for n in got if n in self.live] == self.live
        if self.bit is not None and self.bit not in self.laggards:
            assert recorded == self.due
        assert self.other.got == list(range(self.published))


TestLaggardMachine = LaggardMachine.TestCase
TestLaggardMachine.settings = settings(max_examples=80, stateful_step_count=40)


def core_with(events: int) -> tuple[BrokerCore, _Taker, int]:
    core, taker = BrokerCore("sto", 7, window=EventWindow(7, {Kind.PLAYLIST: WindowBounds(events=events, bytes=10**9)}, 1 << 20)), _Taker()
    bit = core.open(taker, False)
    core.subscribe(bit, TOPICS, range(4))
    return core, taker, bit


def test_what_is_looked_at_in_one_turn_is_bounded() -> None:
    core, taker, bit = core_with(10**6)
    assert core.laggards is not None
    core.laggards.fill(bit, b"")
    for n in range(AT_ONCE + 10):
        core.publish(event(TOPICS[0], n))
    assert not core.laggards.serve(bit, lambda: False)
    assert len(taker.got) == AT_ONCE
    assert core.laggards.serve(bit, lambda: False)
    assert taker.got == list(range(AT_ONCE + 10))


@pytest.mark.parametrize("is_full", [False, True])
def test_what_was_replaced_while_a_link_was_behind_is_told_however_many_turns_it_is_served_in(
    is_full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """DPS-7, DPS-12: in the turn before, others of its events were passed by, and behind them the newest one said nothing of them."""
    monkeypatch.setattr(laggards, "AT_ONCE", 10 if is_full else 1)
    window = EventWindow(7, {Kind.PLAYLIST: WindowBounds(), Kind.USER: WindowBounds(keep="latest")}, 10**6)
    core, bodies = BrokerCore("sto", 7, window=window), list[bytes]()
    bit = core.open(SimpleNamespace(deliver=lambda handle, body: bodies.append(body)), False)
    core.subscribe(bit, [USER, *TOPICS], range(5))
    assert core.laggards is not None
    core.laggards.fill(bit, b"")
    for n in range(3):
        core.publish(Event(USER, b"", encode_tail("hm://presence/user/ann/", 1, str(n), "x", b"{}")))
        core.publish(event(TOPICS[n], n))
    while not core.laggards.serve(bit, lambda: is_full):
        pass
    assert [skipped_in(body) for body in bodies if b"presence" in body] == [2]


def test_what_has_gone_from_the_window_is_counted_and_the_rest_comes() -> None:
    """DPS-12"""
    core, taker, bit = core_with(10**6)
    assert core.laggards is not None
    core.laggards.fill(bit, b"")
    for n in range(20_000):
        core.publish(event(TOPICS[n % 4], n))
    assert core.window is not None
    gone = core.window.evicted
    assert gone > 0
    while not core.laggards.serve(bit, lambda: False):
        pass
    assert (taker.got, core.laggards.lost) == (list(range(gone, 20_000)), gone)


def test_another_site_gets_from_the_window_what_was_numbered_here_and_each_event_by_one_of_its_brokers() -> None:
    """DPS-10: rule 2 holds for what comes late, too, and nothing comes to a site twice."""
    rng = random.Random(10)
    owner = "b1"
    window = EventWindow(7, {Kind.PLAYLIST: WindowBounds(events=10**6, bytes=10**9)}, 10**9)
    core = BrokerCore("sto", 7, lambda site, topic: owner, window=window)
    here, one, two = _Taker(), _Taker(), _Taker()
    core.subscribe(core.open(here, False), TOPICS, range(4))
    bits = [core.open(taker, True, ("lon", slot)) for taker, slot in ((one, "b1"), (two, "b2"))]
    for bit in bits:
        core.subscribe(bit, TOPICS, range(4))
    assert core.laggards is not None
    core.laggards.fill(bits[0], core.opening(bits[0]))
    numbered = 0
    for n in range(200):
        owner = rng.choice(("b1", "b2"))
        if rng.random() < 0.3:
            core.relay([0], [b'{"op":"event","site":"lon","epoch":9,"seq":1,' + event(TOPICS[0], 1000 + n).tail])
        else:
            core.publish(event(TOPICS[n % 4], n))
            numbered += 1
    assert 0 < len(two.got) < numbered
    assert core.laggards.serve(bits[0], lambda: False)
    assert len(one.got) + len(two.got) == len({*one.got, *two.got}) == numbered
    assert max(one.got) < 1000


def test_who_is_gone_is_behind_no_more() -> None:
    core, _, bit = core_with(10)
    assert core.laggards is not None
    core.laggards.fill(bit, b"")
    core.close(bit)
    assert (len(core.laggards), core.laggards.live >> bit & 1) == (0, 1)
    assert not core.laggards.announced(bit)


def test_the_place_of_an_event_that_was_not_kept_is_not_given_to_a_link_that_is_behind() -> None:
    """DPS-12: aggregators got the name of a site instead of an event, and passed it on to clients."""
    window = EventWindow(7, {Kind.PLAYLIST: WindowBounds(bytes=80)}, 10**6)
    core = BrokerCore("sto", 7, window=window)
    taker = _Taker()
    bit = core.open(taker, False)
    core.subscribe(bit, TOPICS[:1], [0])
    assert core.laggards is not None
    core.laggards.fill(bit, core.opening(bit))
    core.publish(event(TOPICS[0], 1))  # alone over the bounds of its topic
    assert (len(window), taker.got) == (1, [])
    assert core.laggards.serve(bit, taker.is_full)
    assert taker.got == []
