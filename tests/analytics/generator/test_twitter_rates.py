"""Events lie in a cloud around a line of the followers."""

import numpy as np
import pytest

from analytics.generator.profile import rng
from analytics.generator.twitter_laws import followers
from analytics.generator.twitter_rates import RateCloud, rates

FOLLOWERS = np.geomspace(1, 1e6, 60)
FALLING = followers(16_000, 60_000, 1_367_000)


def test_a_cloud_has_the_mean_that_it_is_given_although_events_are_whole_and_bounded() -> None:
    mean = np.minimum(2 * FOLLOWERS**0.9, 30_000)
    cloud = RateCloud.along(FOLLOWERS, mean, 1.0)
    normal = np.random.default_rng(1).standard_normal((60, 100_000))
    found = np.array([cloud.events(np.full(100_000, x), z).mean() for x, z in zip(FOLLOWERS, normal, strict=True)])
    assert found == pytest.approx(mean, rel=0.05)


def test_nobody_but_a_bot_has_more_than_a_hundred_thousand_events() -> None:
    assert rates(FALLING, 57, 0, rng(1, "x")).max() <= 100_000
    assert np.count_nonzero(rates(FALLING, 57, 3, rng(1, "x")) > 100_000) == 3


def test_the_mean_of_all_and_the_half_below_ten_are_solved() -> None:
    events = rates(FALLING, 57, 0, rng(1, "x"))
    assert events.mean() == pytest.approx(57, rel=0.005)
    assert np.mean(events < 10) == pytest.approx(0.5, abs=0.02)
    assert events.min() == 1


def test_neighbours_have_more_nearly_equal_means_than_by_chance() -> None:
    """So the mean over followers shows its line also where topics are few."""
    events = rates(np.full(32_000, 100, dtype=np.int32), 57, 0, rng(1, "x"))
    shuffled = np.random.default_rng(1).permutation(events)
    assert events.reshape(-1, 32).mean(axis=1).std() < 0.8 * shuffled.reshape(-1, 32).mean(axis=1).std()
