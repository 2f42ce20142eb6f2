"""Topics in part, within the capacity."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.planning.satisfaction.knapsack import most_profit, nearest

ONES = st.lists(st.tuples(st.floats(-2, 3), st.integers(1, 9)), min_size=1, max_size=6)


def test_the_last_topic_is_taken_in_part() -> None:
    profits, costs = np.array([4.0, 9.0, 1.0]), np.array([4.0, 3.0, 1.0])
    assert most_profit(profits, costs, 0) == 0
    assert most_profit(profits, costs, 5) == 9 + 2
    assert most_profit(profits, costs, 100) == 14


@given(ONES, st.floats(0, 60), st.floats(0, 5))
@settings(max_examples=200)
def test_shares_are_lowered_by_one_price_until_they_cost_the_capacity(
    given: list[tuple[float, int]], capacity: float, begin: float
) -> None:
    wanted, costs = np.array([each[0] for each in given]), np.array([float(each[1]) for each in given])
    shares = np.empty(len(costs))
    price = nearest(wanted, costs, costs, capacity, begin, shares)
    assert shares == pytest.approx(np.clip(wanted - price * costs, 0, 1))
    assert costs @ shares <= capacity * (1 + 1e-5) + 1e-9
    assert price == 0 or costs @ shares == pytest.approx(capacity, rel=1e-5, abs=1e-9)
