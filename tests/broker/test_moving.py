"""What goes with topics that move, and who is waited for."""

import asyncio
from collections.abc import Iterator, Sequence

import pytest

from broker import moving
from broker.core import BrokerCore
from broker.inheritance import Inheritance
from broker.moving import MAX_STEPS, Destinations, TopicMoves, leaving
from broker.tenure import Tenure
from broker.window import EventWindow
from broker.window_bounds import WindowBounds
from infra.kernel.events import Event, encode_tail
from infra.kernel.frames import OLD_TAG, Frame, Hello, KeptEvents, Moved, Past, Sealed, View
from infra.kernel.ring import Ring
from infra.kernel.topics import Kind, Topic, format_topic, user_topic
from infra.runtime.link import Link
from tests.support.eventually import eventually
from tests.support.recording_wire import RecordingWire

SLOTS = ("b1", "b2", "b3")
ONE, TWO, THREE = (View(n + 1, SLOTS[: n + 1]) for n in range(3))
TOPICS = [user_topic(f"u{n}") for n in range(40)]
GOES = [topic for topic in TOPICS if ONE.ring.owner(topic) == "b1" and TWO.ring.owner(topic) == "b2"]


class Taker:
    """A link of an aggregator, that wants everything."""

    def deliver(self, handle: int, body: bytes) -> None:
        pass


class Site:
    """One broker, its moves, and links to others that keep what is said."""

    def __init__(self, me: str, *others: str, old: bool = False, tags: int = 34, epoch: int = 7) -> None:
        self.window = EventWindow(epoch, {Kind.USER: WindowBounds(keep="latest")}, 1 << 20) if tags > 34 else None
        self.core = BrokerCore("sto", epoch, window=self.window)
        self.core.subscribe(self.core.open(Taker(), False), TOPICS, range(len(TOPICS)))
        tags = OLD_TAG if old else tags
        self.wires = {slot: RecordingWire() for slot in others}
        self.links = {
            slot: Link(wire, Hello("broker", slot, "sto", 1, 1, View(0, ()), tags=tags), slot, 0.0, Link.flush)
            for slot, wire in self.wires.items()
        }
        self.suspected: set[str] = set()
        self.tenure = Tenure(me, epoch)
        self.inheritance = Inheritance(me, self.core, self.tenure, self.adopt)
        self.ended, self.have_announced = 0, True
        self.moves = TopicMoves(
            me,
            self.core,
            self.links,
            self.suspected.__contains__,
            1.0,
            self.over,
            self.inheritance,
            lambda view: self.have_announced,
        )

    def adopt(self, topics: Sequence[tuple[Topic, bool]]) -> None:
        self.core.recorded.adopt(topics)

    def over(self) -> None:
        self.ended += 1

    def publish(self, topic: Topic, event_id: str) -> None:
        self.core.publish(Event(topic, event_id.encode(), encode_tail(format_topic(topic), 1, event_id, "play", b"{}")))

    def said(self, slot: str) -> list[Frame]:
        return self.wires[slot].sent


async def turns() -> None:
    for _ in range(100):
        await asyncio.sleep(0)


async def test_numbers_and_ids_go_to_the_new_owner_before_the_seal_and_to_nobody_else() -> None:
    """DPS-13, DPS-14."""
    site = Site("b1", "b2", "b3")
    for topic in TOPICS:
        site.publish(topic, f"{topic.decode()}-id")
    site.moves.begin(ONE.ring, TWO, 0.0)
    await turns()
    assert (site.moves.is_over, site.ended, site.said("b3")) == (True, 1, [Sealed(TWO)])
    *moved, sealed = site.said("b2")
    assert sealed == Sealed(TWO)
    lasts = {topic: last for frame in moved for topic, last in zip(frame.topics, frame.lasts, strict=True) if any(last)}  # type: ignore[attr-defined]
    ids = {topic: ids for frame in moved for topic, ids in zip(frame.topics, frame.ids, strict=True) if ids}  # type: ignore[attr-defined]
    assert lasts.keys() == ids.keys() == {*GOES}
    assert all(epoch == 7 for epoch, _ in lasts.values())
    assert all(ids[topic] == [b"%b-id" % topic] for topic in GOES)
    assert site.core.numbers.last(GOES[0]) is None


async def test_the_window_goes_to_the_new_owner_before_the_seal_and_to_nobody_of_an_older_version() -> None:
    """DPS-13: and it is not believed before it is sealed."""
    site, heir = Site("b1", "b2", "b3", tags=42), Site("b2", "b1", tags=42, epoch=8)
    for topic in TOPICS:
        site.publish(topic, f"{topic.decode()}-id")
    assert {*site.moves.begin(ONE.ring, TWO, 0.0)} == {"b2"}
    await turns()
    said = site.said("b2")
    kept = [frame for frame in said if isinstance(frame, KeptEvents)]
    assert sorted(topic for frame in kept for topic in frame.topics) == sorted(GOES)
    assert [type(frame) for frame in said[-2:]] == [Past, Sealed]
    assert site.said("b3") == [Sealed(TWO)]
    heir.tenure.begin(ONE, TWO)
    heir.moves.take("b1", kept[0])
    assert heir.window is not None
    assert len(heir.window) == 0, "nobody was waited for"
    heir.moves.begin(ONE.ring, TWO, 0.0)
    for frame in said:
        if isinstance(frame, Moved | KeptEvents | Past | Sealed):
            heir.moves.take("b1", frame)
    assert (len(heir.window), heir.moves.is_over, [each.slot for each in heir.tenure.pasts]) == (len(GOES), True, ["b1"])
    before = Site("b1", "b2", tags=39)
    before.publish(GOES[0], "id")
    before.moves.begin(ONE.ring, TWO, 0.0)
    await turns()
    assert {type(frame) for frame in before.said("b2")} == {Moved, Sealed}


async def test_what_is_left_before_all_have_announced_is_said_to_the_new_owner_and_what_is_parted_from_behind_that_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """DPS-4: the new owner records what somebody has left. That its followers part from the former one it need not know."""
    monkeypatch.setattr(moving, "HEARS_S", 0.0)
    site = Site("b1", "b2", tags=42)
    site.have_announced = False
    left, spoken, *silent = GOES
    site.publish(spoken, "id")
    site.moves.begin(ONE.ring, TWO, 0.0)
    await turns()
    site.core.unsubscribe(0, [left])
    site.have_announced = True
    site.moves.announced()
    site.core.unsubscribe(0, [spoken, *silent])
    await turns()
    kept = [topic for frame in site.said("b2") if isinstance(frame, KeptEvents) for topic in frame.topics]
    assert (site.moves.is_over, sorted(kept)) == (True, sorted([left, spoken]))


async def test_a_step_in_which_nothing_goes_is_not_sealed_before_what_goes_in_the_one_before() -> None:
    """DPS-13: a seal is one of all steps up to its view. What came behind it would be passed over, and its numbers lost."""
    site = Site("b1", "b2", "b3")
    site.publish(GOES[0], "id")
    waits = View(3, SLOTS, (256, 256, 0), (256, 256, 256))
    site.moves.begin(ONE.ring, TWO, 0.0)
    site.moves.begin(TWO.ring, waits, 0.0)
    await turns()
    said = site.said("b2")
    assert [frame for frame in said if isinstance(frame, Sealed)] == said[-2:] == [Sealed(TWO), Sealed(waits)]
    assert isinstance(said[0], Moved)
    assert site.moves.is_over


async def test_a_new_owner_takes_what_comes_until_the_seal_and_nothing_of_a_stranger() -> None:
    site = Site("b2", "b1")
    topic, other = GOES[:2]
    site.moves.begin(ONE.ring, TWO, 0.0)
    assert (site.moves.is_over, site.moves.awaited) == (False, ["b1"])
    site.moves.take("b3", Moved([topic], [(9, 9)], [[]]))
    site.moves.take("b1", Moved([topic, other], [(6, 41), (0, 0)], [[b"id"], []]))
    site.moves.take("b1", Sealed(ONE))
    assert not site.moves.is_over, "that is the seal of an earlier view"
    site.moves.take("b1", Sealed(TWO))
    assert (site.moves.is_over, site.ended) == (True, 1)
    site.moves.take("b1", Moved([topic], [(6, 99)], [[]]))
    assert (site.core.numbers.last(topic), site.core.numbers.last(other)) == ((6, 41), None)
    site.publish(topic, "id")
    assert site.core.duplicates == 1


async def test_a_former_owner_that_is_suspected_is_waited_for_until_the_limit_and_a_busy_one_for_as_long_as_it_takes() -> None:
    site = Site("b2", "b1")
    site.moves.begin(ONE.ring, TWO, 5.0)
    site.moves.tick(99.0)
    assert not site.moves.is_over
    site.suspected.add("b1")
    site.moves.tick(5.9)
    assert not site.moves.is_over
    site.moves.tick(6.0)
    assert site.moves.is_over


async def test_who_is_dead_or_of_an_older_version_is_not_waited_for() -> None:
    site = Site("b2", "b1")
    site.suspected.add("b1")
    site.moves.begin(ONE.ring, View(2, ("b2",)), 0.0)
    assert site.moves.is_over
    old = Site("b2", "b1", old=True)
    old.moves.begin(ONE.ring, TWO, 0.0)
    assert (old.moves.is_over, old.said("b1")) == (True, [])


async def test_what_has_come_is_there_before_it_goes_on() -> None:
    """Two views, one soon after the other: what the second takes further is what came with the first."""
    site = Site("b2", "b1", "b3")
    away = next(topic for topic in GOES if THREE.ring.owner(topic) == "b3")
    site.moves.begin(ONE.ring, TWO, 0.0)
    site.moves.begin(TWO.ring, THREE, 0.0)
    await turns()
    assert site.said("b3") == [Sealed(TWO)]
    site.moves.take("b1", Moved([away], [(6, 41)], [[]]))
    site.moves.take("b1", Sealed(THREE))
    await turns()
    assert site.moves.is_over
    assert site.said("b3") == [Sealed(TWO), Moved([away], [(6, 41)], [[]]), Sealed(THREE)]


async def test_who_is_linked_anew_hears_that_all_is_said_and_a_seal_that_came_early_counts() -> None:
    site = Site("b2", "b1")
    site.moves.link_up("b1")
    assert site.said("b1") == []
    site.moves.take("b1", Sealed(TWO))
    site.moves.begin(ONE.ring, TWO, 0.0)
    assert site.moves.is_over
    site.moves.link_up("b1")
    assert site.said("b1") == [Sealed(TWO)] * 2
    site.moves.begin(ONE.ring, View(3, TWO.slots), 0.0)
    assert site.moves.awaited == ["b1"], "what it said on the link before says nothing of this life"


async def test_of_more_views_than_may_be_under_way_the_oldest_is_not_waited_for() -> None:
    site = Site("b2", "b1")
    for n in range(MAX_STEPS + 1):
        site.moves.begin(ONE.ring, View(n + 2, TWO.slots), 0.0)
    site.moves.take("b1", Sealed(View(99, TWO.slots)))
    assert site.moves.is_over


async def test_a_link_that_is_full_is_given_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "PAUSE_S", 0.001)
    site = Site("b1", "b2")
    site.publish(GOES[0], "id")
    site.links["b2"].full = 1
    site.wires["b2"].queued_bytes = 1 << 30
    site.moves.begin(ONE.ring, TWO, 0.0)
    await turns()
    assert len(site.said("b2")) == 1
    site.links["b2"].full = site.wires["b2"].queued_bytes = 0
    await eventually(lambda: site.moves.is_over)
    assert len(site.said("b2")) == 3


@pytest.mark.parametrize(("after", "is_paced"), [(TWO, True), (View(2, ("b2",)), False)])
async def test_who_hands_over_much_by_plan_pauses_in_between(monkeypatch: pytest.MonkeyPatch, after: View, *, is_paced: bool) -> None:
    """DPS-15: what is not planned goes as fast as it can."""
    works: list[Iterator[float]] = []
    monkeypatch.setattr(moving, "in_turns", works.append)
    monkeypatch.setattr(moving, "LOOK_PAUSE_S", 1e-4)
    site = Site("b1", "b2", tags=42)
    for topic in TOPICS:
        site.publish(topic, "id")
    site.moves.begin(ONE.ring, after, 0.0)
    pauses = [pause for work in works for pause in work if pause]
    # The numbers, the ids and the window of all topics.
    assert pauses == (pytest.approx([4e-3] * 3) if is_paced else [])
    assert site.moves.is_over


def test_what_leaves_comes_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moving, "AT_ONCE", 3)
    site = Site("b1")
    for topic in TOPICS:
        site.publish(topic, "id")
    found: Iterator[Moved] = (frame for _, frame in leaving(site.core, Destinations("b1", ONE.ring, Ring(("b2",)))) if frame is not None)
    sizes = [len(frame.topics) for frame in found]
    assert max(sizes) <= 3
    assert sum(sizes) == 2 * len(TOPICS)
