"""The sizes of what is generated, where users live, and the random streams."""

from datetime import datetime
from zoneinfo import ZoneInfo

import numpy as np
import pytest

from analytics.errors import TraceError
from analytics.generator.profile import Name, profile, rng, site_of


@pytest.mark.parametrize(
    ("name", "topics", "subscribers", "pairs"),
    [("spotify", 1_100_000, 4_900_000, 12_000_000), ("twitter", 8_000_000, 30_000_000, 683_500_000)],
)
def test_a_profile_is_the_published_size_times_the_scale(name: Name, topics: int, subscribers: int, pairs: int) -> None:
    """WA-15: sizes of thesis 5.1.1 and 5.2."""
    found = profile(name, 0.1, 1)
    assert (found.topics, found.subscribers, found.pairs) == (topics / 10, subscribers / 10, pairs / 10)


def test_a_period_is_ten_days_from_a_midnight_of_its_time_zone() -> None:
    spotify, twitter = profile("spotify", 1, 1), profile("twitter", 1, 1)
    assert datetime.fromtimestamp(spotify.start_ms / 1000, ZoneInfo(spotify.time_zone)).isoformat() == "2013-01-10T00:00:00+01:00"
    assert datetime.fromtimestamp(twitter.start_ms / 1000, ZoneInfo(twitter.time_zone)).isoformat() == "2013-10-30T00:00:00+00:00"
    assert spotify.end_ms - spotify.start_ms == 10 * 24 * 3600 * 1000


@pytest.mark.parametrize("scale", [0, -1, 1.5, 1e-6, float("nan"), float("inf")])
def test_a_scale_that_cannot_be_is_refused_with_the_range(scale: float) -> None:
    with pytest.raises(TraceError, match="must be from 9e-05 to 1, which is the size that was published"):
        profile("spotify", scale, 1)


def test_a_negative_seed_is_refused() -> None:
    with pytest.raises(TraceError, match="seed -1: must be 0 or more"):
        profile("spotify", 1, -1)


def test_users_live_at_sites_in_the_shares_of_the_profile_be_they_publishers_or_not() -> None:
    found = profile("spotify", 0.01, 1)
    for users in (np.arange(found.topics), np.arange(found.topics, found.subscribers)):
        shares = np.bincount(site_of(found, users), minlength=3) / len(users)
        assert shares == pytest.approx(found.site_shares, abs=1e-3)


def test_users_of_a_source_without_sites_all_have_the_same() -> None:
    found = profile("twitter", 0.001, 1)
    assert not site_of(found, np.arange(found.subscribers)).any()


def test_a_random_stream_depends_on_its_seed_and_all_of_its_path_and_on_nothing_else() -> None:
    streams = [rng(1, "pairs", 1), rng(2, "pairs", 1), rng(1, "rates", 1), rng(1, "pairs", 2), rng(1, "pairs"), rng(1, "pairs", "1")]
    assert len({each.integers(1 << 60) for each in streams}) == len(streams)
    assert rng(1, "pairs", 1).integers(1 << 60) == rng(1, "pairs", 1).integers(1 << 60)
