"""Samples: breadth first from random seeds, with all pairs among those reached."""

from collections import deque

import numpy as np
import pytest

from overlay.simulator.draws import Draws, Stream
from overlay.simulator.errors import OverlayError
from overlay.simulator.graphs.friends import friends
from overlay.simulator.graphs.graph import SubscriptionGraph, graph_of, neighbours
from overlay.simulator.graphs.sample import reach, sample


def distances(starts: list[int], joined: list[int], seeds: list[int]) -> list[int]:
    """Returns how far each is from the nearest seed, by a search of its own; -1 for those out of reach."""
    far = [-1] * (len(starts) - 1)
    waiting = deque(seeds)
    for seed in seeds:
        far[seed] = 0
    while waiting:
        here = waiting.popleft()
        for other in joined[starts[here] : starts[here + 1]]:
            if far[other] < 0:
                far[other] = far[here] + 1
                waiting.append(other)
    return far


def reached(graph: SubscriptionGraph, users: int, seed: int, seeds: int) -> tuple[list[int], list[int]]:
    """Returns who is in a sample, interpreted, and who its seeds were."""
    draws = Draws(seed, Stream.SAMPLE)
    starts, joined = (each.tolist() for each in neighbours(graph))
    order, seen = draws.order(graph.users).tolist(), [0] * (len(starts) - 1)
    reach([int(draws.state[0])], 0, starts, joined, order, users, seeds, [0] * (2 * len(starts)), seen)
    return [user for user in range(graph.users) if seen[user]], order[:seeds]


@pytest.mark.parametrize("seed", range(5))
def test_the_nearest_to_the_seeds_are_taken(seed: int) -> None:
    graph = friends(300, 1)
    inside, seeds = reached(graph, 120, seed, 3)
    starts, joined = neighbours(graph)
    far = distances(starts.tolist(), joined.tolist(), seeds)
    farthest = max(far[user] for user in inside)
    assert len(inside) == 120
    assert {user for user in range(300) if far[user] < farthest} <= set(inside)


def test_compiled_and_interpreted_reach_the_same_and_all_pairs_among_them_are_there() -> None:
    graph = friends(300, 1)
    inside, _ = reached(graph, 100, 2, 5)
    found = sample(graph, 100, 2)
    numbers = {user: number for number, user in enumerate(inside)}
    wanted = {
        (numbers[a], numbers[b]) for a, b in zip(graph.subscriber.tolist(), graph.topic.tolist(), strict=True) if {a, b} <= set(inside)
    }
    assert set(zip(found.subscriber.tolist(), found.topic.tolist(), strict=True)) == wanted
    assert found.is_social


def test_another_seed_takes_others() -> None:
    """OV-2."""
    graph = friends(300, 1)
    assert reached(graph, 100, 1, 5) == reached(graph, 100, 1, 5)
    assert reached(graph, 100, 1, 5)[0] != reached(graph, 100, 2, 5)[0]


def test_a_search_that_ends_goes_on_elsewhere() -> None:
    rings = [(base + place, base + (place + 1) % 5) for base in range(0, 50, 5) for place in range(5)]
    subscriber, topic = np.array(rings).T
    inside, _ = reached(graph_of(subscriber, topic, is_social=True), 12, 1, 1)
    assert len(inside) == 12
    # Whole rings of five, and two of the next.
    assert sorted(np.bincount([user // 5 for user in inside]).tolist())[-3:] == [2, 5, 5]


def test_users_reach_those_who_share_a_topic_that_is_no_user() -> None:
    chain = [(user, user + shift) for user in range(40) for shift in (0, 1)]
    subscriber, topic = np.array(chain).T
    graph = graph_of(subscriber, topic, is_social=False)
    found = sample(graph, 10, 3, seeds=1)
    assert found.users == 10
    assert found.pairs == 20
    # Ten neighbours on the chain have eleven topics.
    assert found.topics == 11


def test_a_sample_of_everybody_is_the_graph() -> None:
    graph = friends(200, 1)
    assert sample(graph, 200, 1) is graph


@pytest.mark.parametrize(("users", "seeds", "told"), [(1, 1, "two or more"), (50, 0, "one or more")])
def test_numbers_that_make_no_sense_are_refused(users: int, seeds: int, told: str) -> None:
    with pytest.raises(OverlayError, match=told):
        sample(friends(200, 1), users, 1, seeds)
