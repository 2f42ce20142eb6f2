"""Events go to heirs first: when they are let out, in which order, and what becomes of those that wait when the view changes (DPS-18)."""

import itertools
from collections.abc import Iterator, Sequence

import pytest

from broker.core import BrokerCore
from broker.event_router import EventRouter
from broker.forwarder import Forwarder
from broker.handover import Handover
from broker.heir_briefing import HeirBriefing
from broker.heir_stream import Fate
from broker.heirs import Heirs
from broker.inheritance import Inheritance
from broker.publication_order import PublicationOrder
from broker.tenure import Tenure
from broker.window import EventWindow
from broker.window_bounds import WindowBounds
from infra.kernel.events import Event, origin_epoch_seq
from infra.kernel.frames import HIGHEST_TAG, Copies, CopiesHeld, Hello, KeptEvents, Moved, Past, Publish, Published, View
from infra.kernel.topics import Kind, Topic, format_topic, parse_topic
from infra.runtime.link import Link
from tests.support.recording_wire import RecordingWire

ALL, LEFT, ALONE = View(1, ("b1", "b2", "b3")), View(2, ("b1", "b2")), View(3, ("b1",))
LISTS = [parse_topic(f"hm://playlist/user/ann/playlist/p{n}/") for n in range(200)]
MINE = [topic for topic in LISTS if ALL.ring.owner(topic) == "b1"]
ONE, OTHER = [topic for topic in MINE if ALL.ring.heir(topic) == "b3"][:2]
ELSEWHERE = next(topic for topic in MINE if ALL.ring.heir(topic) == "b2")
EPOCH = 7


class Owner:
    """The broker b1 with an aggregator that wants everything, and links to b2 and b3 that keep what is said."""

    def __init__(self, *, tags: int = HIGHEST_TAG, max_waiting_bytes: int = 1 << 20, wanted: Sequence[Topic] = MINE) -> None:
        self.window = EventWindow(EPOCH, {Kind.PLAYLIST: WindowBounds(copies=1)}, 1 << 20)
        self.core = BrokerCore("sto", EPOCH, window=self.window)
        self.got: list[tuple[int, int]] = []
        self.fates: list[Fate] = []
        self.bit = self.core.open(self, far=False)
        self.core.subscribe(self.bit, wanted, range(len(wanted)))
        self.tags = tags
        self.wires: dict[str, RecordingWire] = {}
        self.links: dict[str, Link] = {}
        self.work: list[Iterator[float]] = []
        self.is_settled = True
        kinds = frozenset({Kind.PLAYLIST})
        inheritance = Inheritance("b1", self.core, Tenure("b1", EPOCH), lambda topics: None)
        briefing = HeirBriefing("b1", self.core, kinds, self.links, inheritance, lambda: self.is_settled, self.work.append)
        self.heirs = Heirs("b1", self.core, kinds, self.links, briefing, max_waiting_bytes)
        self.core.marks = self.heirs.marks

    def deliver(self, handle: int, body: bytes) -> None:
        self.got.append((handle, origin_epoch_seq(body)[2]))

    def link(self, *slots: str) -> None:
        for slot in slots:
            self.wires[slot] = RecordingWire()
            hello = Hello("broker", slot, "sto", 1, 1, View(0, ()), tags=self.tags)
            self.links[slot] = Link(self.wires[slot], hello, slot, 0.0, Link.flush)
            self.heirs.link_up(slot)

    def cut(self, slot: str) -> None:
        del self.links[slot]
        self.heirs.link_down(slot)

    def follow(self, view: View, *, is_out: bool = False) -> None:
        self.heirs.follow(view, view.ring, is_out=is_out)

    def run(self) -> None:
        """Does what is done in turns."""
        while self.work:
            for _ in itertools.islice(self.work.pop(0), 1000):
                pass

    def publish(self, *topics: Topic, event_id: bytes = b"") -> None:
        for topic in topics:
            event = Event(topic, event_id, b'"topic":"%b","payload":{}}' % format_topic(topic).encode())
            self.heirs.publish(event, self.fates.append)
        self.heirs.flush()

    def said(self, slot: str) -> list[Copies]:
        return [frame for frame in self.wires[slot].sent if isinstance(frame, Copies)]

    def held(self, slot: str, n: int | None = None) -> None:
        """Has an heir say that it has everything, or what is up to `n`."""
        last = self.said(slot)[-1]
        self.heirs.take(slot, CopiesHeld(last.stream, last.n if n is None else n))


def whole() -> Owner:
    owner = Owner()
    owner.follow(ALL)
    owner.link("b2", "b3")
    owner.run()
    return owner


def kept(copies: Sequence[Copies]) -> list[tuple[int, int]]:
    """Returns the places of the events that were given."""
    parts = [part for frame in copies for part in frame.parts if isinstance(part, KeptEvents)]
    return [place for part in parts for place in zip(part.epochs, part.stamps, strict=True)]


def test_an_event_is_let_out_when_its_heir_has_it_and_not_before() -> None:
    """DPS-18: to links, to the window and to its publisher. The stamps that links are told say neither more nor less."""
    owner = whole()
    stream = owner.said("b3")[-1].stream
    owner.publish(ONE, ONE, OTHER)
    assert (owner.got, owner.fates, len(owner.window)) == ([], [], 0)
    assert owner.core.stamps(owner.bit) == {EPOCH: 0, stream: 0, owner.said("b2")[-1].stream: 0}
    assert kept(owner.said("b3")[-1:]) == [(stream, 1), (stream, 2), (stream, 3)], "one frame for all of them"
    owner.held("b3", 2)
    assert [seq for _, seq in owner.got] == [1, 2]
    assert owner.core.stamps(owner.bit)[stream] == 2
    owner.held("b3", 99)
    assert (len(owner.got), owner.fates, owner.heirs.waiting_bytes) == (3, [Fate.LET_OUT] * 3, 0)
    assert owner.core.stamps(owner.bit)[EPOCH] == owner.window.stamp == 3


def test_an_heir_that_does_not_answer_stops_its_own_topics_and_no_others() -> None:
    """DPS-18."""
    owner = whole()
    owner.publish(ONE, ELSEWHERE)
    owner.held("b2")
    assert owner.fates == [Fate.LET_OUT]
    owner.heirs.take("b3", CopiesHeld(12345, 1))
    owner.heirs.take("b9", CopiesHeld(12345, 1))
    assert len(owner.fates) == 1, "the word of another stream, or of a stranger, is none"


def test_what_waits_goes_to_the_next_heir_when_the_view_changes_and_out_where_there_is_none() -> None:
    """DPS-18: with the numbers that it has, in order."""
    owner = whole()
    owner.publish(ONE, ONE)
    owner.follow(LEFT)
    assert owner.fates == []
    assert len([place for place in kept(owner.said("b2")) if place[0] == owner.said("b2")[-1].stream]) == 2
    owner.publish(ONE)
    owner.held("b2")
    assert ([seq for _, seq in owner.got], owner.fates) == ([1, 2, 3], [Fate.LET_OUT] * 3)
    owner.publish(ONE)
    owner.follow(ALONE)
    assert ([seq for _, seq in owner.got], owner.heirs.uncopied) == ([1, 2, 3, 4], 1)
    owner.publish(ONE)
    assert [seq for _, seq in owner.got] == [1, 2, 3, 4, 5]


def test_what_waits_of_a_topic_that_moves_is_as_if_it_had_not_come() -> None:
    """DPS-18, DPS-14: its number and its id are free again, so its new owner takes it for a new one."""
    owner = whole()
    owner.publish(ONE, event_id=b"a")
    owner.held("b3")
    owner.publish(ONE, event_id=b"b")
    before = owner.core.numbers.last(ONE)
    more = View(5, (*ALL.slots, *(f"c{n}" for n in range(40))))
    assert more.ring.owner(ONE) != "b1", "choose another topic"
    owner.follow(more)
    assert owner.fates == [Fate.LET_OUT, Fate.MOVED]
    assert (before, owner.core.numbers.last(ONE)) == ((EPOCH, 2), (EPOCH, 1))
    assert [event_id for _, event_id in owner.core.known_ids()] == [b"a"]


@pytest.mark.parametrize("hops", [0, 1, 2])
def test_what_waits_goes_on_with_its_topic_however_often_it_was_forwarded_before(hops: int) -> None:
    """DPS-17, DPS-18: a plan that is changed at once moves a topic again before its heir has what waits."""
    owner, after, failed = whole(), View(2, ("b2", "b3")), list[list[int]]()
    forwarder = Forwarder()
    router = EventRouter("b1", owner.core.publish, forwarder, Handover("b1"), PublicationOrder(1.0), owner.heirs)
    new_owner = after.ring.owner(ONE)
    assert new_owner is not None
    forwarder.up(new_owner, owner.links[new_owner])
    router.follow(ALL.ring, 0.0)
    router.submit([Event(ONE, b"", b'"topic":"t","payload":{}')], hops, failed.append)
    router.follow(after.ring, 1.0)
    owner.follow(after)
    went = [frame for frame in owner.wires[new_owner].sent if isinstance(frame, Publish)]
    assert [(frame.hops, frame.topics) for frame in went] == [(min(hops + 1, 2), [ONE])]
    assert failed == []
    forwarder.published(new_owner, Published(1))
    assert (failed, router.misrouted) == ([[]], 0)


def test_whoever_is_left_out_does_not_know_what_becomes_of_what_waits() -> None:
    """DPS-18: the heir may have it, so it is not sent anywhere else."""
    owner = whole()
    owner.publish(ONE, event_id=b"a")
    owner.follow(View(2, ("b2", "b3")), is_out=True)
    assert (owner.fates, owner.got) == ([Fate.UNKNOWN], [])


def test_a_repeated_publication_is_answered_when_the_first_one_is_let_out() -> None:
    """DPS-18, DPS-14: once, and not before it is certain."""
    owner = whole()
    owner.publish(ONE, ONE, event_id=b"a")
    assert owner.fates == []
    owner.held("b3")
    assert (owner.fates, len(owner.got)) == ([Fate.LET_OUT] * 2, 1)
    owner.publish(ONE, event_id=b"a")
    assert len(owner.fates) == 3


def test_an_heir_is_told_of_what_there_was_before_and_at_last_that_it_has_everything() -> None:
    """DPS-18: each topic once, before the first new event on it. Until then the metric shows it."""
    owner = Owner()
    owner.follow(ALONE)
    owner.publish(ONE, OTHER, event_id=b"a")
    owner.is_settled = False
    owner.follow(ALL)
    owner.link("b2", "b3")
    assert owner.heirs.uncopied == 2
    owner.publish(ONE)
    frames = owner.said("b3")
    stream = frames[-1].stream
    assert (kept(frames), [frame.anew for frame in frames]) == ([(EPOCH, 1), (stream, 1)], [True, True, False])
    owner.run()
    assert owner.heirs.uncopied == 2, "what has come to it may be on its way"
    owner.is_settled = True
    owner.follow(ALL)
    owner.run()
    frames = owner.said("b3")
    assert kept(frames) == [(EPOCH, 1), (stream, 1), (EPOCH, 2)]
    ids = [ids for frame in frames for part in frame.parts if isinstance(part, Moved) for ids in part.ids if ids]
    assert ids == [[b"a"], [b"a"]]
    (past,) = frames[-1].parts
    assert isinstance(past, Past)
    assert (past.number, owner.heirs.uncopied) == (ALL.number, 0)


def test_whoever_has_everything_is_told_only_what_is_new_under_another_view() -> None:
    owner = whole()
    owner.publish(ONE)
    owner.held("b3")
    before = len(owner.said("b3"))
    owner.follow(View(2, ALL.slots))
    assert owner.heirs.uncopied == 2
    owner.run()
    assert [type(part) for frame in owner.said("b3")[before:] for part in frame.parts] == [Past]
    assert owner.heirs.uncopied == 0


def test_another_link_is_another_stream_with_all_that_waits() -> None:
    """DPS-18: nobody knows what came over the one that is lost."""
    owner = whole()
    owner.publish(ONE)
    stream = owner.said("b3")[-1].stream
    owner.cut("b3")
    owner.publish(ONE)
    owner.heirs.take("b3", CopiesHeld(stream, 9))
    owner.got.clear()
    owner.link("b3")
    owner.run()
    assert owner.said("b3")[-1].stream != stream
    owner.held("b3")
    assert owner.fates == [Fate.LET_OUT] * 2


def test_one_that_is_no_heir_any_more_is_told_nothing_and_begins_anew_when_it_is_one_again() -> None:
    """DPS-18: what it was still being told went between the parts of the new stream, and it took the rest for everything."""
    owner = Owner()
    owner.follow(ALONE)
    owner.publish(ONE)
    owner.is_settled = False
    owner.follow(ALL)
    owner.link("b2", "b3")
    owner.follow(LEFT)
    owner.follow(View(3, ALL.slots))
    owner.publish(ONE)
    (stream,) = {frame.stream for frame in owner.said("b3")}
    owner.is_settled = True
    owner.run()
    assert {frame.stream for frame in owner.said("b3")} == {stream}


def test_an_heir_of_an_older_version_has_nothing_and_stops_nothing() -> None:
    owner = Owner(tags=42)
    owner.follow(ALL)
    owner.publish(ONE)
    assert owner.fates == []
    owner.link("b2", "b3")
    owner.publish(ONE)
    assert (owner.fates, owner.heirs.uncopied, owner.said("b3")) == ([Fate.LET_OUT] * 2, 2, [])


def test_so_much_waits_and_no_more() -> None:
    owner = Owner(max_waiting_bytes=1000)
    owner.follow(ALL)
    owner.publish(*[ONE] * 20)
    assert owner.heirs.refused == len(owner.fates) > 10
    assert set(owner.fates) == {Fate.UNKNOWN}
    assert owner.heirs.waiting_bytes <= 1000


def test_what_nobody_wants_uses_its_number_up_at_the_heir_too() -> None:
    """An heir that did not hear of it would give the number again."""
    owner = Owner(wanted=[])
    owner.follow(ALL)
    owner.link("b2", "b3")
    owner.core.numbers.inherit(ONE, (3, 4))
    owner.publish(ONE)
    moved = [part for frame in owner.said("b3") for part in frame.parts if isinstance(part, Moved)]
    assert moved[-1].lasts == [(3, 5)]
    owner.held("b3")
    assert (owner.fates, owner.core.unmatched) == ([Fate.LET_OUT], 1)


@pytest.mark.parametrize("stamp", range(5))
def test_whoever_is_behind_is_told_how_far_copies_had_come_there(stamp: int) -> None:
    """DPS-12, DPS-18: as much as the window has given them, and no more."""
    owner = whole()
    owner.publish(*[ONE] * 4)
    owner.held("b3")
    stream = owner.said("b3")[-1].stream
    assert owner.heirs.marks(stamp)[stream] == stamp
    owner.window.tick(0.0)
    owner.heirs.tick()
    assert owner.heirs.marks(None)[stream] == 4


def test_after_a_split_an_heir_has_nothing_before_it_is_told_everything_anew() -> None:
    """DPS-18, DPS-19: what waits goes to it again, and what it had of topics that were served twice counts no more."""
    owner = whole()
    owner.publish(ONE)
    owner.held("b3")
    owner.publish(ONE)
    before = owner.said("b3")[-1].stream
    owner.core.numbers.begin_epoch(EPOCH + 1, lambda topic: True)
    owner.heirs.split()
    assert owner.heirs.uncopied == 2
    owner.heirs.take("b3", CopiesHeld(before, 2))
    assert len(owner.fates) == 1, "that was of the stream before"
    owner.run()
    anew = [frame for frame in owner.said("b3") if frame.stream != before]
    assert len(kept(anew)) == 2
    assert (owner.heirs.uncopied, isinstance(anew[-1].parts[-1], Past)) == (0, True)
    owner.held("b3")
    assert owner.fates == [Fate.LET_OUT, Fate.LET_OUT]
