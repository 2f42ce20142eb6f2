"""The bounds: nothing surpasses them."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.planning.instance import Instance, instance
from analytics.planning.satisfaction.bound import bounds
from tests.support.instances import instances, optimum


@given(instances(), st.integers(1, 20), st.floats(0, 1))
@settings(max_examples=100)
def test_no_choice_of_topics_surpasses_the_bounds(found: Instance, threshold: int, share: float) -> None:
    """WA-18 (thesis 6.4, theorems 6.7 and 6.13)."""
    capacity = int(found.cost.sum() * share)
    best = optimum(found, threshold, capacity)
    limit = bounds(found, threshold, capacity)
    assert best[0] <= limit.b3m
    assert best[1] <= limit.fb3m + 1e-9


def test_the_cheapest_subscribers_are_counted_while_the_capacity_lasts() -> None:
    """WA-31: E3 (it ends at the first who does not fit). Prices are 3, 4 (the smallest topic, above the threshold) and 3.

    3 + 3 fit into 8, and half of the 4.
    """
    found = instance(np.array([0, 1, 2]), np.array([0, 1, 0]), np.array([3, 4]))
    assert bounds(found, threshold=3, capacity=8) == (2, 2.5)


def test_capacity_for_all_satisfies_all_and_none_nobody() -> None:
    found = instance(np.array([0, 1]), np.array([0, 1]), np.array([3, 4]))
    assert bounds(found, threshold=9, capacity=7) == (2, 2.0)
    assert bounds(found, threshold=9, capacity=0) == (0, 0.0)
