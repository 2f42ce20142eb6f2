"""The dumb model itself, where it has to wait before it can say that something is wrong."""

from contextlib import nullcontext
from typing import Any

import pytest

from .oracle import Follower, SimulationOracle, Violated
from .process import SimulatedProcess


def an_epoch_without_its_past(follower: Follower, oracle: SimulationOracle) -> None:
    """Has a follower get an event of one epoch, and then one of another epoch that does not say what it goes on from."""
    for epoch in (1, 2):
        n = oracle.published("t1", "lon")
        event = {"topic": "hm://playlist/user/ann/playlist/t1/", "site": "lon", "epoch": epoch, "seq": epoch, "payload": {"n": n}}
        oracle.take(follower, event)


@pytest.fixture
def oracle() -> SimulationOracle:
    """A model of a life in which nothing is wrong."""
    return SimulationOracle()


@pytest.fixture
def follower() -> Follower:
    """Somebody who follows one topic."""
    return Follower("ann", "sto/p1", SimulatedProcess("sto/p1"), follows={"t1"})


def test_an_epoch_that_names_no_past_is_wrong_where_nothing_is(follower: Follower, oracle: SimulationOracle) -> None:
    """DPS-1"""
    with pytest.raises(Violated, match="does not hear which number this goes on from"):
        an_epoch_without_its_past(follower, oracle)


@pytest.mark.parametrize("lost", [["t1"], []])
def test_what_is_live_may_come_before_the_answer_that_says_that_something_is_missing(
    lost: list[str], follower: Follower, oracle: SimulationOracle
) -> None:
    """DPS-5: nothing that was missed of such a topic comes. It is wrong only where the answer says that nothing is missing."""
    follower.asks = {"t1"}
    an_epoch_without_its_past(follower, oracle)
    with nullcontext() if lost else pytest.raises(Violated, match="does not hear which number this goes on from"):
        oracle.answered(follower, lost)
    assert not follower.asks


def test_who_is_told_that_something_is_missing_begins_anew_at_once(follower: Follower, oracle: SimulationOracle) -> None:
    """DPS-5: what is live may come in the same moment as that answer. The event that said `after` may be what is missing."""
    follower.asks = {"t1"}
    oracle.take(follower, numbered(oracle.published("t1", "lon"), 1, 10))
    oracle.answered(follower, ["t1"])
    oracle.take(follower, numbered(oracle.published("t1", "lon"), 2, 35))


@pytest.mark.parametrize("covered_s", [0.5, 1.5])
def test_what_came_long_before_a_point_does_not_come_again_to_who_says_it(
    covered_s: float, follower: Follower, oracle: SimulationOracle
) -> None:
    """DPS-6: what a point says is as old as a heartbeat, so what came about then may come again, and nothing that is older."""
    n = oracle.published("t1", "lon")
    event = {"topic": "hm://playlist/user/ann/playlist/t1/", "site": "lon", "epoch": 1, "seq": 1, "payload": {"n": n}}
    oracle.take(follower, event)
    follower.came_s[n] = 1.0
    follower.begin_anew({"t1"}, oracle.publications, {"t1": covered_s})
    with pytest.raises(Violated, match="had come long before the point") if covered_s > 1.0 else nullcontext():
        oracle.take(follower, event)


def numbered(n: int, epoch: int, seq: int, **more: list[int]) -> dict[str, Any]:
    """Returns the event `n` as a follower gets it."""
    return {"topic": "hm://playlist/user/ann/playlist/t1/", "site": "lon", "epoch": epoch, "seq": seq, "payload": {"n": n}, **more}


@pytest.fixture
def other() -> Follower:
    """Somebody else who follows the topic."""
    return Follower("bob", "sto/p1", SimulatedProcess("sto/p1"), follows={"t1"})


def test_who_was_away_hears_of_the_past_of_an_epoch_when_the_one_before_it_goes_on(
    follower: Follower, other: Follower, oracle: SimulationOracle
) -> None:
    """DPS-1: a topic went to another broker and came back. Its numbers go on there, and somebody has got them already."""
    first, second, third = (oracle.published("t1", "lon") for _ in range(3))
    for each in (follower, other):
        oracle.take(each, numbered(first, 1, 10))
    oracle.take(other, numbered(second, 2, 35, after=[1, 10]))
    fourth = oracle.published("t1", "lon")
    oracle.take(other, numbered(third, 1, 36, after=[2, 35]))
    oracle.take(other, numbered(fourth, 1, 37))
    oracle.take(follower, numbered(second, 2, 35, after=[1, 10]))
    oracle.take(follower, numbered(third, 1, 36, after=[2, 35]))


@pytest.mark.parametrize("number", [13, 14])
def test_numbers_jump_over_no_more_than_was_missed_also_where_a_topic_has_come_back(
    number: int, follower: Follower, other: Follower, oracle: SimulationOracle
) -> None:
    """DPS-1: while nothing goes wrong. Other brokers count a topic on, so its first one knows how many events they had."""
    oracle.take(follower, numbered(oracle.published("t1", "lon"), 1, 10))
    for seq, more in ((11, {"after": [1, 10]}), (12, {})):
        oracle.take(other, numbered(oracle.published("t1", "lon"), 2, seq, **more))
    with nullcontext() if number == 13 else pytest.raises(Violated, match="2 events at most were missed"):
        oracle.take(follower, numbered(oracle.published("t1", "lon"), 1, number))


def test_a_number_is_that_of_one_event_whatever_the_epoch_unless_something_went_wrong(
    follower: Follower, other: Follower, oracle: SimulationOracle
) -> None:
    """DPS-1: else a topic could come back, go on behind the number that it had, and nobody would see what is missing."""
    oracle.take(other, numbered(oracle.published("t1", "lon"), 2, 11))
    with pytest.raises(Violated, match="the number 11 is that of event 0"):
        oracle.take(follower, numbered(oracle.published("t1", "lon"), 1, 11))
    oracle.is_calm = False
    oracle.take(follower, numbered(oracle.published("t1", "lon"), 3, 11))


def test_a_number_that_came_before_an_event_was_published_stands_before_it(
    follower: Follower, other: Follower, oracle: SimulationOracle
) -> None:
    """DPS-1: so an epoch that goes on from a lower one leaves it out, also for those who have not got it."""
    oracle.take(other, numbered(oracle.published("t1", "lon"), 1, 11))
    late = numbered(oracle.published("t1", "lon"), 2, 12, after=[1, 10])
    with pytest.raises(Violated, match="number 11 of that epoch was given"):
        oracle.take(follower, late)


def test_a_number_that_came_to_somebody_stands_before_what_comes_to_them_then(follower: Follower, oracle: SimulationOracle) -> None:
    """DPS-1: also where both were published beside each other, while the topic moved."""
    first, second = (oracle.published("t1", "lon") for _ in range(2))
    oracle.take(follower, numbered(first, 1, 11))
    with pytest.raises(Violated, match="number 11 of that epoch was given"):
        oracle.take(follower, numbered(second, 2, 12, after=[1, 10]))


def test_first_numbers_that_came_before_an_answer_are_not_said_until_it_is_there(follower: Follower, oracle: SimulationOracle) -> None:
    """DPS-5: they may stand behind a loss. So what came there may come again to who says a point."""
    n = oracle.published("t1", "lon")
    follower.asks = {"t1"}
    oracle.take(follower, numbered(n, 1, 10))
    follower.came_s[n] = 1.0
    back = Follower("ann", "sto/p1", SimulatedProcess("sto/p1"), wants={"t1"})
    back.go_on_from(follower)
    back.begin_anew(set(), oracle.publications, {})
    assert back.repeatable[n] == 1
    back.follows_now(["t1"])
    assert not back.firsts


@pytest.mark.parametrize("number", [11, 12])
def test_what_a_number_told_before_an_answer_is_not_owed_any_more(number: int, follower: Follower, oracle: SimulationOracle) -> None:
    """DPS-5: a jump tells that something is missing. Where the answer would have said so, and does not come, that is all that they hear."""
    oracle.is_calm = False
    oracle.take(follower, numbered(oracle.published("t1", "lon"), 1, 10))
    follower.away_s = {"t1": 1.0}
    follower.asks = {"t1"}
    n = oracle.published("t1", "lon")
    oracle.take(follower, numbered(n, 1, number))
    follower.came_s[n] = 5.0
    back = Follower("ann", "sto/p1", SimulatedProcess("sto/p1"))
    back.go_on_from(follower)
    assert back.away_s == {"t1": 1.0 if number == 11 else 5.0}


def test_a_point_is_about_what_is_followed_when_it_comes(follower: Follower) -> None:
    """DPS-5: not about what was asked for and is not answered, nor about what was given up."""
    follower.wants, follower.asked = {"t1", "t3"}, {1: {"t1"}, 2: {"t3"}}
    follower.answered(1, [])
    follower.given("early", 1.0)
    follower.answered(2, [])
    assert {topic: each.point for topic, each in follower.positions.items()} == {"t1": "early"}
    follower.given("late", 2.0)
    follower.gives_up("t1")
    assert {topic: each.point for topic, each in follower.positions.items()} == {"t3": "late"}
