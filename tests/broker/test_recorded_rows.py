"""Which rows are recorded, for how long, and what of that other sites hear."""

import json

import pytest

from broker.core import BrokerCore
from broker.recorded_rows import AT_ONCE
from broker.window import EventWindow
from broker.window_bounds import WindowBounds
from infra.kernel.events import Event, encode_tail, numbering
from infra.kernel.topics import Kind, Topic, format_topic, user_topic
from tests.support.assignments import assignment

DAN, EVE = user_topic("dan"), user_topic("eve")


class Receiver(list[tuple[int, int]]):
    """A link that keeps what was delivered: (handle, number)."""

    def deliver(self, handle: int, body: bytes) -> None:
        self.append((handle, json.loads(body)["seq"]))


def event(topic: Topic) -> Event:
    return Event(topic, b"", encode_tail(format_topic(topic), 1, "x", "play", b"{}"))


def seqs(receiver: Receiver) -> list[int]:
    return [seq for _, seq in receiver]


def far_body(topic: Topic, seq: int) -> bytes:
    return b"%b%d,%b" % (numbering("lon", 9), seq, event(topic).tail)


class Recording:
    """A core with a window of users' topics, an aggregator, and a broker of another site.

    - `kept_on`: whether it records topics that are left. `is_moving`: whether topics go to other brokers.
    - `awaited`: those that somebody may come back for. `came_at`: when topics came here for the last time.
    """

    def __init__(self) -> None:
        self.window = EventWindow(7, {Kind.USER: WindowBounds(seconds=2.0)}, 1 << 20)
        self.kept_on, self.is_moving = True, False
        self.awaited: set[Topic] = set()
        self.came_at: int | None = 0
        self.core = BrokerCore(
            "sto",
            7,
            window=self.window,
            keeps=lambda topics: None if self.is_moving else [self.kept_on] * len(topics),
            awaits=self.awaited.__contains__,
            came_at=lambda: self.came_at,
        )
        self.here, self.lon = Receiver(), Receiver()
        self.near, self.far = self.core.open(self.here, False), self.core.open(self.lon, True, ("lon", "b1"))

    def kept(self) -> list[object]:
        return [json.loads(body)["seq"] for _, _, body in self.window.after(0)]

    def ticks(self, *times_s: float) -> list[tuple[list[Topic], list[Topic]]]:
        """Returns which topics this site no longer wants, and which nobody wants, tick by tick."""
        found = [self.core.recorded.tick(now_s) for now_s in times_s]
        return [([topic for _, topic in silent], [topic for _, topic in dead]) for silent, dead in found]


def test_a_topic_is_recorded_while_it_is_followed_and_as_long_after_and_nobody_else_hears_of_that() -> None:
    """DPS-4: its row and its interest at other sites are kept for as long as its events."""
    site = Recording()
    core = site.core
    assert core.subscribe(site.near, [DAN], [0]) == [(0, DAN)]
    core.publish(event(DAN))
    site.ticks(0.5)
    assert core.unsubscribe(site.near, [DAN]) == ([], [])
    core.publish(event(DAN))
    core.relay([0], [far_body(DAN, 42)])
    assert (seqs(site.here), site.kept(), core.unmatched, core.stale) == ([1], [1, 2, 42], 1, 0)
    assert list(core.wanted_here()) == [(0, DAN)]
    assert site.ticks(1.0, 2.0, 2.5) == [([], [])] * 3
    assert core.subscribe(site.near, [DAN], [0]) == []  # the other sites have not been told that it was left
    core.unsubscribe(site.near, [DAN])
    assert site.ticks(3.0, 4.5, 5.0) == [([], []), ([], []), ([DAN], [DAN])]
    assert (site.kept(), list(core.wanted_here()), len(core.recorded.lingering)) == ([], [], 0)
    core.release(0, DAN)
    core.publish(event(DAN))
    assert site.kept() == []


def test_a_topic_that_only_another_site_follows_is_recorded_for_it_and_not_wanted_here() -> None:
    """DPS-4"""
    site = Recording()
    assert site.core.subscribe(site.far, [DAN], [0]) == []
    site.core.publish(event(DAN))
    assert site.core.close(site.far) == ([], [])
    site.core.publish(event(DAN))
    assert (site.kept(), list(site.core.wanted_here())) == ([1, 2], [])
    assert site.ticks(0.5, 1.0, 3.0) == [([], []), ([], []), ([], [DAN])]


def test_a_topic_that_another_site_still_follows_is_no_longer_wanted_here_when_its_time_is_over() -> None:
    """DPS-4"""
    site = Recording()
    site.core.subscribe(site.near, [DAN], [0])
    site.core.subscribe(site.far, [DAN], [0])
    site.core.unsubscribe(site.near, [DAN])
    assert site.ticks(0.5, 1.0, 3.0) == [([], []), ([], []), ([DAN], [])]
    site.core.publish(event(DAN))
    assert (seqs(site.lon), site.kept()) == ([1], [1])


def test_a_topic_that_has_gone_to_another_broker_is_kept_until_that_one_has_it() -> None:
    """DPS-4, DPS-13: its new owner records it, when it has what was recorded here."""
    site = Recording()
    site.core.subscribe(site.near, [DAN, EVE], [0, 1])
    site.core.unsubscribe(site.near, [EVE])
    site.is_moving = True
    assert site.core.unsubscribe(site.near, [DAN]) == ([], [])
    recorded = site.core.recorded
    assert (recorded.left(), recorded.left_behind) == ([(1, EVE), (0, DAN)], 2)
    assert list(recorded.hand_over(lambda topics: [False] * len(topics))) == [([(1, EVE)], [(1, EVE)]), ([(0, DAN)], [(0, DAN)])]
    assert (list(recorded.hand_over(lambda topics: [])), recorded.left_behind) == ([], 0)
    site.kept_on = site.is_moving = False
    site.core.subscribe(site.near, [EVE], [0])
    assert site.core.unsubscribe(site.near, [EVE]) == ([(1, EVE)], [(1, EVE)])


def test_a_topic_that_is_left_while_others_go_is_recorded_on_where_it_is_followed_again_or_stays() -> None:
    """DPS-4, DPS-13: whoever comes back to it finds what they missed. Time counts from when it is known that it stays."""
    site, fay = Recording(), user_topic("fay")
    site.is_moving = True
    site.core.subscribe(site.near, [DAN, EVE, fay], [0, 1, 2])
    site.core.unsubscribe(site.near, [DAN, EVE, fay])
    site.core.subscribe(site.near, [EVE], [1])
    site.core.unsubscribe(site.far, [EVE])
    assert site.core.recorded.left() == [(0, DAN), (2, fay)]
    ended = list(site.core.recorded.hand_over(lambda topics: [topic != EVE for topic in topics]))
    assert ended == [([], [])]
    site.is_moving = False
    for topic in (DAN, EVE, fay):
        site.core.publish(event(topic))
    assert (len(site.kept()), site.core.recorded.left_behind) == (3, 2)
    assert [ended for ended in site.ticks(0.0, 1.0, 5.0) if any(ended)] == [([DAN, fay], [DAN, fay])]


def left_twice() -> Recording:
    """Returns a site at which DAN was left, and left again while topics go to other brokers."""
    site = Recording()
    site.core.subscribe(site.near, [DAN], [0])
    site.core.unsubscribe(site.near, [DAN])
    assert site.ticks(0.0, 1.9) == [([], [])] * 2
    site.is_moving = True
    site.core.subscribe(site.near, [DAN], [0])
    site.core.unsubscribe(site.near, [DAN])
    return site


def test_a_row_that_was_left_while_topics_go_and_is_another_topics_by_now_is_recorded_on() -> None:
    """DPS-4: the same row was left before, and has ended as such a one."""
    site, fay = left_twice(), user_topic("fay")
    parts = site.core.recorded.hand_over(lambda topics: [False] * len(topics))
    assert next(parts) == ([(0, DAN)], [(0, DAN)])
    site.core.release(0, DAN)
    site.core.subscribe(site.near, [fay], [0])
    assert list(parts) == [([], [])]
    site.core.publish(event(fay))
    assert (seqs(site.here), len(site.kept())) == ([1], 1)


def test_a_row_that_has_ended_is_not_recorded_on_where_its_topic_comes_back_before_its_number_is_free() -> None:
    """DPS-4: nothing would have ended that again, and the number could be another topic's by then."""
    site = left_twice()
    parts = site.core.recorded.hand_over(lambda topics: [topic != DAN for topic in topics])
    assert next(parts) == ([(0, DAN)], [(0, DAN)])
    later = site.core.recorded.hand_over(lambda topics: [True] * len(topics))
    assert (list(later), site.core.recorded.left_behind) == ([([], [])], 0)


def test_what_is_left_again_while_topics_go_is_kept_for_as_long_as_what_was_left_then() -> None:
    """DPS-4: it ended when the time was over that had begun with the first leave, and whoever came back had missed something."""
    site = left_twice()
    site.core.publish(event(DAN))
    assert (site.ticks(2.5), len(site.kept())) == ([([], [])], 1)
    assert list(site.core.recorded.hand_over(lambda topics: [True] * len(topics))) == [([], [])]
    site.is_moving = False
    assert site.ticks(3.5, 4.4, 6.0) == [([], []), ([], []), ([DAN], [DAN])]


def test_what_is_left_again_and_again_while_topics_go_takes_no_more_room_than_topics_have() -> None:
    """DPS-26"""
    site = Recording()
    site.is_moving = True
    for _ in range(3 * AT_ONCE):
        site.core.subscribe(site.near, [DAN, EVE], [0, 1])
        site.core.unsubscribe(site.near, [DAN, EVE])
    assert site.core.recorded.left_behind <= 2 * 2 + AT_ONCE


def test_a_topic_that_comes_from_another_broker_is_recorded_though_nobody_follows_it() -> None:
    """DPS-4, DPS-13: other sites hear of one that was followed here. It ends as any that was left."""
    site, mix = Recording(), Topic(b"Pann/mix")
    site.core.subscribe(site.far, [EVE], [0])
    assert site.core.recorded.adopt([(DAN, True), (EVE, False), (EVE, True)]) == [(1, DAN), (0, EVE)]
    site.core.publish(event(DAN))
    assert (len(site.kept()), site.core.unmatched) == (1, 1)
    assert sorted(site.core.recorded.pairs(site.core.recorded.left())) == [(0, EVE), (1, DAN)]
    assert [site.core.recorded.is_followed(row) for row in (0, 1)] == [True, True]
    assert site.core.recorded.adopt([(DAN, True)]) == []
    assert len(site.core.recorded.lingering) == 2
    assert BrokerCore("sto", 1).recorded.adopt([(mix, True)]) == []
    assert BrokerCore("sto", 1).recorded.pairs([]) == []


def test_a_topic_that_was_left_while_it_came_ends_when_the_moment_in_which_it_had_come_is_too_old() -> None:
    """DPS-4, DPS-5: who was with its former owner asks for what came behind that moment."""
    site = Recording()
    site.came_at = None
    site.core.recorded.adopt([(DAN, True)])
    assert site.ticks(0.0, 1.0, 2.0, 3.0) == [([], [])] * 4, "topics are still coming"
    site.core.publish(event(DAN))
    site.came_at = site.window.stamp
    assert site.ticks(4.0, 5.0) == [([], [])] * 2
    assert site.kept() == [1]
    ended = site.ticks(*map(float, range(6, 12)))
    assert ended.index(([DAN], [DAN])) == 0
    assert site.window.too_old(Kind.USER) > site.came_at


@pytest.mark.parametrize("is_copied", [False, True])
def test_a_topic_that_somebody_may_come_back_for_is_recorded_from_its_first_event_on(is_copied: bool) -> None:
    """DPS-4, DPS-18: though nobody follows it. Others are not, nor is a kind without a window. It ends as any that was left."""
    site, mix = Recording(), Topic(b"Pann/mix")
    site.awaited.update((DAN, mix))
    for topic in (EVE, DAN, mix, DAN):
        if not is_copied:
            site.core.publish(event(topic))
        elif (numbered := site.core.number(event(topic))) is not None:
            site.core.let_out(numbered)
    assert (site.kept(), site.core.unmatched, site.lon) == ([1, 2], 4, [])
    assert site.core.recorded.lingering.pairs() == [(0, DAN)]
    assert site.core.interest.rows.keys() == {DAN}
    site.awaited.clear()
    assert [ended for ended in site.ticks(0.0, 5.0, 10.0) if any(ended)] == [([], [DAN])]
    assert site.kept() == []


def test_a_kind_without_a_window_has_nothing_in_its_rows_and_is_gone_when_it_is_left() -> None:
    """DPS-3"""
    site, mix = Recording(), Topic(b"Pann/mix")
    site.core.subscribe(site.near, [mix], [0])
    assert list(site.core.interest.masks) == [1 << site.near]
    site.core.publish(event(mix))
    assert (len(site.here), site.kept(), site.window.used_bytes) == (1, [], 0)
    assert site.core.unsubscribe(site.near, [mix]) == ([(0, mix)], [(0, mix)])


def test_an_event_that_is_not_delivered_because_its_topic_is_out_is_missed() -> None:
    """DPS-5: nobody is told that nothing is missing."""
    site = Recording()
    site.core.subscribe(site.near, [DAN], [0])
    site.core.assign(assignment(1, DAN))
    site.core.publish(event(DAN))
    assert (seqs(site.here), site.core.offloaded) == ([], 1)
    assert site.window.topic_after(0, Kind.USER, 0).reason == "offloaded"


@pytest.mark.parametrize("body", [b"", b"{}", b'{"op":"event",', b'{"op":"event","topic":"hm://presence/user/dan/"}'])
def test_what_no_broker_has_written_is_neither_recorded_nor_passed_on_where_events_are_kept(body: bytes) -> None:
    """DPS-5: a broker of another site sent it. An aggregator that asked about the past lost its link for that."""
    site = Recording()
    site.core.subscribe(site.near, [DAN], [0])
    site.core.relay([0, 0], [far_body(DAN, 42), body])
    assert (seqs(site.here), site.kept(), site.core.stale) == ([42], [42], 1)


def test_an_event_of_another_site_that_names_another_topic_does_not_decide_how_the_topic_is_kept() -> None:
    """DPS-7: a playlist was kept like presence, the latest event only."""
    site = Recording()
    mix = Topic(b"Pann/mix")
    site.window.bounds[Kind.PLAYLIST] = WindowBounds(seconds=2.0)
    site.core.subscribe(site.near, [mix], [0])
    site.core.relay([0], [far_body(DAN, 42)])
    assert (site.kept(), site.core.stale) == ([], 1)
