"""A law is a polygon of shares; its values are its quantiles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.generator.twitter_laws import Law, followers, followings

POWER = Law(np.array([1.0, 1e5]), np.array([1.0, 1e-5]))


def test_between_the_corners_a_law_is_straight_on_log_axes() -> None:
    assert POWER.at(np.array([1.0, 10.0, 1e3])) == pytest.approx([1, 0.1, 1e-3])


def test_the_mean_is_that_of_the_values() -> None:
    assert POWER.mean() == pytest.approx(POWER.values(1_000_000).mean(), rel=0.005)


def test_values_fall_and_as_many_are_above_x_as_the_law_says() -> None:
    values = POWER.values(100_000)
    assert np.all(np.diff(values) <= 0)
    assert np.count_nonzero(values >= 100) == 1000


def test_what_is_above_the_most_is_at_it() -> None:
    values = POWER.up_to(1000).values(100_000)
    assert values.max() == 1000
    assert np.count_nonzero(values == 1000) == 100
    assert POWER.up_to(1000).mean() == pytest.approx(values.mean(), rel=0.005)


@settings(max_examples=15)
@given(scale=st.floats(0.0005, 0.02))
def test_both_sequences_fall_have_the_sum_and_fit_into_the_trace(scale: float) -> None:
    topics, subscribers, pairs = round(8e6 * scale), round(30e6 * scale), round(683.5e6 * scale)
    for values, many in ((followers(topics, subscribers, pairs), subscribers), (followings(topics, subscribers, pairs), topics)):
        assert int(values.sum()) == pairs
        assert 1 <= values.min() <= values.max() <= many / 4
