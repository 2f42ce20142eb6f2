"""Who says that topics were served in two parts of a site, to whom, and what becomes of their numbers."""

import asyncio
from collections.abc import Callable

import pytest
from msgspec.structs import replace

from broker.core import BrokerCore
from broker.splits import Splits
from broker.tenure import Tenure
from infra.kernel.frames import OLD_TAG, Apart, Hello, View
from infra.kernel.loss_reasons import LossReason
from infra.kernel.membership import Membership, Timing
from infra.kernel.steps import was_left_out
from infra.kernel.topics import Topic, user_topic
from infra.runtime.link import Link
from tests.support.recording_wire import RecordingWire

TOPICS = [user_topic(f"u{n}") for n in range(40)]
TOGETHER = View(1, ("b1", "b2", "b3"))
HERE, THERE = View(2, ("b1", "b2")), View(3, ("b3",))
MINE = {topic for topic in TOPICS if HERE.ring.owner(topic) == "b1"}


class Taker:
    """A link of an aggregator, that wants everything."""

    def deliver(self, handle: int, body: bytes) -> None:
        pass


class OneBroker:
    """The broker b1, its links to others, which keep what is said, and what its followers are told."""

    def __init__(self, *others: str, old: bool = False) -> None:
        self.core = BrokerCore("sto", 7)
        self.core.subscribe(self.core.open(Taker(), False), TOPICS, range(len(TOPICS)))
        for topic in TOPICS:
            self.core.numbers.inherit(topic, (5, 1))
        tags = OLD_TAG if old else 39
        self.wires = {slot: RecordingWire() for slot in others}
        self.links: dict[str, Link] = {}
        self.hellos = {slot: Hello("broker", slot, "sto", 1, 1, View(0, ()), tags=tags) for slot in others}
        self.told: list[Topic] = []
        self.tenure = Tenure("b1", 7)
        self.splits = Splits("b1", self.core, self.tenure, self.links, self.tell)

    def tell(self, concerns: Callable[[Topic], bool], reason: LossReason) -> None:
        assert reason == LossReason.SPLIT
        self.told += filter(concerns, TOPICS)

    def link(self, slot: str, process: int = 1) -> None:
        """Links `slot`, whose process says a number. What was sent to it before is forgotten."""
        self.wires[slot].sent.clear()
        self.links[slot] = Link(self.wires[slot], replace(self.hellos[slot], incarnation=process), slot, 0.0, Link.flush)
        self.splits.link_up(slot)

    @property
    def broken_off(self) -> set[Topic]:
        return {topic for topic in TOPICS if self.core.numbers.last(topic) != (5, 1)}


async def turns() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_whoever_was_left_out_tells_their_followers_and_each_other_broker_once() -> None:
    """DPS-19: those linked by then at once, the others when a link stands."""
    broker = OneBroker("b2", "b3")
    broker.splits.follow(HERE, has_served=True)
    broker.link("b2")
    broker.splits.follow(View(3, ("b2", "b3")), has_served=True)
    await turns()
    assert set(broker.told) == MINE
    assert broker.broken_off == set()  # they are others' by now
    broker.splits.follow(View(4, ("b1", "b2", "b3")), has_served=True)
    broker.link("b3")
    assert [broker.wires[slot].sent for slot in ("b2", "b3")] == [[Apart(HERE)], [Apart(HERE)]]


async def test_what_was_on_its_way_when_a_link_broke_is_told_again_and_not_to_a_process_that_is_newer() -> None:
    """DPS-19: nobody had heard of it, so who followed at the others lacked events, and no `split` was told."""
    broker = OneBroker("b2", "b3")
    broker.splits.follow(HERE, has_served=True)
    broker.link("b2")
    broker.splits.follow(View(3, ("b2", "b3")), has_served=True)
    for _ in range(2):
        broker.link("b2")
        assert broker.wires["b2"].sent == [Apart(HERE)]
    broker.link("b2", process=2)
    assert broker.wires["b2"].sent == []
    broker.link("b3", process=2)
    assert broker.wires["b3"].sent == [Apart(HERE)], "it had not been told"


async def test_whoever_hung_and_never_saw_the_view_without_them_tells_of_it_when_they_are_taken_in_anew() -> None:
    """DPS-19: the heir had published meanwhile. Nobody told those who follow that something may be missing."""
    both = View(2, ("b0", "b1"))
    owner, hung = (Membership(slot, both.slots, 0.0, Timing(), steps=8) for slot in both.slots)
    for slot in both.slots:
        for broker in (owner, hung):
            broker.offer(both)
            broker.told(slot, 2, knows=True)
    owner.heard("b1", 0.0)
    assert owner.tick(3.0)
    owner.told("b0", owner.view.number, knows=True)
    owner.heard("b1", 3.1)
    owner.heard("b1", 5.5)
    assert owner.tick(5.7)
    assert owner.view.number == both.number + 2
    assert hung.offer(owner.view)
    left_out = OneBroker("b0")
    left_out.splits.follow(both, has_served=True)
    left_out.link("b0")
    left_out.splits.follow(hung.view, has_served=True)
    await turns()
    assert set(left_out.told) == {topic for topic in TOPICS if both.ring.owner(topic) == "b1"}
    assert left_out.wires["b0"].sent == [Apart(both)]


@pytest.mark.parametrize(
    "after",
    [
        View(3, ("b1", "b2"), (224, 256), (0, 256)),  # it is drained
        View(3, ("b1", "b2"), (0, 256), (0, 256)),
        View(3, ("b1", "b2", "b3"), (256, 256, 0), (256, 256, 256)),  # another one comes
    ],
)
async def test_who_has_less_or_nothing_as_planned_was_not_left_out(after: View) -> None:
    assert not was_left_out("b1", HERE, after)
    assert not was_left_out("b1", View(3, ("b1", "b2"), (0, 256), (0, 256)), View(4, ("b1", "b2"), (0, 256), (256, 256)))


async def test_who_hears_of_another_part_tells_of_what_both_served_and_of_nothing_else() -> None:
    """DPS-19: once for each view, however many say it."""
    broker = OneBroker()
    broker.splits.follow(HERE, has_served=True)
    for _ in range(2):
        broker.splits.take(Apart(THERE))
    await turns()
    assert sorted(broker.told) == sorted(MINE)
    assert broker.broken_off == MINE
    assert all(broker.tenure.descend(topic, {7: 0}).reason == LossReason.SPLIT for topic in MINE)
    broker.splits.take(Apart(TOGETHER))  # who hung: they served what they had before, and we do so since
    await turns()
    both = {topic for topic in MINE if TOGETHER.ring.owner(topic) != "b1"}
    assert sorted(broker.told[len(MINE) :]) == sorted(both)
    assert both != MINE


async def test_who_leaves_or_begins_or_stays_was_never_apart() -> None:
    broker = OneBroker("b2")
    broker.splits.follow(View(1, ("b2",)), has_served=True)  # not taken in yet
    broker.splits.follow(HERE, has_served=True)
    broker.splits.follow(TOGETHER, has_served=False)
    broker.splits.follow(View(9, ("b2", "b3")), has_served=False)
    broker.link("b2")
    await turns()
    assert (broker.told, broker.wires["b2"].sent) == ([], [])


async def test_who_had_nothing_under_a_view_has_served_nothing_under_it() -> None:
    """DPS-19: it had just come into the view, by a process that was over. Clients heard of a split where none was."""
    broker = OneBroker("b2", "b3")
    broker.splits.follow(View(1, ("b2",)), has_served=True)
    broker.splits.follow(View(2, ("b1", "b2", "b3"), (0, 256, 0), (256, 256, 256)), has_served=True)
    for slot in ("b2", "b3"):
        broker.link(slot)
    broker.splits.follow(View(3, ("b2", "b3"), (256, 0), (256, 256)), has_served=True)
    await turns()
    assert (broker.told, broker.wires["b2"].sent, broker.wires["b3"].sent) == ([], [], [])


async def test_what_nobody_can_mean_and_who_cannot_read_it_are_passed_over() -> None:
    broker = OneBroker("b2", old=True)
    broker.splits.follow(HERE, has_served=True)
    broker.splits.take(Apart(View(3, ("b3",), (1, 2))))
    broker.link("b2")
    broker.splits.follow(View(3, ("b2",)), has_served=True)
    await turns()
    assert broker.wires["b2"].sent == []
    assert set(broker.told) == MINE  # their own followers hear of it all the same
