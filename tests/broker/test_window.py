"""The window against a dumb model: a list of everything that was ever recorded."""

import gc
import random
import tracemalloc
from collections import defaultdict
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from broker.window import EVENT_BYTES, PLACE_BYTES, TOPIC_BYTES, EventWindow
from broker.window_bounds import WindowBounds
from broker.window_origins import InheritedTopic, SeenStamps
from infra.kernel.events import encode_tail, kind_in, numbering, with_skipped
from infra.kernel.topics import Kind, Topic

URIS = {
    Kind.USER: "hm://presence/user/u{}/",
    Kind.PLAYLIST: "hm://playlist/user/u/playlist/p{}/",
    Kind.INBOX: "hm://notifications/inbox/u{}/",
}
BOUNDS = {
    Kind.USER: WindowBounds(keep="latest", seconds=2.0, bytes=400),
    Kind.PLAYLIST: WindowBounds(events=4, bytes=900, seconds=5.0),
}


def event(kind: Kind, topic: int, seq: int, pad: int = 0) -> bytes:
    tail = encode_tail(URIS[kind].format(topic), 1, "x", "play", b'{"pad":"%b"}' % (b"p" * pad))
    return b"%b%d,%b" % (numbering("sto", 7), seq, tail)


class Entry(NamedTuple):
    """An event that was recorded; `was_out` where the event was not delivered."""

    stamp: int
    row: int
    kind: Kind
    body: bytes
    at_s: float
    was_out: bool


class WindowMachine(RuleBasedStateMachine):
    """Events, ticks and questions in any order. Rows are even for users and odd for playlists."""

    MAX_BYTES = 6000

    def __init__(self) -> None:
        super().__init__()
        self.window = EventWindow(7, BOUNDS, self.MAX_BYTES)
        self.everything: list[Entry] = []
        self.now_s, self.seq = 0.0, 0
        self.forgotten: dict[int, int] = {}
        self.ticks: list[tuple[float, int]] = []

    @rule(row=st.integers(0, 7), pad=st.sampled_from([0, 20, 200, 2000]), out=st.booleans())
    def record(self, row: int, pad: int, out: bool) -> None:
        kind = Kind.PLAYLIST if row % 2 else Kind.USER
        self.seq += 1
        body = event(kind, row, self.seq, pad)
        self.window.record(row, body, b"sto", out=out)
        self.everything.append(Entry(self.window.stamp, row, kind, body, self.now_s, out))

    @rule(step_s=st.sampled_from([0.5, 0.5, 1.0, 4.0]))
    def tick(self, step_s: float) -> None:
        self.now_s += step_s
        self.window.tick(self.now_s)
        self.ticks.append((self.now_s, self.window.stamp))

    @rule(row=st.integers(0, 7))
    def forget(self, row: int) -> None:
        self.window.forget(row)
        self.forgotten[row] = self.window.stamp

    def too_old(self, kind: Kind) -> int:
        """Returns the stamp of the last tick that is as old as the kind allows."""
        return max((stamp for at_s, stamp in self.ticks if at_s <= self.now_s - BOUNDS[kind].seconds), default=0)

    def kept(self, row: int) -> list[Entry]:
        """Returns what the bounds of a topic and its kind leave of it."""
        kind = Kind.PLAYLIST if row % 2 else Kind.USER
        bounds = BOUNDS[kind]
        mine = [each for each in self.everything if each.row == row and each.stamp > self.forgotten.get(row, 0)]
        sizes = [len(b"sto") if each.was_out or len(each.body) > bounds.bytes else len(each.body) for each in mine]
        first, start = 0, 0
        for end in range(1, len(mine) + 1):  # as it came, event by event
            start = max(end - (1 if bounds.keep == "latest" else bounds.events), first)
            while sum(sizes[start:end]) > bounds.bytes:
                start += 1
            first = start
        return [each for each in mine[first:] if each.stamp > max(self.too_old(kind), self.window.evicted)]

    @invariant()
    def has_what_the_bounds_leave(self) -> None:
        """Compares everything that is there with the model (DPS-2)."""
        kept = sorted((each for row in range(8) for each in self.kept(row)), key=lambda each: each.stamp)
        bodies = {each.stamp: each.body for each in kept if not each.was_out and len(each.body) <= BOUNDS[each.kind].bytes}
        found = list(self.window.after(0))
        assert [stamp for stamp, _, _ in found] == list(bodies)
        assert all(body.endswith(bodies[stamp][len(b'{"op":"event",') :]) for stamp, _, body in found)
        assert len(self.window) == len(kept)
        assert self.window.topics == len({each.row for each in kept})
        places = self.window.stamp + 1 - (self.window._first + self.window._front) - len(kept)
        used = sum(len(bodies.get(each.stamp, b"sto")) + EVENT_BYTES for each in kept) + TOPIC_BYTES * self.window.topics
        assert self.window.used_bytes == used + PLACE_BYTES * places <= self.MAX_BYTES

    @invariant()
    def says_true_only_where_nothing_is_missing(self) -> None:
        """Compares what is told of each topic with the model: it is whole, or there is the right reason (DPS-5)."""
        for row in range(8):
            kind = Kind.PLAYLIST if row % 2 else Kind.USER
            mine = [each for each in self.everything if each.row == row]
            for stamp in {0, self.window.evicted, self.too_old(kind), self.window.stamp, self.window.stamp // 2}:
                if stamp < self.forgotten.get(row, 0):
                    continue  # whoever forgets a topic sees to it that nobody asks from before
                bodies, reason = self.window.topic_after(row, kind, stamp)
                missed = [each for each in mine if each.stamp > stamp]
                unkept = [each for each in missed if each.was_out or len(each.body) > BOUNDS[kind].bytes]
                if reason == "evicted":
                    assert stamp < self.window.evicted
                elif reason == "expired":
                    assert stamp < self.too_old(kind)
                elif reason == "offloaded":
                    assert any(each.was_out for each in unkept)
                elif reason == "too-much":
                    assert unkept or kind is Kind.PLAYLIST
                    assert len(bodies) < len(missed)
                elif kind is Kind.USER:
                    assert len(bodies) == min(len(missed), 1)
                    assert not missed or bodies[0].endswith(missed[-1].body[len(b'{"op":"event",') :])
                    assert (len(missed) > 1) <= (b'"skipped":' in (bodies or [b""])[0])
                else:
                    assert bodies == [each.body for each in missed]


TestWindowMachine = WindowMachine.TestCase
TestWindowMachine.settings = settings(max_examples=60, stateful_step_count=40)


def test_a_kind_without_bounds_is_not_recorded_and_a_body_that_names_no_topic_does_no_harm() -> None:
    """DPS-3"""
    window = EventWindow(7, BOUNDS, 10_000)
    for body in (event(Kind.INBOX, 1, 1), b"", b"{}", b'{"topic":"\xff"', b'{"topic":"hm://presence/user/'):
        window.record(1, body, b"sto")
    assert (window.stamp, len(window), window.used_bytes) == (0, 0, 0)
    assert window.topic_after(1, Kind.INBOX, 0).reason == "no-window"


def test_a_stamp_that_was_never_given_is_none_of_this_owner() -> None:
    """DPS-9"""
    window = EventWindow(7, BOUNDS, 10_000)
    window.record(1, event(Kind.PLAYLIST, 1, 1), b"sto")
    assert window.topic_after(1, Kind.PLAYLIST, 1) == ([], "")
    assert window.topic_after(1, Kind.PLAYLIST, 2).reason == "owner-lost"
    assert window.topic_after(None, Kind.PLAYLIST, 1) == ([], "")


def test_the_latest_event_says_how_many_it_replaced_to_whoever_lacks_one_of_them() -> None:
    """DPS-7"""
    window = EventWindow(7, BOUNDS, 10_000)
    bodies = [event(Kind.USER, 1, seq) for seq in range(1, 4)]
    for body in bodies:
        window.record(0, body, b"sto")
    assert window.topic_after(0, Kind.USER, 0).bodies == [with_skipped(bodies[2], 2)]
    assert window.topic_after(0, Kind.USER, 2).bodies == [bodies[2]]
    assert window.topic_after(0, Kind.USER, 3).bodies == []


def test_the_newest_stamp_of_a_topic_is_that_of_its_last_event_also_of_one_that_was_not_kept() -> None:
    window = EventWindow(7, BOUNDS, 10_000)
    assert (window.newest(None), window.newest(0)) == (0, 0)
    for seq in (1, 2):
        window.record(0, event(Kind.USER, 1, seq), b"sto")
        window.record(1, event(Kind.PLAYLIST, 1, seq), b"sto")
    assert (window.newest(0), window.newest(1)) == (3, 4)
    window.record(0, event(Kind.USER, 1, 3), b"sto", out=True)
    assert window.newest(0) == 5


def test_of_each_site_where_a_topic_is_numbered_the_latest_event_is_kept() -> None:
    """DPS-7: another site gets what was numbered here, although a newer one has come from elsewhere."""
    window = EventWindow(7, BOUNDS, 10_000)
    bodies = [event(Kind.USER, 1, seq).replace(b'"sto"', b'"%b"' % site) for seq, site in enumerate((b"sto", b"lon", b"sto", b"lon"))]
    window.record(0, bodies[0], b"sto")
    window.record(0, bodies[1], b"lon")
    assert window.topic_after(0, Kind.USER, 0).bodies == bodies[:2]
    window.record(0, bodies[2], b"sto", out=True)
    assert window.topic_after(0, Kind.USER, 1).reason == "offloaded"
    window.record(0, bodies[3], b"lon")
    assert window.topic_after(0, Kind.USER, 2).reason == "offloaded"
    window.record(0, bodies[2], b"sto")
    assert window.topic_after(0, Kind.USER, 4).bodies == [bodies[2]]
    assert [stamp for stamp, _, _ in window.after(0, b'{"op":"event","site":"lon"')] == [4]


def test_who_lacks_what_was_replaced_of_one_site_hears_so_although_something_older_of_another_site_was_replaced_since() -> None:
    """DPS-7, DPS-1: the last one that was replaced is not the newest of them. Seed 55: an epoch did not say what it goes on from."""
    window = EventWindow(7, BOUNDS, 10_000)
    sites = (b"sto", b"lon", b"sto", b"sto", b"lon")
    bodies = [event(Kind.USER, 1, seq).replace(b'"sto"', b'"%b"' % site) for seq, site in enumerate(sites, 1)]
    for body, site in zip(bodies, sites, strict=True):
        window.record(0, body, site)
    assert window.topic_after(0, Kind.USER, 2).bodies == [with_skipped(body, 3) for body in bodies[3:]]
    assert window.topic_after(0, Kind.USER, 3).bodies == bodies[3:], "who has the newest that was replaced lacks none of them"
    past, heir = window.past(0), EventWindow(8, BOUNDS, 10_000)
    assert past is not None
    heir.inherit(0, Topic(b"Uu0"), past)
    for at, told in ((2, 3), (3, 0)):
        missed = heir.moved_after(0, SeenStamps({7: at}, frozenset({7, 8})))
        assert missed.bodies == [with_skipped(body, told) if told else body for body in bodies[3:]]


@pytest.mark.parametrize("origin", [7, 9], ids=["recorded here", "come from elsewhere"])
def test_what_has_gone_here_does_not_come_back_behind_what_came_later(origin: int) -> None:
    """DPS-5, DPS-6: a topic that is back at once. Another window has kept an event for longer, which had come there later."""
    playlist, first, second = Topic(b"Pu/p1"), *(event(Kind.PLAYLIST, 1, seq) for seq in (1, 2))
    mine, other = EventWindow(7, BOUNDS, 10_000), EventWindow(8, BOUNDS, 10_000)

    def tick(now_s: float) -> None:
        for window in (mine, other):
            window.tick(now_s)

    tick(0.0)
    if origin == 7:
        mine.record(1, first, b"sto")
    else:
        mine.inherit(1, playlist, InheritedTopic([((origin, 3), first)]))
    tick(1.0)
    other.inherit(1, playlist, goes(mine))
    tick(4.0)
    mine.record(1, second, b"sto")
    tick(6.0)
    other.inherit(1, playlist, goes(mine))
    assert [body for _, body in goes(other).entries] == [first, second]
    for now_s in (9.5, 10.0):
        mine.inherit(1, playlist, goes(other))
        assert [body for _, body in goes(mine).entries] == [second]
        tick(now_s)
        assert [body for _, body in goes(other).entries] == [second]


def test_what_another_window_lost_stands_behind_what_is_here_and_not_from_there() -> None:
    """DPS-2, DPS-5: a topic that is back at once, and was too large there. Who has its last event of before lacks what went."""
    playlist, bounds = Topic(b"Pu/p1"), {Kind.PLAYLIST: WindowBounds(bytes=900)}
    mine, other = EventWindow(7, bounds, 10_000), EventWindow(8, bounds, 10_000)
    bodies = [event(Kind.PLAYLIST, 1, seq, pad) for seq, pad in ((1, 0), (2, 400), (3, 400))]
    mine.tick(0.0)
    mine.record(1, bodies[0], b"sto")
    other.inherit(1, playlist, goes(mine))
    for body in bodies[1:]:
        other.record(1, body, b"sto")
    mine.inherit(1, playlist, goes(other))
    assert [body for _, body in goes(mine).entries] == [bodies[0], bodies[2]]
    assert [mine.is_whole_behind(1, body.__eq__) for body in bodies] == [False, False, True]


@pytest.mark.parametrize("has_first", [False, True])
def test_what_was_lost_behind_something_stands_behind_it_at_the_next_owner_too(has_first: bool) -> None:
    """DPS-2, DPS-5: all that came with a topic was taken for later than what it had lost, also what had stood in front of that."""
    playlist, bounds = Topic(b"Pu/p1"), {Kind.PLAYLIST: WindowBounds(bytes=900)}
    mine, other, third = (EventWindow(epoch, bounds, 10_000) for epoch in (7, 8, 9))
    bodies = [event(Kind.PLAYLIST, 1, seq, pad) for seq, pad in ((1, 0), (2, 400), (3, 400))]
    for window in (mine, *[third] * 5):
        window.tick(0.0)
    mine.record(1, bodies[0], b"sto")
    if has_first:
        third.inherit(1, playlist, goes(mine))
    other.inherit(1, playlist, goes(mine))
    for body in bodies[1:]:
        other.record(1, body, b"sto")
    mine.inherit(1, playlist, goes(other))
    third.inherit(1, playlist, goes(mine))
    assert [body for _, body in goes(third).entries] == [bodies[0], bodies[2]]
    assert [third.is_whole_behind(1, body.__eq__) for body in bodies] == [False, False, True]


def goes(window: EventWindow) -> InheritedTopic:
    """Returns what a window says of a topic to the next owner."""
    past = window.past(1)
    assert past is not None
    return past


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), min_size=1, max_size=60), st.integers(0, 60))
def test_what_follows_a_stamp_comes_in_order_whatever_the_topics(told: list[tuple[int, bool]], stamp: int) -> None:
    window, bodies = EventWindow(7, {kind: WindowBounds() for kind in BOUNDS}, 10**6), []
    for seq, (row, is_playlist) in enumerate(told):
        kind = Kind.PLAYLIST if is_playlist else Kind.USER
        bodies.append((2 * row + is_playlist, event(kind, row, seq)))
        window.record(*bodies[-1], b"sto")
    assert [(row, body) for _, row, body in window.after(stamp)] == bodies[stamp:]


def test_memory_of_events_and_topics_is_what_is_counted_and_stays_within_the_bound() -> None:
    """DPS-2: an event costs its body and 120 B, a topic with events 300 B; places before the oldest are given up. It holds within 5 %."""
    rng = random.Random(4)
    bound = 4 << 20
    window = EventWindow(7, {Kind.PLAYLIST: WindowBounds(events=8), Kind.USER: WindowBounds(keep="latest")}, bound)
    for row in range(12_000):  # the cache of parsed topics is no part of it
        event_kind = Kind.PLAYLIST if row % 2 else Kind.USER
        assert kind_in(event(event_kind, row, 1)) is event_kind
    gc.collect()
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for seq in range(30_000):
        kind, row = (Kind.PLAYLIST, 2 * rng.randrange(1500) + 1) if seq % 2 else (Kind.USER, 2 * rng.randrange(6000))
        window.record(row, event(kind, row, seq, 120), b"sto")
    used = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert window.used_bytes > 0.95 * bound
    assert used <= 1.05 * bound
    assert len(window._bodies) < 1.5 * (window.stamp - window.evicted)


def test_a_stamp_of_no_event_has_its_place_within_the_bound_of_memory_too() -> None:
    """DPS-2: a broker that has taken over topics gives one."""
    body = event(Kind.PLAYLIST, 1, 1)
    window = EventWindow(7, BOUNDS, TOPIC_BYTES + EVENT_BYTES + len(body))
    window.record(1, body, b"sto")
    window.give_stamp()
    assert window.used_bytes <= window.max_bytes
    assert window.evicted == 1


@pytest.mark.parametrize("seconds", [2.0, 5.0])
def test_kinds_of_different_ages_leave_when_their_time_has_come(seconds: float) -> None:
    bounds = {Kind.USER: WindowBounds(seconds=2.0), Kind.PLAYLIST: WindowBounds(seconds=5.0)}
    window, left = EventWindow(7, bounds, 10**6), defaultdict(list)
    for beat in range(20):
        window.record(0, event(Kind.USER, 0, beat), b"sto")
        window.record(1, event(Kind.PLAYLIST, 1, beat), b"sto")
        window.tick(beat / 2)
        for _, row, body in window.after(0):
            left[row].append((beat, body))
    row = 0 if seconds == 2.0 else 1
    assert max(sum(at == beat for at, _ in left[row]) for beat in range(20)) == 2 * seconds
