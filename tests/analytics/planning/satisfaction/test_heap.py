"""The heap: the greatest key first, and the lower number of equals, whatever happens to keys."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.planning.satisfaction.heap import GONE, heap, keep_fitting, remove_top, rise, sink

keys = st.lists(st.integers(0, 6).map(float), min_size=1, max_size=40)


@given(keys, st.lists(st.tuples(st.integers(0, 39), st.integers(0, 6).map(float)), max_size=30))
@settings(max_examples=100)
def test_items_leave_in_the_order_of_their_keys_after_changes(found: list[float], changes: list[tuple[int, float]]) -> None:
    made = heap(np.array(found))
    for number, key in changes:
        item = number % len(found)
        place = made.places[item]
        made.keys[place] = key
        if key > found[item]:
            rise(made, place)
        else:
            sink(made, len(found), place)
        found[item] = key
    size, left = len(found), []
    while size:
        left.append(int(made.items[0]))
        size = remove_top(made, size)
    assert left == sorted(range(len(found)), key=lambda item: (-found[item], item))
    assert set(made.places.tolist()) == {GONE}


@given(keys, st.integers(0, 40))
@settings(max_examples=60)
def test_what_does_not_fit_leaves_at_once(found: list[float], most: int) -> None:
    costs = np.arange(len(found)) * 7 % 41
    made = heap(np.array(found))
    size = keep_fitting(made, len(found), costs, most)
    fitting = np.flatnonzero(costs <= most).tolist()
    assert sorted(made.items[:size].tolist()) == fitting
    assert np.flatnonzero(made.places != GONE).tolist() == fitting
    assert all(made.places[made.items[slot]] == slot for slot in range(size))
    if size:
        assert made.items[0] == min(fitting, key=lambda item: (-found[item], item))
