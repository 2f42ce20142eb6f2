"""The numbers of topics, and what of them goes with a topic that moves."""

import json
from collections import defaultdict
from typing import Any

import pytest

from broker.topic_numbers import RETAINED_COUNTS, TopicNumbers
from infra.kernel.events import encode_tail
from infra.kernel.topics import Topic, format_topic, user_topic

DAN, EVE, ZOE = user_topic("dan"), user_topic("eve"), user_topic("zoe")
EPOCH = 7


class Counted:
    """Numbers of topics, and the rows of those that are wanted."""

    def __init__(self, *wanted: Topic) -> None:
        self.rows = {topic: row for row, topic in enumerate(wanted)}
        self.numbers = TopicNumbers("sto", EPOCH, self.rows)

    def next(self, topic: Topic) -> dict[str, Any]:
        tail = encode_tail(format_topic(topic), 1, "x", "play", b"{}")
        found: dict[str, Any] = json.loads(self.numbers.body(self.rows[topic], topic, tail, passes=True))
        return found

    def seqs(self, topic: Topic, number: int) -> list[int]:
        return [self.next(topic)["seq"] for _ in range(number)]

    def leave(self, topic: Topic) -> None:
        self.numbers.released(self.rows.pop(topic), topic)


def test_numbers_of_a_topic_rise_by_one_also_while_nobody_wants_it() -> None:
    """SB-21: whoever comes back sees a gap of exactly what was missed."""
    site = Counted(DAN, EVE)
    assert site.seqs(DAN, 2) == [1, 2]
    site.numbers.miss(site.rows[DAN], DAN)
    site.leave(DAN)
    site.numbers.miss(None, DAN)
    site.rows[DAN] = 0
    assert (site.seqs(DAN, 1), site.numbers.last(DAN)) == ([5], (EPOCH, 5))


def test_a_count_that_was_forgotten_starts_above_every_number_given_before() -> None:
    """SB-21: counts of unwanted topics are bounded in number; within an epoch a number of a topic never repeats."""
    site = Counted()
    given: dict[Topic, set[int]] = defaultdict(set)
    for topic in [DAN] * 5 + [user_topic(f"u{n}") for n in range(RETAINED_COUNTS + 1)] + [DAN]:
        site.rows[topic] = 0
        (number,) = site.seqs(topic, 1)
        assert number not in given[topic]
        given[topic].add(number)
        site.leave(topic)
    assert len(given[DAN]) == 6


def test_of_topics_that_have_come_as_many_are_remembered_as_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("broker.topic_numbers.MAX_INHERITED", 2)
    site = Counted()
    for topic in (DAN, EVE, ZOE):
        site.numbers.inherit(topic, (3, 1))
    assert [site.numbers.last(topic) for topic in (DAN, EVE, ZOE)] == [None, (3, 1), (3, 1)]


def test_of_topics_that_come_back_those_that_are_wanted_are_all_remembered_and_of_others_as_many_as_may_be(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SB-21: a number that is forgotten looks like a loss to those who follow."""
    monkeypatch.setattr("broker.topic_numbers.MAX_INHERITED", 2)
    wanted, others = [user_topic(f"u{n}") for n in range(4)], [DAN, EVE, ZOE]
    site = Counted(*wanted)
    for topic in [*wanted, *others]:
        site.numbers.inherit(topic, (EPOCH, 9))
    assert [site.numbers.last(topic) for topic in others] == [None, (EPOCH, 9), (EPOCH, 9)]
    assert [site.seqs(topic, 1) for topic in wanted] == [[10]] * 4


def test_a_topic_that_comes_back_goes_on_behind_the_numbers_that_were_given_meanwhile() -> None:
    """SB-21, DPS-19: another broker took this one for dead, and it did not know that; within an epoch a number of a topic never repeats."""
    site = Counted(DAN)
    site.seqs(DAN, 7)
    site.numbers.inherit(DAN, (EPOCH, 4))
    assert site.seqs(DAN, 1) == [8]


def test_a_topic_that_was_given_away_and_comes_back_goes_on_behind_its_last_number() -> None:
    """SB-21, DPS-1: one that got no number elsewhere lacks none."""
    site = Counted(DAN, EVE)
    site.seqs(DAN, 4)
    site.seqs(EVE, 9)
    site.numbers.give_up(DAN)
    site.numbers.inherit(DAN, (EPOCH, 4))
    assert site.seqs(DAN, 1) == [5]


def moved(topic: Topic, source: Counted, target: Counted) -> None:
    """Has a topic go from one broker to another one, as planned."""
    last = source.numbers.last(topic)
    assert last is not None
    source.numbers.give_up(topic)
    target.numbers.inherit(topic, last)


def other_broker(*wanted: Topic) -> Counted:
    other = Counted(*wanted)
    other.numbers = TopicNumbers("sto", EPOCH + 1, other.rows)
    return other


@pytest.mark.parametrize("others", [0, 500])
def test_numbers_of_a_topic_that_comes_back_jump_over_what_it_got_elsewhere_and_over_nothing_else(others: int) -> None:
    """SB-21, DPS-1: who got nothing of that sees how much is missing, however much the broker numbered meanwhile on other topics."""
    here, there = Counted(DAN, EVE), other_broker(DAN, ZOE)
    here.seqs(DAN, 3)
    moved(DAN, here, there)
    there.seqs(ZOE, others)
    there.seqs(DAN, 20)
    here.seqs(EVE, others)
    moved(DAN, there, here)
    first, second = here.next(DAN), here.next(DAN)
    assert (first["epoch"], first["seq"], first["after"]) == (EPOCH, 24, [EPOCH + 1, 23])
    assert (second["seq"], "after" in second) == (25, False)


def test_a_topic_that_comes_back_goes_on_above_what_it_got_here_also_where_its_last_owner_had_not_heard_of_that() -> None:
    """SB-21, DPS-19: within an epoch a number of a topic never repeats."""
    site = Counted(DAN)
    site.seqs(DAN, 9)
    site.numbers.give_up(DAN)
    site.numbers.inherit(DAN, (EPOCH + 1, 4))
    assert site.seqs(DAN, 2) == [10, 11]
    site.numbers.give_up(DAN)
    site.numbers.inherit(DAN, (EPOCH, 6))
    assert site.seqs(DAN, 1) == [12]


def test_a_topic_that_comes_back_and_was_forgotten_goes_on_above_all_that_were(monkeypatch: pytest.MonkeyPatch) -> None:
    """SB-21: of topics that were given away some are remembered; within an epoch a number of a topic never repeats."""
    monkeypatch.setattr("broker.topic_numbers.RETAINED_COUNTS", 1)
    site = Counted(DAN, EVE, ZOE)
    for topic, number in ((DAN, 9), (EVE, 5), (ZOE, 2)):
        site.seqs(topic, number)
        site.numbers.give_up(topic)
    for topic in (DAN, EVE, ZOE):
        site.numbers.inherit(topic, (EPOCH + 1, 1))
    assert [site.seqs(topic, 1) for topic in (DAN, EVE, ZOE)] == [[15], [15], [17]]


def test_a_topic_that_left_when_its_count_was_forgotten_goes_on_above_all_that_were(monkeypatch: pytest.MonkeyPatch) -> None:
    """SB-21: its next owner knows nothing of its numbers. Some that it got here before may be remembered, and are too low."""
    monkeypatch.setattr("broker.topic_numbers.RETAINED_COUNTS", 1)
    site = Counted(DAN)
    site.seqs(DAN, 2)
    site.numbers.give_up(DAN)
    site.numbers.inherit(DAN, (EPOCH, 2))
    site.seqs(DAN, 7)
    site.leave(DAN)
    site.rows[EVE] = 0
    site.seqs(EVE, 1)
    site.leave(EVE)
    assert site.numbers.last(DAN) is None
    site.numbers.inherit(DAN, (EPOCH + 1, 1))
    site.rows[DAN] = 0
    assert site.seqs(DAN, 1) == [10]


def test_what_begins_anew_stands_above_a_topic_that_has_come_with_a_high_number() -> None:
    """SB-21: its count may be forgotten, and then it begins anew itself."""
    site = Counted(DAN, EVE)
    site.numbers.inherit(DAN, (3, 1000))
    assert site.seqs(DAN, 1) == [1001]
    assert site.seqs(EVE, 1) == [1002]


def test_the_first_event_under_another_epoch_names_the_last_one_before_it_unless_that_is_broken() -> None:
    """DPS-1, DPS-19"""
    site = Counted(DAN, EVE)
    site.seqs(DAN, 2)
    site.seqs(EVE, 1)
    site.numbers.begin_epoch(EPOCH + 1, lambda topic: topic == EVE)
    found = [site.next(topic) for topic in (DAN, DAN, EVE)]
    assert [(event["epoch"], event.get("after")) for event in found] == [(8, [7, 2]), (8, None), (8, None)]


def test_an_event_that_nobody_gets_is_counted_on_under_the_epoch_of_the_former_owner() -> None:
    """DPS-1: so the first one that somebody gets shows that one is missing."""
    site = Counted(DAN)
    site.numbers.inherit(DAN, (3, 41))
    assert site.numbers.body(0, DAN, b"", passes=False) == b""
    assert (site.numbers.last(DAN), site.next(DAN)["after"]) == ((3, 42), [3, 42])
