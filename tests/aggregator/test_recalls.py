"""Questions on their way to the owners of topics and back."""

from typing import Any

import msgspec

from aggregator import recalls
from aggregator.recalls import MOST_BEATS, Recalls
from infra.kernel.frames import Frame, Hello, Recall, Recalled, View

A, B = b"Ua", b"Ub"


class Point(list[Any]):
    """An access point, or a link to a broker, that keeps what it was sent."""

    def __init__(self, tags: int = 38) -> None:
        super().__init__()
        self.peer = Hello("broker", "b1", "sto", 1, 1, View(0, ()), tags=tags)

    @property
    def link(self) -> "Point":
        return self

    def send(self, frame: Frame) -> None:
        self.append(frame)

    def knows(self, kind: type[Frame]) -> bool:
        return self.peer.knows(kind)


class Place:
    """An aggregator with two brokers; `owner` may change."""

    def __init__(self) -> None:
        self.owner: dict[bytes, str | None] = {A: "b1", B: "b2"}
        self.brokers: dict[str, Any] = {"b1": Point(), "b2": Point()}
        self.recalls = Recalls(lambda topic: self.owner[topic], self.brokers)
        self.point = Point()

    def answer(self, slot: str, reason: str = "", bodies: tuple[bytes, ...] = ()) -> None:
        """Lets a broker answer what it was asked last."""
        asked = self.brokers[slot][-1]
        counts = [len(bodies), *[0] * (len(asked.topics) - 1)]
        self.recalls.answered(slot, Recalled(asked.n, asked.topics, [reason] * len(asked.topics), counts, list(bodies), {int(slot[1]): 9}))


def test_each_owner_is_asked_for_its_topics_and_the_answers_go_back_under_the_askers_number() -> None:
    place = Place()
    place.recalls.ask(place.point, Recall(40, [A, B], {7: 9}, [[("sto", 7, 1)], []], True))
    assert place.brokers["b1"] == [Recall(1, [A], {7: 9}, [[("sto", 7, 1)]], True)]
    assert place.brokers["b2"] == [Recall(2, [B], {7: 9}, [], True)]
    place.answer("b2", "expired")
    place.answer("b1", "", (b"{}",))
    assert place.point == [Recalled(40, [B], ["expired"], [0], [], {2: 9}), Recalled(40, [A], [""], [1], [b"{}"], {1: 9})]
    assert len(place.recalls) == 0
    place.answer("b1")  # once more: nobody waits for it
    assert len(place.point) == 2


def test_a_topic_that_is_named_twice_is_asked_about_and_counted_once() -> None:
    place = Place()
    place.recalls.ask(place.point, Recall(40, [A, A], {7: 9}))
    assert (len(place.recalls), place.brokers["b1"]) == (1, [Recall(1, [A], {7: 9})])
    place.answer("b1")
    assert (len(place.recalls), len(place.point)) == (0, 1)


def test_behind_which_stamp_nothing_has_come_is_passed_on_for_each_topic_that_is_answered() -> None:
    """DPS-5: stamps are those of the owner that was asked."""
    place = Place()
    place.owner[B] = "b1"
    place.recalls.ask(place.point, Recall(40, [A, B], {7: 9}))
    place.owner[A] = "b2"
    place.recalls.answered("b1", Recalled(1, [A, B], ["", ""], [0, 0], [], {7: 9}, 7, [5, 6]))
    assert place.point == [Recalled(40, [B], [""], [0], [], {7: 9}, 7, [6])]


def test_where_the_owner_changes_meanwhile_the_new_one_is_asked() -> None:
    """DPS-6: what the new owner publishes does not come behind the answer of the former one."""
    place = Place()
    place.recalls.ask(place.point, Recall(40, [A], {7: 9}))
    place.owner[A] = "b2"
    place.answer("b1", "", (b"{}",))
    assert place.point == []
    assert place.brokers["b2"] == [Recall(2, [A], {7: 9})]
    place.owner[A] = None  # the broker knows of a view that we have not heard of
    place.answer("b2", "moved")
    place.recalls.tick()
    assert (place.point, len(place.recalls)) == ([], 1)
    place.owner[A] = "b1"
    place.recalls.tick()
    place.answer("b1")
    assert place.point == [Recalled(40, [A], [""], [0], [], {1: 9})]


def test_a_link_that_is_lost_is_asked_again_when_it_is_back() -> None:
    place = Place()
    place.recalls.ask(place.point, Recall(40, [A, B], {}))
    lost = place.brokers.pop("b1")
    place.recalls.link_down("b1")
    place.recalls.answered("b1", Recalled(lost[-1].n, [A], [""], [0], []))  # of the link before
    place.recalls.tick()
    assert place.point == []
    place.brokers["b1"] = Point()
    place.recalls.tick()
    place.answer("b1")
    place.answer("b2")
    assert [answer.topics for answer in place.point] == [[A], [B]]


def test_who_waits_for_long_is_told_so_and_who_has_gone_is_forgotten() -> None:
    """DPS-9: what is open is bounded."""
    place = Place()
    place.recalls.ask(place.point, Recall(40, [A], {}))
    gone = Point()
    place.recalls.ask(gone, Recall(1, [B], {}))
    place.recalls.forget(gone)
    assert len(place.recalls) == 1
    for _ in range(MOST_BEATS + 1):
        place.recalls.tick()
    assert (place.point, gone, len(place.recalls)) == ([Recalled(40, [A], ["late"], [0], [])], [], 0)


def test_who_wants_the_rest_is_answered_when_the_owner_is_reached_however_late_that_is() -> None:
    """DPS-11: nothing of the topic is given there before, since it would come again. Simulated seed 9200133 with 400 operations."""
    place = Place()
    lost = place.brokers.pop("b1")
    place.recalls.ask(place.point, Recall(40, [A], {7: 9}, rest=True))
    for _ in range(2 * MOST_BEATS):
        place.recalls.tick()
    assert (place.point, len(place.recalls)) == ([], 1)
    place.brokers["b1"] = lost
    place.recalls.tick()
    place.answer("b1", "moved")
    for _ in range(2 * MOST_BEATS):
        place.recalls.tick()
    place.answer("b1", "", (b"{}",))
    assert place.point == [Recalled(40, [A], [""], [1], [b"{}"], {1: 9})]
    place.recalls.ask(place.point, Recall(41, [A], {7: 9}, rest=True))
    place.recalls.forget(place.point)
    assert len(place.recalls) == 0


def test_too_many_topics_at_once_are_refused_and_older_brokers_have_no_windows(monkeypatch: Any) -> None:
    place = Place()
    monkeypatch.setattr(recalls, "MOST_TOPICS", 1)
    place.recalls.ask(place.point, Recall(40, [A, B], {}))
    assert place.point == [Recalled(40, [A, B], ["too-much"] * 2, [0, 0], [])]
    place.brokers["b1"] = Point(tags=32)
    place.recalls.ask(place.point, Recall(41, [A], {}))
    assert place.point[1:] == [Recalled(41, [A], ["no-window"], [0], [])]
    assert len(place.recalls) == 0
    assert msgspec.msgpack.encode(place.point[-1])
