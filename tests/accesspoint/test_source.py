"""How long an access point waits for an aggregator that it has called, which one is called next, and who is asked in a move."""

from collections.abc import Callable
from typing import cast

import msgspec
import pytest

from accesspoint.point import write_point
from accesspoint.source import FAILOVER_BEATS, Source
from infra.kernel.frames import AnyFrame, Applied, Deliver, Fence, Fenced, Heartbeat, Keeps, Leaving, Recall, Recalled, Subscribe, View
from infra.kernel.topics import Topic, parse_topic
from infra.runtime.link import Link
from infra.runtime.logs import get_logger
from infra.runtime.node import Node
from tests.support.bare_core import FEEDS, OPTIONS, KeptFrames, make_core, welcomed
from tests.support.recording_session import RecordingSession

AGGREGATORS = ["a1", "a2"]


class CalledAggregators:
    """The aggregators as the links of an access point. Each answers `answer_beats` after it was called, unless it is given up before."""

    def __init__(self, answer_beats: int) -> None:
        self.answer_beats = answer_beats
        self.waited: dict[str, int] = {}
        self.source = Source(
            msgspec.structs.replace(OPTIONS, aggregators=AGGREGATORS),
            make_core(),
            cast(Node, self),
            lambda: 0.0,
            get_logger("accesspoint", "ap1", "sto"),
        )
        self.source.start()

    def dial(self, address: str, role: str, site: str | None) -> None:
        self.waited[address] = 0

    def hang_up(self, address: str) -> None:
        del self.waited[address]

    def beat(self) -> None:
        """Lets one heartbeat pass."""
        for address in self.waited:
            self.waited[address] += 1
        if self.source.link is None and self.waited[self.source.address] >= self.answer_beats:
            self.source.link_up(cast(Link, DialledLink(self.source.address)))
        self.source.tick()

    def lose(self) -> None:
        """Breaks the link."""
        assert self.source.link is not None, "none was reached"
        self.source.link_down(self.source.link)


class DialledLink(KeptFrames):
    """A link to an aggregator that keeps what was sent."""

    def __init__(self, address: str) -> None:
        super().__init__()
        self.dialled = address

    def knows(self, kind: type) -> bool:
        return False


@pytest.mark.parametrize("answer_beats", [FAILOVER_BEATS, 2 * FAILOVER_BEATS, 4 * FAILOVER_BEATS])
def test_aggregators_that_are_slow_are_reached_in_the_end(answer_beats: int) -> None:
    """Under load all are slow. If each were given up as soon as the first, nobody would be served until the load is gone."""
    called = CalledAggregators(answer_beats)
    for _ in range(20 * FAILOVER_BEATS):
        called.beat()
    assert called.source.link is not None
    assert list(called.waited) == [called.source.address]


def test_the_next_one_is_called_soon_at_first_and_again_soon_when_one_has_answered() -> None:
    called = CalledAggregators(4 * FAILOVER_BEATS)
    for _ in range(20 * FAILOVER_BEATS):
        called.beat()
    called.lose()
    failovers = called.source.failovers
    for _ in range(FAILOVER_BEATS + 1):
        called.beat()
    assert called.source.failovers == failovers + 1


def test_one_that_never_answers_delays_the_others_no_longer_than_a_bounded_time() -> None:
    called = CalledAggregators(answer_beats=10**9)
    for _ in range(100 * FAILOVER_BEATS):
        called.beat()
    failovers = called.source.failovers
    for _ in range(4 * FAILOVER_BEATS + 1):
        called.beat()
    assert called.source.failovers == failovers + 1


class FeedingLink(DialledLink):
    """A link to an aggregator that can answer for the past."""

    def knows(self, kind: type) -> bool:
        return True


class MovingPoint:
    """An access point on its way from one aggregator to another, which has not answered its first fence."""

    def __init__(self) -> None:
        self.soon: list[Callable[[], None]] = []
        self.core = make_core(soon=self.soon.append, aggregators=AGGREGATORS)
        self.core.keeping.learn(Keeps({"user": ("latest", 120.0)}))
        links = cast(Node, self)
        self.source = Source(
            msgspec.structs.replace(OPTIONS, aggregators=AGGREGATORS),
            self.core,
            links,
            lambda: 0.0,
            get_logger("accesspoint", "ap1", "sto"),
        )
        self.source.start()
        self.old = self.link_up(self.source.address)
        self.core.recoveries.note({7: 5})
        self.before = self.back("bob", 0)
        self.take(self.old, Leaving())
        self.new = self.link_up(next(each for each in AGGREGATORS if each != self.old.dialled))

    def dial(self, address: str, role: str, site: str | None) -> None:
        """Calls nobody: the test says who answers."""

    def hang_up(self, address: str) -> None:
        """Ends nothing: the test says what is lost."""

    def link_up(self, address: str) -> FeedingLink:
        link = FeedingLink(address)
        self.source.link_up(cast(Link, link))
        return link

    def take(self, link: FeedingLink, frame: AnyFrame) -> None:
        self.source.take(cast(Link, link), frame)

    def back(self, name: str, feed: int) -> RecordingSession:
        """Returns the session of somebody who comes back with a point, and follows a feed."""
        session = welcomed(self.core, name)
        session.tell(0.0, op="subscribe", id=1, topics=[FEEDS[feed]], recover=True, point=write_point("sto", {7: 1}))
        return session

    def install(self, link: FeedingLink) -> None:
        """Has an aggregator do all that it was told."""
        n = max(frame.n for frame in link if isinstance(frame, Subscribe))
        self.take(link, Applied(n, {"sto": n}))

    def fence(self, link: FeedingLink) -> None:
        """Has an aggregator answer the last fence."""
        self.take(link, Fenced(max(frame.n for frame in link if isinstance(frame, Fence))))


def asked(link: FeedingLink) -> list[Topic]:
    return [Topic(topic) for frame in link if isinstance(frame, Recall) for topic in frame.topics]


def event(seq: int) -> bytes:
    return b'{"op":"event","site":"sto","epoch":7,"seq":%d,"topic":"%b"}' % (seq, FEEDS[0].encode())


DAN, EVE = (parse_topic(uri) for uri in FEEDS[:2])


def test_who_comes_back_in_a_move_is_answered_by_the_aggregator_that_gives_them_what_is_live() -> None:
    """DPS-5, DPS-6: the one that leaves does not know of a topic that is new here, so behind its answer nothing would come."""
    point = MovingPoint()
    point.back("ann", 1)
    point.back("cyd", 0)
    assert (asked(point.old), asked(point.new)) == ([DAN, DAN], [])
    point.fence(point.new)
    point.install(point.new)
    assert asked(point.new) == []
    point.fence(point.old)
    assert sorted(asked(point.new)) == [DAN, DAN, EVE]
    point.back("dee", 2)
    assert parse_topic(FEEDS[2]) in asked(point.new), "the move is not over, but there is one aggregator alone"


def test_who_came_back_in_a_move_that_failed_is_answered_by_the_aggregator_that_stays() -> None:
    """DPS-5: it is told of the topic, and then asked."""
    point = MovingPoint()
    point.back("ann", 1)
    point.source.link_down(cast(Link, point.new))
    assert asked(point.old) == [DAN, EVE]
    told = [type(frame) for frame in point.old if isinstance(frame, Recall) or (isinstance(frame, Subscribe) and EVE in frame.topics)]
    assert told == [Recall, Subscribe, Recall]


def test_nobody_has_a_point_in_a_move_while_something_waits_that_the_aggregator_before_does_not_give() -> None:
    """DPS-5: stamps come from the one that leaves. A point by them would say that they have what is kept until the move is over."""
    point = MovingPoint()
    point.fence(point.new)
    for session in (new := welcomed(point.core, "ann"), point.before):
        session.tell(0.0, op="subscribe", id=2, topics=[FEEDS[session is new]], recover=True)
    for recall in [frame for frame in point.old if isinstance(frame, Recall)]:
        point.take(point.old, Recalled(recall.n, [DAN], [""], [0], []))
    point.install(point.new)
    assert (point.core.recoveries.point(new), point.core.recoveries.point(point.before) is None) == (None, False)
    point.fence(point.old)
    assert point.core.recoveries.point(new) is not None


def test_what_the_aggregator_that_leaves_has_not_answered_the_next_one_is_asked() -> None:
    """DPS-11: the access point has missed it itself, and gives nothing of the topic before the answer."""
    point = MovingPoint()
    point.core.recoveries.resume(0.0)
    point.fence(point.new)
    point.install(point.new)
    point.fence(point.old)
    (rest,) = [frame for frame in point.new if isinstance(frame, Recall) and frame.rest]
    assert (rest.topics, rest.stamps) == ([DAN], {7: 5})
    point.take(point.new, Recalled(rest.n, [DAN], [""], [0], []))
    assert not point.core.hub.topics[DAN].is_held


def test_what_the_aggregator_that_leaves_brought_while_nobody_was_given_it_comes_by_the_next_one() -> None:
    """DPS-11: the next one may be behind, so that some of it is not in its answer."""
    point = MovingPoint()
    handle = point.core.hub.topics[DAN].handle
    recall = next(frame for frame in point.old if isinstance(frame, Recall))
    point.take(point.old, Recalled(recall.n, [DAN], [""], [0], []))
    point.core.recoveries.resume(0.0)
    point.fence(point.new)
    point.take(point.old, Deliver([handle], [event(5)], {7: 6}))
    point.install(point.new)
    point.fence(point.old)
    rest = next(frame for frame in point.new if isinstance(frame, Recall) and frame.rest)
    point.take(point.new, Recalled(rest.n, [DAN], [""], [0], []))
    point.take(point.new, Deliver([handle], [event(5)], {7: 6}))
    point.core.hub.flush()
    assert [message["seq"] for message in point.before.messages if message["op"] == "event"] == [5]


def test_what_an_aggregator_that_dies_as_it_leaves_has_not_delivered_is_asked_of_the_next_one() -> None:
    """DPS-8, DPS-11: it was sent to the old one before the new one had answered its fence, so it comes by neither."""
    point = MovingPoint()
    handle = point.core.hub.topics[DAN].handle
    recall = next(frame for frame in point.old if isinstance(frame, Recall))
    point.take(point.old, Recalled(recall.n, [DAN], [""], [0], []))
    point.take(point.old, Deliver([handle], [event(5)], {7: 6}))
    point.fence(point.new)
    point.take(point.new, Deliver([handle], [event(7)], {7: 8}))
    point.source.link_down(cast(Link, point.old))
    (rest,) = [frame for frame in point.new if isinstance(frame, Recall) and frame.rest]
    assert (rest.topics, rest.stamps) == ([DAN], {7: 6})
    point.take(point.new, Recalled(rest.n, [DAN], [""], [2], [event(6), event(7)]))
    point.take(point.new, Deliver([handle], [event(8)], {7: 9}))
    point.core.hub.flush()
    assert [message["seq"] for message in point.before.messages if message["op"] == "event"] == [5, 6, 7, 8]


def follow_anew(point: MovingPoint, feed: int) -> RecordingSession:
    """Returns the session of somebody who follows a feed that nobody followed here, and is told that it is installed."""
    session = welcomed(point.core, "ann")
    session.tell(0.0, op="subscribe", id=1, topics=[FEEDS[feed]], recover=True)
    point.install(point.new)
    assert [message["installed"] for message in session.messages if message["op"] == "subscribed"] == ["local"]
    return session


def eve_event(seq: int) -> bytes:
    return b'{"op":"event","site":"sto","epoch":7,"seq":%d,"topic":"%b"}' % (seq, FEEDS[1].encode())


def numbers(session: RecordingSession) -> list[int]:
    return [message["seq"] for message in session.messages if message["op"] == "event"]


def test_what_comes_on_a_topic_that_is_new_in_a_move_is_kept_before_the_first_fence_is_answered() -> None:
    """DPS-8: the one that leaves does not deliver it, too. It was installed, so it was promised."""
    point = MovingPoint()
    session = follow_anew(point, 1)
    handle = point.core.hub.topics[EVE].handle
    point.take(point.new, Deliver([handle, point.core.hub.topics[DAN].handle], [eve_event(1), event(1)], {7: 6}))
    point.fence(point.new)
    point.take(point.new, Deliver([handle], [eve_event(2)], {7: 7}))
    point.fence(point.old)
    point.core.hub.flush()
    assert numbers(session) == [1, 2]


def test_what_came_on_a_topic_that_is_new_in_a_move_that_fails_is_asked_of_the_aggregator_that_stays() -> None:
    """DPS-8: it was installed by way of the one that is lost now, and nobody was given what that brought."""
    point = MovingPoint()
    session = follow_anew(point, 1)
    handle = point.core.hub.topics[EVE].handle
    point.take(point.new, Deliver([handle], [eve_event(1)], {7: 6}))
    point.core.recoveries.note({7: 8})
    point.source.link_down(cast(Link, point.new))
    (rest,) = [frame for frame in point.old if isinstance(frame, Recall) and frame.rest]
    assert (rest.topics, rest.stamps) == ([EVE], {7: 5})
    assert point.core.recoveries.point(session) is None
    point.take(point.old, Recalled(rest.n, [EVE], [""], [2], [eve_event(1), eve_event(2)]))
    point.take(point.old, Deliver([handle], [eve_event(3)], {7: 9}))
    point.core.hub.flush()
    assert numbers(session) == [1, 2, 3]
    assert not [message for message in session.messages if message["op"] == "gap"]


def test_what_came_on_a_topic_that_is_new_in_a_move_is_asked_from_before_the_move_where_the_one_that_leaves_is_lost() -> None:
    """DPS-8: stamps of the one that leaves say nothing of a topic that it was never told of."""
    point = MovingPoint()
    session = follow_anew(point, 1)
    handle = point.core.hub.topics[EVE].handle
    point.fence(point.new)
    point.take(point.new, Deliver([handle], [eve_event(1)], {7: 6}))
    point.core.recoveries.note({7: 8})
    point.source.link_down(cast(Link, point.old))
    asked_behind = {Topic(topic): frame.stamps for frame in point.new if isinstance(frame, Recall) and frame.rest for topic in frame.topics}
    assert asked_behind == {DAN: {7: 8}, EVE: {7: 5}}
    (number,) = {frame.n for frame in point.new if isinstance(frame, Recall) and frame.rest}
    point.take(point.new, Recalled(number, [EVE], [""], [1], [eve_event(1)]))
    point.core.hub.flush()
    assert numbers(session) == [1]


def test_who_follows_a_topic_that_is_new_in_a_move_that_fails_hears_of_it_where_nobody_had_said_stamps_before() -> None:
    """DPS-8: nobody can be asked behind them."""
    point = MovingPoint()
    point.core.recoveries.own.stamps = {}
    point.core.recoveries.move(is_moving=True, now_s=0.0)
    session = follow_anew(point, 1)
    point.source.link_down(cast(Link, point.new))
    while point.soon:
        point.soon.pop(0)()
    assert [message["reason"] for message in session.messages if message["op"] == "gap"] == ["expired"]


@pytest.mark.parametrize("has_said_stamps", [False, True])
def test_what_the_next_one_still_had_of_a_topic_that_is_new_in_a_move_is_asked_for_where_it_is_lost_at_once(has_said_stamps: bool) -> None:
    """DPS-8, DPS-11: it may be behind the one before, whose stamps do not tell of the topic. Its own do."""
    point = MovingPoint()
    session = follow_anew(point, 1)
    handle = point.core.hub.topics[EVE].handle
    point.fence(point.new)
    point.take(point.new, Deliver([handle], [eve_event(1)], {7: 6}))
    point.core.recoveries.note({7: 8})
    point.fence(point.old)
    if has_said_stamps:
        point.take(point.new, Heartbeat(View(0, ()), {7: 8}))
    point.source.link_down(cast(Link, point.new))
    last = point.link_up(point.source.address)
    behind = {Topic(topic): frame.stamps for frame in last if isinstance(frame, Recall) and frame.rest for topic in frame.topics}
    assert behind == {DAN: {7: 8}, EVE: {7: 8} if has_said_stamps else {7: 5}}
    (number,) = {frame.n for frame in last if isinstance(frame, Recall) and frame.rest}
    bodies = [eve_event(2)] if has_said_stamps else [eve_event(1), eve_event(2)]
    point.take(last, Recalled(number, [EVE], [""], [len(bodies)], bodies))
    point.core.hub.flush()
    assert numbers(session) == [1, 2]


def test_what_is_new_in_a_move_is_asked_from_where_the_next_one_was_that_is_lost_while_it_is_behind_the_one_before() -> None:
    """DPS-8, DPS-11: stamps that it has said do not tell either that it was as far. What it has brought was given."""
    point = MovingPoint()
    session = follow_anew(point, 1)
    handle = point.core.hub.topics[EVE].handle
    point.take(point.new, Deliver([handle], [eve_event(1)], {7: 6}))
    point.fence(point.new)
    point.core.recoveries.note({7: 9})
    point.fence(point.old)
    point.take(point.new, Deliver([handle], [eve_event(2)], {7: 7}))
    point.core.hub.flush()
    assert numbers(session) == [1, 2]
    point.source.link_down(cast(Link, point.new))
    last = point.link_up(point.source.address)
    behind = {Topic(topic): frame.stamps for frame in last if isinstance(frame, Recall) and frame.rest for topic in frame.topics}
    assert behind == {DAN: {7: 9}, EVE: {7: 7}}
