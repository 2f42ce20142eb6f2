"""GSP: the same as algorithms 8 and 9 read literally, and no pair too many."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.planning.errors import PlanError
from analytics.planning.instance import Instance, instance
from analytics.planning.provisioning.gsp import gsp
from tests.support import twin_mcss
from tests.support.instances import instances

problems = given(instances(), st.integers(1, 30))


@problems
@settings(max_examples=200, deadline=None)
def test_the_pairs_are_those_of_the_greedy_rule(found: Instance, threshold: int) -> None:
    """WA-33 (thesis 7.2.1, algorithms 8 and 9). WA-44: E14 (ratios), E15 (each subscriber's own pairs), E16 (each topic's own cost)."""
    chosen = gsp(found, threshold).subscribers_of.turned(len(found.topics_of)).lists()
    assert chosen == [sorted(topics) for topics in twin_mcss.gsp(found, threshold)]


@problems
@settings(max_examples=100, deadline=None)
def test_whoever_loses_the_last_pair_is_not_satisfied(found: Instance, threshold: int) -> None:
    """WA-33."""
    for topics, needed in zip(twin_mcss.gsp(found, threshold), found.thresholds(threshold), strict=True):
        assert found.events[topics[:-1]].sum() < needed <= found.events[topics].sum()


def test_the_loudest_that_fit_are_chosen_and_the_smallest_other_ends_it() -> None:
    """Who needs 10 gets 8, and then 3 rather than 20 or 6."""
    found = instance(np.zeros(4, np.int64), np.arange(4), np.array([20, 6, 8, 3]))
    assert gsp(found, 8).served().tolist() == [2]
    assert gsp(found, 10).served().tolist() == [2, 3]


def test_many_topics_of_one_subscriber_are_sorted_right() -> None:
    """More than fit into a small sort: 1 + 2 + ... + 100, of which 100 + 99 + 98 + 3 make 300."""
    found = instance(np.zeros(100, np.int64), np.arange(100), np.arange(1, 101))
    assert gsp(found, 300).served().tolist() == [2, 97, 98, 99]


@pytest.mark.parametrize(("threshold", "message"), [(0, "1 event or more"), (-3, "1 event or more"), (1 << 61, "2\\^60 events or less")])
def test_a_threshold_that_nobody_can_mean_is_refused(threshold: int, message: str) -> None:
    with pytest.raises(PlanError, match=f"the threshold is {threshold}; it must be {message}"):
        gsp(instance(np.array([0]), np.array([0]), np.array([1])), threshold)


def test_an_empty_instance_has_no_pairs() -> None:
    none = np.empty(0, np.int64)
    assert len(gsp(instance(none, none, none), 10)) == 0
