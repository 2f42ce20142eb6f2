"""What changes sides between two choices."""

import numpy as np

from analytics.planning.instance import instance
from analytics.planning.online.moves import moves, sides
from analytics.planning.satisfaction.solution import Solution


def test_moves_are_the_topics_that_came_and_that_left() -> None:
    found = moves(np.array([1, 2, 5]), np.array([2, 3, 5, 8]))
    assert found.came.tolist() == [3, 8]
    assert found.left.tolist() == [1]
    assert found.count == 3


def test_an_idle_topic_stays_on_its_side() -> None:
    """WA-29: topics without events are in no instance, so nothing is decided about them."""
    found = instance(np.array([0, 0, 0]), np.array([2, 4, 6]), np.array([0, 0, 3, 0, 3, 0, 0]))
    assert found.topic_ids.tolist() == [2, 4]
    chosen = Solution(np.array([1]), cost=3, value=1.0)
    assert sides(np.array([2, 6]), found, chosen).tolist() == [4, 6]
