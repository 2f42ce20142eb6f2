"""The demo's own arithmetic: what it expects, what it counts, and when it says that both agree."""

import random
from dataclasses import replace

import pytest

from analytics.planning.satisfaction.solution import evaluate
from segue.demo.dataset import Dataset
from segue.offload_demo.count import Count
from segue.offload_demo.outcome import OffloadOutcome
from segue.offload_demo.stage import Stage, stage

FRIENDS = {"ann": ("bob", "eve"), "bob": ("ann",), "eve": ("ann",), "loner": ()}
DATASET = Dataset(
    friends=FRIENDS,
    plays={"ann": ((1, 60),), "bob": ((1, 30),), "eve": ((1, 9), (2, 1)), "loner": ()},
    artists={1: "Björk", 2: "Sigur Rós"},
)


def played() -> Stage:
    return stage(DATASET, events=10, share=0.5, threshold=4, metric="b3m")


def test_everybody_publishes_in_proportion_to_what_they_played_and_once_at_least() -> None:
    on = played()
    assert on.events == {"ann": 6, "bob": 3, "eve": 1, "loner": 1}
    assert (on.demand, on.capacity) == (6 * 2 + 3 + 1, 8)
    assert {user: on.needs(user) for user in FRIENDS} == {"ann": 4, "bob": 4, "eve": 4, "loner": 0}
    plays = on.plays(random.Random(1))
    assert {user: plays.count(user) for user in FRIENDS} == on.events
    assert plays != sorted(plays)


def test_the_arrays_of_the_stage_are_its_friends_and_events() -> None:
    found = played().instance()
    assert (found.events.tolist(), found.topics_of.lists(), int(found.cost.sum())) == ([6, 3, 1], [[1, 2], [0], [0]], 16)
    assert evaluate(found, 4, found.topic_ids[:0]).b3m == 0


def test_arrivals_are_counted_by_user_and_what_comes_twice_is_told() -> None:
    on, count = played(), Count()
    for number in range(4):
        count.heard("bob", f"ann watch {number}")
        count.heard("eve", f"ann watch {number % 2}")
    count.heard("ann", "bob watch 9")
    assert (count.deliveries, count.duplicated, count.served()) == (7, 2, {"ann", "bob"})
    assert (count.satisfied(on), count.fractions(on)) == (1, 1 + 0.5 + 0.25)
    assert (count.value(on), count.value(replace(on, metric="fb3m"))) == (1, 1.75)


GOOD = OffloadOutcome(
    users=4,
    topics=3,
    metric="b3m",
    threshold=4,
    demand=16,
    capacity=8,
    served=1,
    offloaded=2,
    run_ms=1,
    bound=2.0,
    predicted_value=1.0,
    predicted_cost=6,
    measured_value=1.0,
    measured_cost=6,
    cuckoo_value=0.0,
    cuckoo_cost=8,
    duplicated=0,
    strayed=0,
    untold=0,
    refused=0,
)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"measured_cost": 5}, "5 deliveries were made, and 6 were predicted."),
        ({"measured_cost": 9, "predicted_cost": 9}, "9 deliveries are more than the capacity of 8."),
        ({"measured_value": 2.0}, "The satisfaction that was counted is 2, and 1 was predicted."),
        ({"strayed": 2}, "Events of 2 topics arrived that were out of real time."),
        ({"untold": 1}, "1 users were not told"),
        ({"duplicated": 1}, "1 events came twice."),
        ({"refused": 1}, "1 events were refused"),
    ],
)
def test_whatever_differs_is_a_problem_in_words(wrong: dict[str, float], said: str) -> None:
    outcome = replace(GOOD, **wrong)  # type: ignore[arg-type]
    assert not outcome.is_good
    assert any(problem.startswith(said) for problem in outcome.problems())
    assert outcome.document()["is_good"] is False


def test_a_run_in_which_all_agrees_is_good() -> None:
    assert GOOD.is_good
    assert GOOD.document()["problems"] == []
