"""The compact pairs of an access point against a plain set, under any changes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.offloading import pairs as follows_module
from analytics.offloading.pairs import PairSet, pair, topics_of, users_of

CHANGES = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5), st.booleans()), max_size=30)


@given(st.lists(CHANGES, max_size=4))
@settings(max_examples=60)
def test_any_changes_leave_what_a_set_would_hold(batches: list[list[tuple[int, int, bool]]]) -> None:
    follows, model = PairSet(), set[tuple[int, int]]()
    for batch in batches:
        for user, topic, begins in batch:
            follows.note(pair(user, topic), begins)
            (model.add if begins else model.discard)((user, topic))
        assert follows.settle(100) == 0
        assert list(zip(users_of(follows.keys).tolist(), topics_of(follows.keys).tolist(), strict=True)) == sorted(model)


def test_what_there_is_no_room_for_is_counted_and_what_ends_makes_room() -> None:
    follows = PairSet()
    for topic in range(5):
        follows.note(pair(1, topic), True)
    assert (follows.settle(3), len(follows)) == (2, 3)
    follows.note(pair(1, 0), False)
    follows.note(pair(1, 2), True)
    assert (follows.settle(0), len(follows)) == (0, 2)


def test_many_changes_ask_to_be_merged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(follows_module, "MAX_CHANGES", 3)
    follows = PairSet()
    assert [follows.note(pair(0, topic), True) for topic in (7, 7, 8, 9)] == [False, False, False, True]


def test_the_largest_numbers_fit_and_numbers_can_be_given_anew() -> None:
    most = (1 << 31) - 1
    follows = PairSet()
    follows.note(pair(most, most), True)
    follows.note(pair(3, 9), True)
    follows.settle(9)
    assert (users_of(follows.keys).tolist(), topics_of(follows.keys).tolist()) == ([3, most], [9, most])
    follows.renumber(np.array([3, most]), np.array([1, 9, most]))
    assert (users_of(follows.keys).tolist(), topics_of(follows.keys).tolist()) == ([0, 1], [1, 2])
