"""Harm: deaths, partitions, changed interests, and nodes that misbehave."""

from collections import Counter

import numpy as np
import pytest

from overlay.simulator.errors import OverlayError
from overlay.simulator.harm import LIES, SHARES, Misdeed, deaths, misdeeds, new_interests, partition
from tests.support.even_workload import even_workload


def test_the_share_of_the_dead_is_that_which_was_asked_for() -> None:
    present = np.arange(50, 250)
    dead = deaths(present, 0.5, 1)
    assert len(set(dead.tolist())) == 100
    assert set(dead.tolist()) < set(present.tolist())
    assert dead.tolist() == deaths(present, 0.5, 1).tolist() != deaths(present, 0.5, 2).tolist()


def test_a_larger_share_of_misdeeds_has_all_of_a_smaller_one() -> None:
    """10, 20, 30 %."""
    found = [misdeeds(500, share, Misdeed.FREERIDES, 3) for share in SHARES]
    assert [(each == 1).sum() for each in found] == [50, 100, 150]
    assert (found[0] <= found[1]).all()
    assert (found[1] <= found[2]).all()
    assert not misdeeds(500, 0.0, Misdeed.FREERIDES, 3).any()


def test_lies_are_bits_beside_freeriding() -> None:
    """Themselves over and over, the dead, false ages."""
    flags = misdeeds(100, 0.1, Misdeed.FREERIDES | LIES, 1)
    assert set(flags.tolist()) == {0, 15}
    assert not LIES & Misdeed.FREERIDES
    assert flags.dtype == np.int64


def test_a_partition_has_two_sides_for_some_cycles() -> None:
    found = partition(1000, 0.3, 5, 9, seed=1)
    assert Counter(found.side.tolist()) == {0: 700, 1: 300}
    assert [cycle for cycle in range(20) if found.holds(cycle)] == [5, 6, 7, 8, 9]


def test_a_tenth_of_the_nodes_pass_on_their_topics_in_a_round() -> None:
    """Each of them has the topics of another one."""
    before = even_workload(nodes=200, topics=150, each=7, seed=1)
    found = new_interests(before, 0.1, 2)
    old, new = before.topics_of.lists(), found.workload.topics_of.lists()
    changed = {node for node in range(200) if old[node] != new[node]}
    assert changed <= set(found.nodes.tolist())
    assert len(found.nodes) == 20
    assert len(changed) == 20
    assert sorted(old[node] for node in changed) == sorted(new[node] for node in changed)
    assert (found.workload.subscribers_of.lengths == before.subscribers_of.lengths).all()
    assert (found.workload.topics, found.workload.nodes) == (150, 200)


def test_numbers_that_make_no_sense_are_refused() -> None:
    with pytest.raises(OverlayError, match=r"a share of 1.5: give 0 to 1"):
        deaths(np.arange(5), 1.5, 1)
    with pytest.raises(OverlayError, match="a partition from cycle 5 to cycle 4"):
        partition(10, 0.5, 5, 4, seed=1)
    with pytest.raises(OverlayError, match="two nodes or more must change; give a larger share"):
        new_interests(even_workload(nodes=10, topics=10, each=2, seed=1), 0.1, 1)
