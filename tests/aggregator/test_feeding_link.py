"""What an aggregator takes of a broker, in which order, and what of that it passes on."""

import asyncio

import pytest

from aggregator.feeding_link import FeedingLink
from aggregator.open_losses import ORPHANED_BEATS
from broker.client import BrokerLink
from infra.kernel.frames import (
    AnyFrame,
    Applied,
    Deliver,
    Fence,
    Heartbeat,
    Hello,
    Inherited,
    Lost,
    Recall,
    Recalled,
    Sealed,
    Subscribe,
    View,
)
from infra.kernel.topics import Topic, format_topic
from infra.runtime.link import MAX_DELIVER_BYTES, Link
from tests.support.fenced_site import BOTH, LEFT, LISTS, OF_B2, FencedSite, RestartedSite
from tests.support.recording_wire import RecordingWire


class BatchedSite(FencedSite):
    """The same, whose links are flushed behind a batch, as nodes do."""

    def link(self, wire: RecordingWire, hello: Hello, dialled: str | None) -> Link:
        return Link(wire, hello, dialled, 0.0, lambda link: None)


@pytest.mark.parametrize("behind", [Recalled(1, [LISTS[0]], [""], [0], [], {7: 6}, 7, [6]), Lost([LISTS[0]], "too-much")])
def test_events_in_front_of_an_answer_go_with_the_stamps_that_came_with_them(behind: Recalled | Lost) -> None:
    """DPS-11: an access point that loses us in the next half second is given by the next aggregator what it has not heard stamps of."""
    site = BatchedSite("b1")
    feeding = FeedingLink(BrokerLink(site.brokers, site.links["b1"]), site.points, lambda: None)
    site.hear("b1", Heartbeat(site.view, {7: 5}))
    site.point.frames([Subscribe(1, [3, 4], [*LISTS[:2]]), Recall(8, [LISTS[0]], {7: 1})])
    row = site.core.interest.rows[LISTS[1]]
    site.point.link.flush()
    site.wire.sent.clear()
    feeding.frames([Deliver([row], [b"six"], {7: 6}), behind, Deliver([row], [b"seven"], {7: 7})])
    site.point.link.flush()
    first, _, last = site.wire.sent
    assert (first, last) == (Deliver([4], [b"six"], {7: 6}), Deliver([4], [b"seven"], {7: 7}))


def test_parts_of_a_large_batch_go_without_a_word_but_for_the_last_one() -> None:
    """DPS-11: the stamps of the batch before would say that what they have is still to come."""
    site = BatchedSite("b1")
    feeding = FeedingLink(BrokerLink(site.brokers, site.links["b1"]), site.points, lambda: None)
    site.hear("b1", Heartbeat(site.view, {7: 5}))
    site.point.frames([Subscribe(1, [3, 4], [*LISTS[:2]])])
    row = site.core.interest.rows[LISTS[1]]
    site.point.link.flush()
    site.wire.sent.clear()
    large = b"x" * (MAX_DELIVER_BYTES // 2 + 1)
    feeding.frames([Deliver([row], [large], {7: 6}), Deliver([row, row], [large, b"last"], {7: 8})])
    site.point.link.flush()
    parts = [(frame.bodies[-1][-4:], frame.stamps) for frame in site.wire.sent if isinstance(frame, Deliver)]
    assert parts == [(b"xxxx", {}), (b"last", {7: 8})]


def body_of(topic: Topic) -> bytes:
    return b'{"site":"sto","epoch":1,"seq":1,"topic":"%b","ts":1,"kind":"play","payload":{}}' % format_topic(topic).encode()


class DoubtedSite(RestartedSite):
    """The same, where b2 is alive and goes on, whatever views say of it. `topic` is one of its topics."""

    def __init__(self) -> None:
        super().__init__()
        self.topic = min(OF_B2)
        self.row = self.core.interest.rows[self.topic]
        self.feeding = FeedingLink(BrokerLink(self.brokers, self.links["b2"]), self.points, lambda: None)
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


async def test_a_broker_that_was_behind_speaks_of_all_that_it_had_until_it_says_by_which_view_it_goes() -> None:
    """DPS-8: topics had moved from it as planned meanwhile. What it had not given of them before that came to nobody, and was not told."""
    site, little = DoubtedSite(), View(2, ("b1", "b2"), (256, 32))
    site.hear("b2", Sealed(BOTH))
    site.hear("b1", Sealed(little))
    site.feeding.frames([Lost([], "expired"), Sealed(little)])
    assert await site.lost() == OF_B2
    site.wire.sent.clear()
    site.feeding.frames([Lost([], "expired")])
    assert await site.lost() == {topic for topic in OF_B2 if little.ring.owner(topic) == "b2"} < OF_B2
