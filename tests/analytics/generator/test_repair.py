"""Freeing a chunk of repetitions: how many topics each owner has stays, and so does how often each topic is there, as far as possible."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.generator.repair import Repair

TOPICS = 40
NONE = np.empty(0, np.int64)
slots = st.lists(st.tuples(st.integers(0, 30), st.integers(0, TOPICS - 1)), min_size=1, max_size=100)


@given(slots, st.integers(0, 100))
@settings(max_examples=50)
def test_what_is_not_left_as_bad_is_unique_allowed_and_with_the_same_owners(pairs: list[tuple[int, int]], seed: int) -> None:
    keys = np.array(sorted(owner * TOPICS + topic for owner, topic in pairs))
    owners = keys // TOPICS
    forbidden = np.arange(0, 31 * TOPICS, TOPICS)
    _, bad = Repair(TOPICS, keys, forbidden, np.random.default_rng(seed)).run(np.arange(TOPICS, dtype=np.int32))
    kept = np.delete(keys, bad)
    assert np.array_equal(keys // TOPICS, owners)
    assert (np.diff(kept) > 0).all()
    assert not np.isin(kept, forbidden).any()


def test_topics_are_exchanged_so_that_each_is_there_as_often_as_before() -> None:
    """A hundred owners have ten slots each; at first the slots of each are in pairs."""
    topics = np.repeat(np.random.default_rng(1).integers(TOPICS, size=500), 2)
    keys = np.sort(np.repeat(np.arange(100), 10) * TOPICS + topics)
    repeated, bad = Repair(TOPICS, keys, NONE, np.random.default_rng(2)).run(np.empty(0, np.int32))
    assert repeated >= 500
    assert len(bad) == 0
    assert np.array_equal(np.bincount(keys % TOPICS, minlength=TOPICS), np.bincount(topics, minlength=TOPICS))


def test_what_cannot_be_is_left_as_bad() -> None:
    keys = np.array([3, 3, 3], np.int64)
    repeated, bad = Repair(2, keys - 2, NONE, np.random.default_rng(1)).run(np.array([0, 1], np.int32))
    assert (repeated, len(bad)) == (2, 1)


def test_nothing_to_do_changes_nothing() -> None:
    keys = np.array([1, 2, 41], np.int64)
    repeated, bad = Repair(TOPICS, keys, NONE, np.random.default_rng(1)).run(np.empty(0, np.int32))
    assert (repeated, len(bad), keys.tolist()) == (0, 0, [1, 2, 41])
