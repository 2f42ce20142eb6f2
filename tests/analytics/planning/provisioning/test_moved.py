"""How many pairs move: counted for pairs that stay, with machines matched as well as can be."""

import numpy as np
from numpy.typing import NDArray

from analytics.planning.instance import instance
from analytics.planning.provisioning.gsp import gsp
from analytics.planning.provisioning.moved import Placed, moved
from analytics.planning.provisioning.placement import PairPlacement


def plan(subscriber: list[int], topic: list[int], machine_of: list[int]) -> Placed:
    """Returns a plan that serves all pairs. `machine_of` is by topic, then by subscriber."""
    events: NDArray[np.int64] = np.ones(10, np.int64)
    found = instance(np.array(subscriber), np.array(topic), events)
    machines = np.array(machine_of, dtype=np.int32)
    return Placed(found, gsp(found, 100), PairPlacement(machines, len(set(machine_of))))


def test_the_same_plan_with_other_names_of_machines_moves_nothing() -> None:
    """WA-43 (thesis 7.4)."""
    old = plan([0, 1, 2, 3], [5, 5, 6, 7], [0, 0, 1, 2])
    assert moved(old, plan([0, 1, 2, 3], [5, 5, 6, 7], [2, 2, 0, 1])) == 0


def test_pairs_that_come_or_go_are_not_moved_and_the_others_are_found_by_their_ids() -> None:
    """WA-43: topic 4 is new and subscriber 0 has left, so that all numbers differ; of topic 5 one of two remaining pairs moves."""
    old = plan([0, 1, 2, 3], [5, 5, 5, 6], [0, 0, 0, 1])
    assert moved(old, plan([1, 2, 3, 9], [5, 5, 6, 4], [1, 0, 1, 1])) == 1


def test_machines_are_matched_so_that_fewest_pairs_move() -> None:
    """Greedy matching would join the machines that share three pairs, and move two and two."""
    old = plan(list(range(7)), [1] * 7, [0, 0, 0, 0, 0, 1, 1])
    assert moved(old, plan(list(range(7)), [1] * 7, [0, 0, 0, 1, 1, 0, 0])) == 3


def test_nothing_in_common_moves_nothing() -> None:
    assert moved(plan([0], [1], [0]), plan([1], [1], [0])) == 0
