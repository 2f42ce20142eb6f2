"""What an aggregator says to an access point: that all has been passed on which brokers had sent (fences), and what may be missing."""

import asyncio
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

from aggregator.core import LEFT_AT_ONCE, AggregatorCore
from aggregator.losses import ORPHANED_BEATS
from aggregator.points import CAUGHT_UP_BEATS, LEAVE_COST, AccessPoints, FeedingLink
from broker.client import BrokerLink, SiteClient
from infra.kernel.frames import (
    HIGHEST_TAG,
    AnyFrame,
    Applied,
    Deliver,
    Fence,
    Fenced,
    Heartbeat,
    Hello,
    Inherited,
    Keeps,
    Lost,
    Recall,
    Recalled,
    Sealed,
    Subscribe,
    Unsubscribe,
    View,
)
from infra.kernel.roles import ACCESSPOINT, BROKER
from infra.kernel.shares import SHARE, Shares
from infra.kernel.topics import Topic, format_topic, parse_topic, user_topic
from infra.runtime.link import MAX_DELIVER_BYTES, Link
from tests.support.recording_wire import RecordingWire

LISTS = [parse_topic(f"hm://playlist/user/ann/playlist/p{n}/") for n in range(24)]
BOTH, LEFT, BACK = View(1, ("b1", "b2")), View(2, ("b1",)), View(3, ("b1", "b2"), (256, 0), (256, 256))


OF_B2 = {topic for topic in LISTS if BOTH.ring.owner(topic) == "b2"}


class FencedSite:
    """An aggregator with links to the brokers b1 and b2, and an access point that asks for fences."""

    def __init__(self, *slots: str) -> None:
        nobody: Any = None  # it dials nobody
        self.steps: list[Callable[[], None]] = []
        self.view = View(1, slots or ("b1", "b2"))
        self.brokers = SiteClient(nobody, "sto", {slot: f"x{slot[1]}" for slot in self.view.slots}, wanted=lambda: ())
        self.points = AccessPoints(AggregatorCore(), self.brokers, lambda: None, Shares(lambda step: self.steps.append(step)))
        self.links = {slot: self.link_up(slot) for slot in self.view.slots}
        self.wire = RecordingWire()
        self.point = self.points.link_up(self.link(self.wire, Hello(ACCESSPOINT, "ap1", "sto", 1, 1, View(0, ()), tags=HIGHEST_TAG), None))
        for slot in self.links:
            self.answer(slot)

    def link(self, wire: RecordingWire, hello: Hello, dialled: str | None) -> Link:
        return Link(wire, hello, dialled, 0.0, Link.flush)

    def link_up(self, slot: str, process: int = 1) -> Link:
        link = self.link(RecordingWire(), Hello(BROKER, slot, "sto", 1, process, self.view, tags=HIGHEST_TAG), f"x{slot[1]}")
        self.brokers.link_up(link)
        self.points.broker_up(slot, process)
        return link

    def hear(self, slot: str, *frames: Any) -> None:
        self.brokers.frames(self.links[slot], frames)
        self.brokers.taken(self.links[slot])
        self.points.follow_ring()

    def lose(self, slot: str) -> None:
        self.brokers.link_down(self.links[slot])
        self.points.tell_all()

    def answer(self, slot: str) -> None:
        """Has a broker answer everything that it was told, behind what its link lacked."""
        self.brokers.frames(self.links[slot], [Applied(1 << 60, {"sto": 1 << 60})])
        self.points.tell_all()

    def fenced(self) -> list[int]:
        return [frame.n for frame in self.wire.sent if isinstance(frame, Fenced)]


def test_a_fence_waits_for_a_broker_that_brings_what_was_missed_when_its_link_is_back() -> None:
    """DPS-11: whoever goes on at this aggregator has had that from another one, and would get it again."""
    for is_lost_before in (True, False):
        site = FencedSite()
        if is_lost_before:
            site.lose("b2")
        site.point.frames([Fence(7)])
        if not is_lost_before:
            site.lose("b2")
        site.answer("b1")
        assert site.fenced() == []
        site.links["b2"] = site.link_up("b2")
        site.points.tell_all()
        assert site.fenced() == []
        site.answer("b2")
        assert site.fenced() == [7]


def test_a_fence_waits_no_longer_for_a_broker_that_is_out_or_cannot_be_reached() -> None:
    """DPS-5: the access point may have nobody else who delivers."""
    site = FencedSite()
    site.lose("b2")
    site.point.frames([Fence(7)])
    site.answer("b1")
    site.brokers.set_view(View(2, ("b1",)))
    site.answer("b1")
    assert site.fenced() == [7]
    site = FencedSite()
    site.lose("b2")
    site.point.frames([Fence(8)])
    site.answer("b1")
    for _ in range(CAUGHT_UP_BEATS):
        site.points.tick()
    assert site.fenced() == []
    site.points.tick()
    assert site.fenced() == [8]


@pytest.mark.parametrize(("slots", "told"), [(("b1",), [[b"Uann"]]), (("b1", "b2"), [])])
async def test_nobody_waits_for_heirs_where_there_is_no_other_broker(slots: tuple[str, ...], told: list[list[bytes]]) -> None:
    """DPS-8: a broker was there again before it was missed, and its followers heard of `owner-lost` two seconds too late."""
    site = FencedSite(*slots)
    site.points.keep(Keeps({"user": ("latest", 4.0)}, ["user"]))
    site.points.broker_up("b1", 1)
    site.points.follow_ring()
    assert site.brokers.announcer.ring.owner(Topic(b"Uann")) == "b1"
    site.point.frames([Subscribe(1, [0], [b"Uann"])])
    site.points.broker_down("b1")
    site.points.broker_up("b1", 2)
    await asyncio.sleep(0)  # the next turn, in which it is told
    assert [frame.topics for frame in site.wire.sent if isinstance(frame, Lost)] == told


class BatchedSite(FencedSite):
    """The same, whose links are flushed behind a batch, as nodes do."""

    def link(self, wire: RecordingWire, hello: Hello, dialled: str | None) -> Link:
        return Link(wire, hello, dialled, 0.0, lambda link: None)


@pytest.mark.parametrize("behind", [Recalled(1, [LISTS[0]], [""], [0], [], {7: 6}, 7, [6]), Lost([LISTS[0]], "too-much")])
def test_events_in_front_of_an_answer_go_with_the_stamps_that_came_with_them(behind: Recalled | Lost) -> None:
    """DPS-11: an access point that loses us in the next half second is given by the next aggregator what it has not heard stamps of."""
    site = BatchedSite("b1")
    feeding = FeedingLink(BrokerLink(site.brokers, site.links["b1"]), site.points._core, site.points, lambda: None)
    site.hear("b1", Heartbeat(site.view, {7: 5}))
    site.point.frames([Subscribe(1, [3, 4], [*LISTS[:2]]), Recall(8, [LISTS[0]], {7: 1})])
    row = site.points._core.interest.rows[LISTS[1]]
    site.point.link.flush()
    site.wire.sent.clear()
    feeding.frames([Deliver([row], [b"six"], {7: 6}), behind, Deliver([row], [b"seven"], {7: 7})])
    site.point.link.flush()
    first, _, last = site.wire.sent
    assert (first, last) == (Deliver([4], [b"six"], {7: 6}), Deliver([4], [b"seven"], {7: 7}))


def test_parts_of_a_large_batch_go_without_a_word_but_for_the_last_one() -> None:
    """DPS-11: the stamps of the batch before would say that what they have is still to come."""
    site = BatchedSite("b1")
    feeding = FeedingLink(BrokerLink(site.brokers, site.links["b1"]), site.points._core, site.points, lambda: None)
    site.hear("b1", Heartbeat(site.view, {7: 5}))
    site.point.frames([Subscribe(1, [3, 4], [*LISTS[:2]])])
    row = site.points._core.interest.rows[LISTS[1]]
    site.point.link.flush()
    site.wire.sent.clear()
    large = b"x" * (MAX_DELIVER_BYTES // 2 + 1)
    feeding.frames([Deliver([row], [large], {7: 6}), Deliver([row, row], [large, b"last"], {7: 8})])
    site.point.link.flush()
    parts = [(frame.bodies[-1][-4:], frame.stamps) for frame in site.wire.sent if isinstance(frame, Deliver)]
    assert parts == [(b"xxxx", {}), (b"last", {7: 8})]


class RestartedSite(FencedSite):
    """The same, where playlists have copies: b2 is started again before it was missed, and its access point wants to know what it loses."""

    def __init__(self) -> None:
        super().__init__()
        hello = Hello(ACCESSPOINT, "ap2", "sto", 1, 1, View(0, ()), tags=HIGHEST_TAG)
        self.wire = RecordingWire()
        self.points.keep(Keeps({"playlist": ("all", 60)}, ["playlist"]))
        self.point = self.points.link_up(self.link(self.wire, hello, None))
        self.point.frames([Subscribe(1, list(range(len(LISTS))), list(LISTS))])
        self.hear("b2", Heartbeat(BOTH, {7: 5}))

    def restart(self) -> None:
        """Has b2 killed, and linked again as another process, before any view says so."""
        self.points.broker_down("b2")
        self.brokers.link_down(self.links["b2"])
        self.links["b2"] = self.link_up("b2", process=2)

    async def lost(self) -> set[bytes]:
        await asyncio.sleep(0)  # it is told in the next turn
        return {topic for frame in self.wire.sent if isinstance(frame, Lost) for topic in frame.topics}


@pytest.mark.parametrize("has_everything", [True, False])
async def test_what_an_heir_says_of_a_broker_counts_also_where_that_is_back_already(has_everything: bool) -> None:
    """DPS-5, DPS-8, DPS-18: those who follow hear of a loss where there is one, and nowhere else."""
    site = RestartedSite()
    site.restart()
    site.hear("b1", Heartbeat(LEFT), Heartbeat(BACK))
    site.hear("b2", Sealed(BACK), Heartbeat(BACK, {9: 1}))
    assert site.points.orphaned == 1
    # What has gone to the new process since is no loss either.
    site.hear("b2", Heartbeat(View(4, ("b1", "b2"), (256, 128), (256, 256))))
    site.hear("b1", Inherited("b2", ["playlist"] if has_everything else []))
    assert site.points.orphaned == 0
    assert await site.lost() == (set() if has_everything else {topic for topic in LISTS if BOTH.ring.owner(topic) == "b2"})


@pytest.mark.parametrize("is_back", [True, False])
async def test_a_fence_waits_for_what_heirs_give_of_a_broker_that_is_lost(is_back: bool) -> None:
    """DPS-11, DPS-18: whoever comes has had that from another aggregator, and whoever goes would not get it."""
    site = RestartedSite()
    site.point.frames([Fence(7)])
    site.answer("b1")
    if is_back:
        site.restart()
        site.answer("b2")
        assert site.fenced() == [], "its next process has nothing of what it had sent"
    else:
        site.points.broker_down("b2")
        site.brokers.link_down(site.links["b2"])
    site.hear("b1", Heartbeat(LEFT))
    site.answer("b1")
    assert site.fenced() == []
    site.hear("b1", Inherited("b2", ["playlist"]))
    site.points.tell_all()
    assert site.fenced() == [7]


async def test_a_fence_does_not_wait_for_heirs_that_say_nothing_for_ever() -> None:
    """DPS-5: the access point may have nobody else who delivers."""
    site = RestartedSite()
    site.point.frames([Fence(7)])
    site.restart()
    site.answer("b2")
    site.hear("b1", Heartbeat(LEFT))
    site.answer("b1")
    for _ in range(CAUGHT_UP_BEATS + 1):
        site.points.tick()
    assert site.fenced() == [7]


@pytest.mark.parametrize("hung", [True, False])
async def test_what_an_heir_has_said_of_one_loss_says_nothing_of_the_next(hung: bool) -> None:
    """DPS-8: also where the first was none, since the broker only hung."""
    site = RestartedSite()
    if not hung:
        site.restart()
    site.hear("b1", Heartbeat(LEFT), Heartbeat(BACK), Inherited("b2", ["playlist"]))
    site.hear("b2", Sealed(BACK), Heartbeat(BACK, {9: 1}))
    whole = View(4, ("b1", "b2"))
    for slot in ("b1", "b2"):
        site.hear(slot, Sealed(whole), Heartbeat(whole, {10: 1}))
    site.points.broker_down("b2")
    site.brokers.link_down(site.links["b2"])
    site.links["b2"] = site.link_up("b2", process=3)
    assert site.points.orphaned == 1, "nobody has said anything of this loss"
    site.hear("b1", Heartbeat(View(5, ("b1",))), Inherited("b2", []))
    assert site.points.orphaned == 0
    assert await site.lost() == {topic for topic in LISTS if BOTH.ring.owner(topic) == "b2"}


@pytest.mark.parametrize("has_everything", [True, False])
@pytest.mark.parametrize("order", ["link", "view"])
async def test_heirs_are_asked_also_where_both_views_are_heard_in_one(has_everything: bool, order: str) -> None:
    """DPS-5, DPS-8, DPS-18: the one without the broker, and the one with its new process. All of it was told as lost."""
    site = RestartedSite()
    if order == "link":
        site.restart()
        site.hear("b1", Heartbeat(BACK))
    else:
        site.points.broker_down("b2")
        site.brokers.link_down(site.links["b2"])
        site.hear("b1", Heartbeat(BACK))
        site.links["b2"] = site.link_up("b2", process=2)
    assert site.points.orphaned == 1
    site.hear("b1", Inherited("b2", ["playlist"] if has_everything else []))
    for _ in range(2 * CAUGHT_UP_BEATS):
        site.points.tick()
    assert await site.lost() == (set() if has_everything else OF_B2)


async def test_who_finds_late_that_a_link_was_half_open_hears_of_all_that_its_broker_had() -> None:
    """DPS-8: its new process had a part of the ring by then. Only what was of that part was told."""
    site = RestartedSite()
    site.hear("b1", Heartbeat(LEFT), Heartbeat(BACK), Heartbeat(View(4, ("b1", "b2"), (256, 32), (256, 256))))
    site.restart()
    site.hear("b1", Inherited("b2", []))
    assert await site.lost() == OF_B2


async def test_who_finds_late_that_a_link_was_half_open_hears_of_all_that_its_broker_had_before_a_step() -> None:
    """DPS-8: nobody had missed the former process, and its slot had a smaller part of the ring by then."""
    site = RestartedSite()
    site.hear("b1", Heartbeat(View(4, ("b1", "b2"), (256, 32), (256, 0))))
    site.restart()
    for _ in range(2 * CAUGHT_UP_BEATS):
        site.points.tick()
    assert await site.lost() == OF_B2


async def test_who_hung_and_is_back_has_lost_what_it_has_now_when_it_dies() -> None:
    """DPS-8: and nothing of what others own since then."""
    site, grown = RestartedSite(), View(4, ("b1", "b2"), (256, 32), (256, 256))
    site.hear("b1", Heartbeat(LEFT), Heartbeat(BACK), Inherited("b2", ["playlist"]), Heartbeat(grown))
    site.hear("b2", Sealed(grown), Heartbeat(grown, {7: 9}))
    site.restart()
    site.hear("b1", Heartbeat(View(5, ("b1",))), Inherited("b2", []))
    assert await site.lost() == {topic for topic in LISTS if grown.ring.owner(topic) == "b2"} != OF_B2


async def test_what_moved_while_its_owner_was_not_linked_is_told_when_the_owner_has_answered() -> None:
    """DPS-5, DPS-8: what comes behind that is not missing."""
    site, little = RestartedSite(), View(4, ("b1", "b2"), (256, 32), (256, 256))
    site.points.broker_down("b2")
    site.brokers.link_down(site.links["b2"])
    site.hear("b1", Heartbeat(little))
    site.links["b2"] = site.link_up("b2")
    assert await site.lost() == set()
    site.answer("b1")
    site.answer("b2")
    site.points.tick()
    assert await site.lost() == OF_B2 - {topic for topic in LISTS if little.ring.owner(topic) == "b2"} != set()


@pytest.mark.parametrize("has_everything", [True, False])
async def test_no_stamps_are_said_while_a_loss_is_untold(has_everything: bool) -> None:
    """DPS-8: whoever went on at another aggregator with those of the next process would hear there that nothing is missing."""
    site = RestartedSite()
    site.hear("b1", Heartbeat(BOTH, {5: 1}))
    stamps = site.point.link.stamps
    assert stamps is not None
    assert stamps() == {5: 1, 7: 5}
    site.restart()
    site.hear("b2", Heartbeat(BOTH, {9: 1}))
    site.hear("b1", Heartbeat(LEFT))
    assert stamps() == {}
    site.hear("b1", Inherited("b2", ["playlist"] if has_everything else []))
    assert stamps() == {}
    assert await site.lost() == (set() if has_everything else OF_B2)
    await asyncio.sleep(0)  # the turn in which nothing is left to be told
    assert stamps().items() >= {5: 1, 9: 1}.items()


async def test_no_stamps_are_said_while_it_is_untold_what_moved_unseen() -> None:
    """DPS-8: neither by the owner whose link is back, nor by others."""
    site, little = RestartedSite(), View(4, ("b1", "b2"), (256, 32), (256, 256))
    site.hear("b1", Heartbeat(BOTH, {5: 1}))
    site.points.broker_down("b2")
    site.brokers.link_down(site.links["b2"])
    site.hear("b1", Heartbeat(little))
    site.links["b2"] = site.link_up("b2")
    site.hear("b2", Heartbeat(little, {7: 6}))
    stamps = site.point.link.stamps
    assert stamps is not None
    assert stamps() == {}
    site.answer("b1")
    site.answer("b2")
    site.points.tick()
    assert stamps() == {}
    assert await site.lost() != set()
    await asyncio.sleep(0)
    assert stamps() == {5: 1, 7: 6}


def body_of(topic: Topic) -> bytes:
    return b'{"site":"sto","epoch":1,"seq":1,"topic":"%b","ts":1,"kind":"play","payload":{}}' % format_topic(topic).encode()


class DoubtedSite(RestartedSite):
    """The same, where b2 is alive and goes on, whatever views say of it. `topic` is one of its topics."""

    def __init__(self) -> None:
        super().__init__()
        self.topic = min(OF_B2)
        self.row = self.points._core.interest.rows[self.topic]
        self.feeding = FeedingLink(BrokerLink(self.brokers, self.links["b2"]), self.points._core, self.points, lambda: None)
        self.hear("b1", Heartbeat(BOTH, {5: 1}))

    def publish(self, *behind: AnyFrame) -> None:
        """Has b2 send an event, and with it what stands `behind` it."""
        self.feeding.frames([Deliver([self.row], [body_of(self.topic)], {7: 6}), *behind])

    def given(self) -> list[bytes]:
        return [body for frame in self.wire.sent if isinstance(frame, Deliver) for body in frame.bodies]


@pytest.mark.parametrize("behind", [[], [Heartbeat(LEFT), Sealed(LEFT)]])
@pytest.mark.parametrize("has_everything", [True, False])
async def test_what_a_broker_lets_out_that_is_out_is_told_as_lost_where_no_heir_has_it(
    has_everything: bool, behind: list[AnyFrame]
) -> None:
    """DPS-8: nobody gives it. One that had no heir, or one without everything, went on until it had heard of the view: nobody was told."""
    site = DoubtedSite()
    site.hear("b1", Heartbeat(LEFT))
    site.publish(*behind)
    stamps = site.point.link.stamps
    assert stamps is not None
    assert site.given() == []
    assert (await site.lost(), stamps()) == (set(), {})
    site.hear("b1", Inherited("b2", ["playlist"] if has_everything else []))
    assert await site.lost() == (set() if has_everything else {site.topic})
    await asyncio.sleep(0)  # the turn in which nothing is left to be told
    assert stamps() != {}


async def test_a_fence_waits_until_heirs_have_said_what_they_have_of_what_was_passed_over() -> None:
    """DPS-11: whoever goes to another aggregator would not get there what an heir still gives here."""
    site = DoubtedSite()
    site.hear("b1", Heartbeat(LEFT))
    site.point.frames([Fence(7)])
    site.publish(Applied(1 << 60, {"sto": 1 << 60}))
    site.answer("b1")
    assert site.fenced() == []
    site.hear("b1", Inherited("b2", ["playlist"]))
    site.points.tell_all()
    assert site.fenced() == [7]


async def test_what_an_heir_may_have_that_says_nothing_is_told_as_lost_after_a_while() -> None:
    """DPS-8: it may hang."""
    site = DoubtedSite()
    site.hear("b1", Heartbeat(LEFT))
    site.publish()
    for _ in range(ORPHANED_BEATS):
        site.points.tick()
    assert await site.lost() == set()
    site.points.tick()
    assert await site.lost() == {site.topic}


def test_an_event_counts_that_came_before_its_broker_said_that_it_is_out() -> None:
    """DPS-8: heirs were told that it had come, so they do not give it; and it was passed over for what stood behind it."""
    site = DoubtedSite()
    site.publish(Heartbeat(LEFT))
    assert site.given() == [body_of(site.topic)]


async def test_a_second_loss_of_a_broker_does_not_hide_the_first() -> None:
    """DPS-8: its heirs had not answered yet when it was gone again, with the little that it had by then."""
    site, grown = RestartedSite(), View(4, ("b1", "b2"), (256, 32), (256, 256))
    site.restart()
    site.hear("b1", Heartbeat(LEFT), Heartbeat(BACK), Heartbeat(grown))
    site.hear("b2", Sealed(grown), Heartbeat(grown, {9: 1}))
    site.points.broker_down("b2")
    site.brokers.link_down(site.links["b2"])
    site.links["b2"] = site.link_up("b2", process=3)
    assert site.points.orphaned == 2
    site.hear("b1", Heartbeat(View(5, ("b1",))))
    site.hear("b1", Inherited("b2", []))
    for _ in range(2 * CAUGHT_UP_BEATS):
        site.points.tick()
    assert await site.lost() == OF_B2


def test_what_an_access_point_wanted_that_is_gone_is_withdrawn_a_share_in_each_turn() -> None:
    """DPS-26: a hundred thousand topics held up all other access points for 0.3 s."""
    site, topics = FencedSite("b1"), [user_topic(f"u{n}") for n in range(20 * LEFT_AT_ONCE)]
    site.point.frames([Subscribe(1, list(range(len(topics))), list(topics))])
    wire = site.links["b1"].wire
    assert isinstance(wire, RecordingWire)

    def withdrawn() -> int:
        return sum(len(frame.topics) for frame in wire.sent if isinstance(frame, Unsubscribe))

    site.point.down("closed")
    assert len(site.points) == 0
    counts = [withdrawn()]
    while counts[-1] < len(topics):
        steps, site.steps = site.steps, []
        assert steps, "nobody goes on"
        for step in steps:
            step()
        counts.append(withdrawn())
    assert max(after - before for before, after in pairwise([0, *counts])) <= -(-SHARE // LEAVE_COST) * LEFT_AT_ONCE
    assert site.points.topics_in_limbo == len(topics)
