"""RSP: random, yet the same for the same seed, and no pair too many."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.planning.errors import PlanError
from analytics.planning.instance import Instance, instance
from analytics.planning.provisioning.rsp import rsp
from tests.support.instances import instances


@given(instances(), st.integers(1, 30), st.integers(0, 5))
@settings(max_examples=100)
def test_everybody_is_satisfied_and_would_not_be_without_his_last_topic(found: Instance, threshold: int, seed: int) -> None:
    chosen = rsp(found, threshold, seed).subscribers_of.turned(len(found.topics_of)).lists()
    for topics, followed, needed in zip(chosen, found.topics_of.lists(), found.thresholds(threshold), strict=True):
        got = found.events[topics]
        assert set(topics) <= set(followed)
        assert got.sum() >= needed > got.sum() - got.max()


def test_the_same_seed_chooses_the_same_and_another_one_not() -> None:
    found = instance(np.repeat(np.arange(50), 4), np.tile(np.arange(4), 50), np.ones(4, np.int64))
    first, again, other = (rsp(found, 2, seed).subscribers_of.values.tolist() for seed in (1, 1, 2))
    assert first == again != other


def test_each_topic_is_as_likely() -> None:
    """Of 4 topics 2 are chosen: each by half of 4000 subscribers, give or take four standard deviations (126)."""
    found = instance(np.repeat(np.arange(4000), 4), np.tile(np.arange(4), 4000), np.ones(4, np.int64))
    assert np.abs(rsp(found, 2).subscribers_of.lengths - 2000).max() < 126


def test_two_at_once_do_not_disturb_each_other() -> None:
    """Each thread draws from a generator of its own."""
    found = instance(np.repeat(np.arange(20_000), 4), np.tile(np.arange(4), 20_000), np.ones(4, np.int64))
    seeds = [1, 2, 3, 4, 5, 6, 7, 8]
    with ThreadPoolExecutor(4) as pool:
        at_once = list(pool.map(lambda seed: rsp(found, 2, seed).subscribers_of.values.tolist(), seeds))
    assert at_once == [rsp(found, 2, seed).subscribers_of.values.tolist() for seed in seeds]


@pytest.mark.parametrize("seed", [-1, 1 << 32, 1 << 70, 1.5])
def test_a_seed_that_the_generator_does_not_take_is_refused(seed: Any) -> None:
    with pytest.raises(PlanError, match=f"the seed is {seed}; it must be a whole number from 0 to 2\\^32 - 1"):
        rsp(instance(np.array([0]), np.array([0]), np.array([1])), 1, seed)


def test_a_threshold_below_one_event_is_refused() -> None:
    with pytest.raises(PlanError, match="threshold is 0; it must be 1 event or more"):
        rsp(instance(np.array([0]), np.array([0]), np.array([1])), 0)
