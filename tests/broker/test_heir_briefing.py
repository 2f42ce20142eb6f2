"""What heirs are told of the past, and when their copy counts."""

import itertools
from collections.abc import Iterator

from broker.core import BrokerCore, NumberedEvent
from broker.heir_briefing import HeirBriefing
from broker.heir_stream import HeirStream, StreamState, StreamStep, WaitingEvent
from broker.inheritance import Inheritance
from broker.tenure import Tenure
from broker.window import EventWindow
from broker.window_bounds import WindowBounds
from infra.kernel.events import Event
from infra.kernel.frames import HIGHEST_TAG, Copies, Hello, Moved, Past, View
from infra.kernel.topics import Kind, Topic, parse_topic, user_topic
from infra.runtime.link import Link
from tests.support.recording_wire import RecordingWire

ALL, LEFT = View(1, ("b1", "b2", "b3")), View(2, ("b1", "b2"))
LISTS = [parse_topic(f"hm://playlist/user/ann/playlist/p{n}/") for n in range(100)]
EPOCH = 7


class Owner:
    """The broker b1, and a stream to b2, its link open."""

    def __init__(self) -> None:
        self.core = BrokerCore("sto", EPOCH, window=EventWindow(EPOCH, {Kind.PLAYLIST: WindowBounds(copies=1)}, 1 << 20))
        self.wire, self.work, self.is_settled = RecordingWire(), list[Iterator[float]](), True
        links = {"b2": Link(self.wire, Hello("broker", "b2", "sto", 1, 1, View(0, ()), tags=HIGHEST_TAG), "b2", 0.0, Link.flush)}
        self.briefing = HeirBriefing(
            "b1",
            self.core,
            frozenset({Kind.PLAYLIST}),
            links,
            Inheritance("b1", self.core, Tenure("b1", EPOCH), lambda topics: None),
            lambda: self.is_settled,
            self.work.append,
        )
        self.stream = HeirStream()
        self.briefing.follow(ALL, ALL.ring)
        self.stream.step(StreamStep.UP)
        self.stream.begin(99)

    def run(self) -> None:
        while self.work:
            for _ in itertools.islice(self.work.pop(0), 1000):
                pass

    def state(self) -> StreamState:
        return self.stream.state

    def told(self) -> list[Topic]:
        """Returns the topics that the heir was told of since this was asked for the last time."""
        parts = [part for frame in self.wire.sent if isinstance(frame, Copies) for part in frame.parts]
        self.wire.sent.clear()
        return [Topic(topic) for part in parts if isinstance(part, Moved) for topic in part.topics]


def heirs_own(view: View) -> set[Topic]:
    return {topic for topic in LISTS if (view.ring.owner(topic), view.ring.heir(topic)) == ("b1", "b2")}


def test_an_heir_is_told_of_all_that_it_would_own_and_of_nothing_else() -> None:
    """DPS-18: of kinds that have copies. At last it is told that this was all."""
    owner = Owner()
    for topic in (*LISTS, user_topic("dan")):
        owner.core.numbers.inherit(topic, (3, 1))
    owner.briefing.tell_all("b2", owner.stream)
    owner.run()
    assert any(isinstance(part, Past) for frame in owner.wire.sent if isinstance(frame, Copies) for part in frame.parts)
    assert set(owner.told()) == heirs_own(ALL)
    assert owner.state() is StreamState.WHOLE


def test_under_another_view_an_heir_that_had_everything_is_told_what_is_new_for_it() -> None:
    """DPS-18"""
    owner = Owner()
    for topic in LISTS:
        owner.core.numbers.inherit(topic, (3, 1))
    owner.briefing.tell_all("b2", owner.stream)
    owner.run()
    owner.told()
    owner.briefing.follow(LEFT, LEFT.ring)
    owner.briefing.again("b2", owner.stream, ALL.ring)
    assert owner.state() is StreamState.TELLING
    owner.run()
    assert set(owner.told()) == heirs_own(LEFT) - heirs_own(ALL)
    assert owner.state() is StreamState.WHOLE


def test_nobody_is_told_that_they_have_everything_while_topics_are_on_their_way_here() -> None:
    """DPS-18: this broker does not know their past yet. A later telling takes the place of the one that waits."""
    owner = Owner()
    owner.is_settled = False
    owner.briefing.tell_all("b2", owner.stream)
    owner.run()
    assert owner.state() is StreamState.TELLING
    owner.is_settled = True
    owner.briefing.tell_all("b2", owner.stream)
    owner.run()
    assert owner.state() is StreamState.WHOLE


def test_what_was_published_before_goes_before_what_is_told() -> None:
    """DPS-18: behind that the heir would forget it, for what is told of a topic counts in place of what came before."""
    owner = Owner()
    topic = next(iter(heirs_own(ALL)))
    event = Event(topic, b"", b"{}")
    numbered = NumberedEvent(event, b'{"op":"event","site":"sto","epoch":7,"seq":1}', is_out=False, last=(7, 1), before=None)
    owner.stream.add(WaitingEvent(event, numbered, lambda fate: None, 100), followed=True)
    owner.briefing.tell("b2", owner.stream, [topic])
    frames = [frame for frame in owner.wire.sent if isinstance(frame, Copies)]
    assert [(frame.n, frame.anew) for frame in frames] == [(1, False), (1, True), (1, True)]
