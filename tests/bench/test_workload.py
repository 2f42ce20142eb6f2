"""The workload of the benchmarks: always the same, and of the shape that was asked for."""

from itertools import islice
from statistics import correlation, mean

import pytest

from bench.shape import WorkloadShape
from bench.workload import FEWEST, MOST, GeneratedWorkload

SMALL = WorkloadShape(clients=400, topics=4_000)


def spoken(workload: GeneratedWorkload, number: int) -> list[int]:
    return list(islice(workload.publications(), number))


def test_the_same_shape_gives_the_same_workload_and_another_seed_another() -> None:
    one, same, other = (
        GeneratedWorkload(SMALL),
        GeneratedWorkload(SMALL),
        GeneratedWorkload(WorkloadShape(clients=400, topics=4_000, seed=2)),
    )
    assert one.follows == same.follows != other.follows
    assert spoken(one, 1_000) == spoken(same, 1_000) != spoken(other, 1_000)


def test_clients_follow_sixty_topics_in_the_mean_and_between_eight_and_a_hundred_and_twenty_each() -> None:
    sizes = [len(topics) for topics in GeneratedWorkload(SMALL).follows]
    assert mean(sizes) == pytest.approx(60, abs=0.5)
    assert FEWEST <= min(sizes) < 30 < 90 < max(sizes) <= MOST


def test_a_fixed_shape_gives_everybody_equally_many_topics_but_no_more_than_there_are() -> None:
    assert {len(topics) for topics in GeneratedWorkload(WorkloadShape(clients=20, topics=500, fixed=True)).follows} == {60}
    assert {len(topics) for topics in GeneratedWorkload(WorkloadShape(clients=20, topics=7)).follows} == {7}


def test_the_fanout_is_the_number_of_followers() -> None:
    workload = GeneratedWorkload(SMALL)
    for topic in (0, 17, 3_999):
        assert workload.fanout[topic] == sum(topic in topics for topics in workload.follows)


def test_popularity_is_skewed() -> None:
    fanout = sorted(GeneratedWorkload(SMALL).fanout, reverse=True)
    assert sum(fanout[:400]) > 0.3 * sum(fanout)


def test_who_is_followed_and_who_speaks_are_independent() -> None:
    workload = GeneratedWorkload(SMALL)
    times = [0] * SMALL.topics
    for topic in spoken(workload, 50_000):
        times[topic] += 1
    assert sorted(times, reverse=True)[0] > 10 * mean(times)
    assert abs(correlation(workload.fanout, times)) < 0.1
