"""The Twitter profile has the counts, corners and slopes of thesis 5.2: at a hundredth, at a tenth, and whole where that is needed."""

from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from analytics.errors import TraceError
from analytics.generator.profile import Sequences, profile
from analytics.generator.twitter import sequences
from analytics.generator.twitter_laws import followers

SCALES = (0.01, 0.1)


@cache
def made(scale: float) -> Sequences:
    return sequences(profile("twitter", scale, 1))


@cache
def stars() -> NDArray[np.int32]:
    """Returns the followers at scale 1: only there is room for more than a million."""
    return followers(8_000_000, 30_000_000, 683_500_000)


def above(values: NDArray[np.integer], x: float) -> int:
    return int(np.count_nonzero(values > x))


def exponent(values: NDArray[np.integer], low: float, high: float) -> float:
    """Returns the exponent of the CCDF between two values."""
    return float(np.log(np.count_nonzero(values >= low) / np.count_nonzero(values >= high)) / np.log(high / low))


def line(found: Sequences) -> tuple[float, float]:
    """Returns slope and intercept of log10 mean events over log10 followers up to 10^5, five bins per decade."""
    bins = np.floor(5 * np.log10(found.popularity)).astype(np.int64)
    bins[found.popularity > 100_000] = 25
    count, events = np.bincount(bins, minlength=26)[:25], np.bincount(bins, weights=found.events, minlength=26)[:25]
    used = np.flatnonzero(count)
    slope, intercept = np.polyfit((used + 0.5) / 5, np.log10(events[used] / count[used]), 1)
    return float(slope), float(intercept)


@pytest.mark.parametrize("scale", SCALES)
def test_sums_are_equal_and_means_are_the_published_ones(scale: float) -> None:
    """WA-15: 85 followers, 22.8 followings and 57 tweets of ten days on the average, within 2 %."""
    wanted, found = profile("twitter", scale, 1), made(scale)
    assert (len(found.popularity), len(found.size), len(found.events)) == (wanted.topics, wanted.subscribers, wanted.topics)
    assert int(found.popularity.sum(dtype=np.int64)) == int(found.size.sum(dtype=np.int64)) == wanted.pairs
    assert found.events.mean() == pytest.approx(57, rel=0.02)
    assert min(found.popularity.min(), found.size.min(), found.events.min()) == 1


@pytest.mark.parametrize("scale", SCALES)
def test_as_many_as_published_have_or_follow_more_than_ten_thousand(scale: float) -> None:
    """WA-11: 4000 topics and 550 subscribers, times the scale."""
    assert above(made(scale).popularity, 1e4) == pytest.approx(4000 * scale, rel=0.3)
    assert above(made(scale).size, 1e4) == pytest.approx(550 * scale, rel=0.3)


@pytest.mark.slow
def test_as_many_as_published_have_more_than_a_million_followers() -> None:
    """WA-11: 66; and the exponent from 10^4 on is the 0.9 that follows from both counts."""
    assert above(stars(), 1e4) == pytest.approx(4000, rel=0.3)
    assert above(stars(), 1e6) == pytest.approx(66, rel=0.3)
    assert exponent(stars(), 1e4, 1e6) == pytest.approx(0.9, abs=0.05)


@pytest.mark.slow
def test_the_ccdf_of_followers_has_a_corner_at_a_hundred_thousand() -> None:
    """WA-10, figure 5.11: above it, it falls half as fast."""
    assert exponent(stars(), 2e4, 1e5) > 1.1
    assert exponent(stars(), 1e5, 5e5) < 0.7


@pytest.mark.parametrize("scale", SCALES)
def test_many_follow_exactly_twenty_and_few_more_than_two_thousand(scale: float) -> None:
    """WA-10: kinks of the followings at 20 and 2000."""
    size = made(scale).size
    exactly = np.bincount(size, minlength=2102)
    assert exactly[20] > 4 * max(exactly[19], exactly[21])
    assert exponent(size, 1900, 2100) > 5 * max(exponent(size, 1000, 1900), exponent(size, 2100, 5000))


@pytest.mark.parametrize("scale", SCALES)
def test_half_tweet_less_than_ten_times_and_few_more_than_a_thousand(scale: float) -> None:
    """WA-10"""
    events = made(scale).events
    assert np.mean(events < 10) == pytest.approx(0.5, abs=0.03)
    assert np.mean(events > 1000) == pytest.approx(0.00575, abs=0.001)
    assert above(events, 1e5) == round(scale)


@pytest.mark.parametrize("scale", SCALES)
def test_mean_tweets_rise_with_followers(scale: float) -> None:
    """WA-10: slope of 1 within 0.15."""
    assert line(made(scale))[0] == pytest.approx(1, abs=0.15)


def test_stars_tweet_less_than_the_line() -> None:
    """WA-10: beyond 10^5 followers."""
    found = made(0.1)
    slope, intercept = line(found)
    stars = found.popularity > 100_000
    assert found.events[stars].mean() < 0.5 * np.mean(10**intercept * found.popularity[stars].astype(float) ** slope)


def test_topics_of_equal_followers_are_a_cloud_and_not_a_line() -> None:
    """Tweets of those with 90 to 110 followers spread over more than a decade."""
    found = made(0.1)
    low, high = np.quantile(found.events[(found.popularity >= 90) & (found.popularity <= 110)], [0.05, 0.95])
    assert high > 10 * low


def test_a_seed_gives_the_same_and_another_seed_another_order() -> None:
    """WA-15"""
    one, again, other = (sequences(profile("twitter", 0.01, seed)) for seed in (1, 1, 2))
    for name in ("popularity", "size", "events"):
        assert np.array_equal(getattr(one, name), getattr(again, name))
        assert not np.array_equal(getattr(one, name), getattr(other, name))


def test_a_scale_that_has_no_room_for_the_laws_is_refused() -> None:
    with pytest.raises(TraceError, match="does not fit into so few users; say a scale of 1/1000"):
        sequences(profile("twitter", 0.0001, 1))
