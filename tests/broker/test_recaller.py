"""What owners answer to those who were away."""

import inspect
from typing import Any

import pytest

from broker import recaller
from broker.core import BrokerCore
from broker.recaller import Recaller
from broker.subscribers import Subscriber, Subscribers
from broker.tenure import Tenure
from broker.window import EventWindow
from broker.window_bounds import WindowBounds
from infra.kernel.events import Event, numbering
from infra.kernel.frames import Recall
from infra.kernel.ring import Ring
from infra.kernel.topics import Kind, Topic, inbox_topic, parse_topic, user_topic
from tests.support.assignments import assignment

MIX = parse_topic("hm://playlist/user/ann/playlist/mix/")
DAN = user_topic("dan")
EPOCH = 7


class Place:
    """One broker, which one aggregator follows. `events` of the window's kinds can be published."""

    def __init__(self, *, is_alone: bool = True, **bounds: Any) -> None:
        self.window = EventWindow(EPOCH, {Kind.PLAYLIST: WindowBounds(**bounds), Kind.USER: WindowBounds(keep="latest")}, 1 << 20)
        self.mine = True
        self.core = BrokerCore("sto", EPOCH, window=self.window, owns=lambda topic: self.mine)
        self.tenure = Tenure("b1")
        self.recaller = Recaller("sto", self.core, self.tenure, is_alone=is_alone)
        self.link: list[tuple[int, bytes]] = []
        self.bit = self.core.open(self, far=False)
        self.core.subscribe(self.bit, [MIX, DAN], [0, 1])

    def deliver(self, handle: int, body: bytes) -> None:
        self.link.append((handle, body))

    def publish(self, topic: Topic, count: int = 1, payload: bytes = b"{}") -> None:
        uri = {MIX: b"hm://playlist/user/ann/playlist/mix/", DAN: b"hm://presence/user/dan/"}[topic]
        for _ in range(count):
            self.core.publish(Event(topic, b"", b'"topic":"%b","payload":%b}' % (uri, payload)))

    def relay(self, seq: int, site: str = "lon", epoch: int = 3) -> None:
        """Takes an event of another site on MIX."""
        tail = b'"topic":"hm://playlist/user/ann/playlist/mix/","payload":{}}'
        self.core.relay([self.core.interest.rows[MIX]], [b"%b%d,%b" % (numbering(site, epoch), seq, tail)])

    def ask(self, topic: Topic = MIX, stamp: int | None = None, *known: tuple[str, int, int], rest: bool = False) -> tuple[str, list[int]]:
        """Returns the reason, and the numbers of the events."""
        stamps = {} if stamp is None else {EPOCH: stamp}
        (answer,) = self.recaller.answers(self.bit, Recall(1, [topic], stamps, [list(known)] if known else [], rest))
        return answer.reasons[0], [int(body.split(b'"seq":')[1].split(b",")[0]) for body in answer.bodies]

    def reached(self) -> dict[int, int]:
        """Returns up to where an answer says that it has everything."""
        (answer,) = self.recaller.answers(self.bit, Recall(1, [MIX], {EPOCH: 0}))
        return answer.stamps


def test_behind_a_stamp_everything_is_there_and_what_is_known_by_number_is_left_out() -> None:
    """DPS-5, DPS-6."""
    place = Place()
    place.publish(MIX, 4)
    assert place.ask(MIX, 0) == ("", [1, 2, 3, 4])
    assert place.ask(MIX, 2) == ("", [3, 4])
    assert place.ask(MIX, 2, ("sto", EPOCH, 3)) == ("", [4])
    assert place.ask(MIX, 4) == ("", [])
    assert place.ask(MIX, 5) == ("owner-lost", [])


def test_each_reason_has_its_cause() -> None:
    """DPS-5: false has its cause."""
    place = Place(events=2)
    place.publish(MIX, 4)
    assert place.ask(MIX, 1) == ("too-much", [])
    assert place.ask(MIX, 1, rest=True) == ("too-much", [3, 4])
    assert place.ask(MIX, 2) == ("", [3, 4])
    assert place.ask(inbox_topic("ann"), 0) == ("no-window", [])
    assert place.ask(MIX) == ("expired", [])
    (answer,) = place.recaller.answers(place.bit, Recall(1, [MIX], {EPOCH - 1: 4}))
    assert answer.reasons == ["owner-lost"]
    place.tenure.begin(Ring(("b2",)))
    assert place.ask(MIX, 2) == ("owner-lost", [])
    place.mine = False
    assert place.ask(MIX, 2) == (recaller.MOVED, [])


def test_what_was_not_delivered_because_the_topic_was_out_is_said_so() -> None:
    """DPS-5: `offloaded`."""
    place = Place()
    place.publish(MIX)
    place.core.assign(assignment(1, MIX))
    place.publish(MIX)
    place.core.assign(assignment(2))
    place.publish(MIX)
    assert place.ask(MIX, 1) == ("offloaded", [])
    assert place.ask(MIX, 2) == ("", [3])


def test_without_a_window_nothing_is_there() -> None:
    core = BrokerCore("sto", EPOCH)
    (answer,) = Recaller("sto", core, Tenure("b1"), is_alone=True).answers(0, Recall(1, [MIX], {}))
    assert answer.reasons == ["no-window"]


def test_numbers_show_that_nothing_is_missing_or_they_do_not() -> None:
    """DPS-5: where there is no point of this site."""
    place = Place(events=3)
    place.publish(MIX, 5)
    assert place.ask(MIX, None, ("sto", EPOCH, 5)) == ("", [])
    assert place.ask(MIX, None, ("sto", EPOCH, 2)) == ("", [3, 4, 5])
    assert place.ask(MIX, None, ("sto", EPOCH, 1)) == ("expired", [])
    assert place.ask(MIX, None, ("sto", EPOCH, 6)) == ("expired", [])
    assert place.ask(MIX, None, ("sto", EPOCH - 1, 5)) == ("expired", [])


def test_among_several_sites_an_event_that_is_known_must_be_there_still() -> None:
    """DPS-5: who has none of what is here may have been away for long, and missed what another site published."""
    place = Place(is_alone=False, events=3)
    place.publish(MIX)
    for seq in (8, 9):
        place.relay(seq)
    assert place.ask(MIX, None, ("sto", EPOCH, 1)) == ("", [8, 9])
    assert place.ask(MIX, None, ("lon", 3, 8)) == ("", [1, 9])
    assert place.ask(MIX, None, ("lon", 3, 7)) == ("expired", [])
    assert place.ask(MIX, None, ("lon", 2, 8)) == ("expired", [])
    place.relay(11)
    assert place.ask(MIX, None, ("lon", 3, 8)) == ("expired", [])
    assert place.ask(MIX, None, ("lon", 3, 11)) == ("", [])


def test_numbers_go_on_from_one_epoch_to_the_next_where_it_says_after_which_event() -> None:
    """DPS-1, DPS-5: a topic that has moved as planned."""
    place = Place()
    place.core.inherit(MIX, (3, 41))
    assert place.ask(MIX, None, ("sto", 3, 41)) == ("", [])
    assert place.ask(MIX, None, ("sto", 3, 40)) == ("expired", [])
    place.publish(MIX, 2)
    first, second = place.ask(MIX, None, ("sto", 3, 41))[1]
    assert second == first + 1
    assert place.ask(MIX, None, ("sto", EPOCH, first)) == ("", [second])
    for known in (("sto", 3, 40), ("sto", 3, 42), ("sto", 2, 41)):
        assert place.ask(MIX, None, known) == ("expired", [])


def test_of_a_latest_kind_the_newest_comes_and_says_what_it_replaced() -> None:
    """DPS-7."""
    place = Place()
    place.publish(DAN, 5)
    (answer,) = place.recaller.answers(place.bit, Recall(1, [DAN], {}, [[("sto", EPOCH, 2)]]))
    assert (answer.reasons, answer.counts) == ([""], [1])
    assert answer.bodies[0].startswith(b'{"op":"event","skipped":2,')
    assert place.ask(DAN, 2) == ("", [5])
    assert place.ask(DAN, 5) == ("", [])


def test_a_link_that_is_behind_gets_of_the_past_what_will_not_come_anyway() -> None:
    """DPS-6: no copy."""
    place = Place()
    place.publish(MIX, 2)
    assert place.core.laggards is not None
    place.core.laggards.fill(place.bit, b"")
    place.publish(MIX, 2)
    assert place.ask(MIX, 0) == ("", [1, 2])
    assert place.reached() == {}
    place.core.laggards.end(place.bit)
    assert place.ask(MIX, 0) == ("", [1, 2, 3, 4])
    assert place.reached() == {EPOCH: 4}


def test_answers_are_bounded_and_come_in_frames_of_some_size(monkeypatch: pytest.MonkeyPatch) -> None:
    """DPS-9: a question costs bounded work."""
    place = Place()
    place.publish(MIX, 2)
    size = sum(len(body) for _, body in place.link)
    monkeypatch.setattr(recaller, "FRAME_BYTES", size)
    monkeypatch.setattr(recaller, "MOST_BYTES", 2 * size)
    answers = list(place.recaller.answers(place.bit, Recall(1, [MIX] * 3, {EPOCH: 0})))
    assert [(answer.reasons, answer.counts) for answer in answers] == [([""], [2]), (["", "too-much"], [2, 0])]
    assert [answer.n for answer in answers] == [1, 1]


def test_the_window_is_read_and_the_answer_queued_in_one_turn() -> None:
    """DPS-6: what is published between the two would be missing, or come twice."""
    for step in (Subscriber.frames, Subscribers.recall, *vars(Recaller).values()):
        if inspect.isfunction(step):
            assert not inspect.iscoroutinefunction(step)
            code = inspect.getsource(step)
            assert not any(word in code for word in ("await ", "call_soon", "call_later", "in_turns", "create_task"))
