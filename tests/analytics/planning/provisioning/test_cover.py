"""The cheapest topics for one subscriber, beside all choices that there are."""

from itertools import product
from typing import NamedTuple

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.planning.provisioning.cover import MOST_CELLS, cover

# Topics as their events and prices.
SMALL = st.lists(st.tuples(st.integers(1, 12), st.integers(1, 30)), min_size=1, max_size=8)
LARGE = st.lists(st.tuples(st.integers(1, 9000), st.integers(1, 30000)), min_size=1, max_size=8)


class Covered(NamedTuple):
    """The answer of `cover`, and the sums of the topics that it took."""

    price: float
    least: float
    events: int
    prices: float


def covered(topics: list[tuple[int, int]], need: int) -> Covered:
    """Returns what `cover` says of these topics, and which it took."""
    events, prices = np.array([each[0] for each in topics]), np.array([float(each[1]) for each in topics])
    taken = np.ones(len(topics), np.bool_)
    price, least = cover(events, prices, need, taken)
    return Covered(price, least, int(events[taken].sum()), float(prices[taken].sum()))


def cheapest(topics: list[tuple[int, int]], need: int) -> int:
    """Returns the least price, by trying all."""
    choices = ([topic for topic, taken in zip(topics, switches, strict=True) if taken] for switches in product((0, 1), repeat=len(topics)))
    return min(sum(price for _, price in choice) for choice in choices if sum(events for events, _ in choice) >= need)


@given(SMALL, st.data())
@settings(max_examples=60)
def test_no_choice_is_cheaper(topics: list[tuple[int, int]], data: st.DataObject) -> None:
    need = data.draw(st.integers(1, sum(events for events, _ in topics)))
    found = covered(topics, need)
    assert found.events >= need
    assert found.price == found.prices == found.least == cheapest(topics, need)


@given(LARGE, st.data())
@settings(max_examples=60)
def test_when_too_much_is_needed_for_a_table_the_need_is_met_and_the_limit_still_holds(
    topics: list[tuple[int, int]], data: st.DataObject
) -> None:
    need = data.draw(st.integers(1, sum(events for events, _ in topics)))
    found = covered(topics, need)
    assert found.events >= need
    assert found.least - 1e-6 <= cheapest(topics, need) <= found.price == found.prices


def test_when_there_are_too_many_topics_for_a_table_the_cheapest_per_event_are_combined() -> None:
    """A thousand topics of 7 events, half of them at double price: for 2000 events 286 of the others do."""
    topics = [(7, 7 if number % 2 else 14) for number in range(1000)]
    assert MOST_CELLS < 2000 * 1000
    found = covered(topics, 2000)
    assert found == (2002, 2000, 2002, 2002)


def test_counts_near_the_largest_do_not_overflow() -> None:
    """Two of three topics with 2^57 events are needed for a little more than that."""
    found = covered([(1 << 57, 1)] * 3, (1 << 57) + 5)
    assert found.events == 1 << 58
    assert found.price == 2.0
