"""Playlists, artists and social beside presence."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from analytics.generator.profile import profile, rng, site_of
from analytics.generator.services import PLAYLISTS, VOLUMES, SubscriptionPairs, counts, others, subscriptions, with_others
from analytics.parts import as_table
from analytics.schema import SCHEMAS
from infra.kernel.trace import SERVICES, Service

SPOTIFY = profile("spotify", 0.01, 1)


@pytest.fixture(scope="module")
def presence() -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Returns as many pairs of presence as the profile has: each subscriber with at least one, topics by Zipf, nobody with themselves."""
    draw = rng(1, "presence")
    more = draw.integers(0, SPOTIFY.subscribers, SPOTIFY.pairs - SPOTIFY.subscribers)
    subscriber = np.sort(np.concatenate([np.arange(SPOTIFY.subscribers), more]))
    topic = np.minimum(draw.zipf(1.5, SPOTIFY.pairs), SPOTIFY.topics) - 1
    both = np.unique(np.stack([subscriber, np.where(topic == subscriber, SPOTIFY.topics - 1, topic)], axis=1), axis=0)
    both = both[both[:, 0] != both[:, 1]]
    return both[:, 0], both[:, 1]


@pytest.fixture(scope="module")
def pairs(presence: tuple[NDArray[np.int64], NDArray[np.int64]]) -> SubscriptionPairs:
    return with_others(SPOTIFY, *presence, rng(1, "others"))


def of(pairs: SubscriptionPairs, service: Service) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    chosen = pairs.service == SERVICES.index(service)
    return pairs.subscriber[chosen], pairs.topic[chosen]


def test_presence_stays_as_it_was_and_has_most_subscriptions(
    pairs: SubscriptionPairs, presence: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> None:
    """SB-57"""
    subscriber, topic = of(pairs, "presence")
    assert np.array_equal(subscriber, presence[0])
    assert np.array_equal(topic, presence[1])
    assert len(topic) > 0.5 * len(pairs.topic)


def test_subscriptions_fall_from_playlists_to_artists_to_social_in_the_volumes_stated(pairs: SubscriptionPairs) -> None:
    size = {name: len(of(pairs, name)[0]) for name in SERVICES}
    assert size["playlist"] > size["artist"] > size["social"]
    for name, volume in VOLUMES.items():
        assert size[name] == pytest.approx(volume.pairs * size["presence"], rel=0.15)


def test_rows_rise_by_subscriber_and_no_pair_is_there_twice(pairs: SubscriptionPairs) -> None:
    assert np.all(np.diff(pairs.subscriber) >= 0)
    assert len(np.unique(np.stack([pairs.subscriber, pairs.service, pairs.topic]), axis=1).T) == len(pairs.topic)


def test_playlists_are_those_of_friends_and_social_is_about_friends(
    pairs: SubscriptionPairs, presence: tuple[NDArray[np.int64], NDArray[np.int64]]
) -> None:
    """SB-6: the followers of a user follow that user's playlists."""
    friends = set(zip(*(each.tolist() for each in presence), strict=True))
    who, playlist = of(pairs, "playlist")
    assert set(zip(who.tolist(), (playlist // PLAYLISTS).tolist(), strict=True)) <= friends
    assert set(zip(*(each.tolist() for each in of(pairs, "social")), strict=True)) <= friends


@pytest.mark.parametrize("service", ["playlist", "artist"])
def test_few_topics_have_most_followers(pairs: SubscriptionPairs, service: Service) -> None:
    followers = np.sort(np.bincount(of(pairs, service)[1]))[::-1]
    assert followers[: len(followers) // 10].sum() > 0.5 * followers.sum()


def test_artists_are_followed_about_as_one_over_rank(pairs: SubscriptionPairs) -> None:
    followers = np.bincount(of(pairs, "artist")[1])
    doubling = [followers[2**k - 1 : 2 ** (k + 1) - 1].sum() for k in range(4, 10)]
    assert max(doubling) < 1.2 * min(doubling)


def test_all_topics_that_are_followed_have_counts(pairs: SubscriptionPairs) -> None:
    for service in others(SPOTIFY):
        assert of(pairs, service)[1].max() <= counts(SPOTIFY, service, rng(1, service)).topic[-1]


def test_events_fall_from_presence_to_playlists_to_artists_to_social(pairs: SubscriptionPairs) -> None:
    """WA-12, SB-57: the totals of the period."""
    presence = SPOTIFY.topics * SPOTIFY.mean_events
    total = {name: counts(SPOTIFY, name, rng(1, name)).events.sum() for name in VOLUMES}
    assert presence > 2 * total["playlist"] > total["artist"] + total["social"]
    for name, volume in VOLUMES.items():
        assert total[name] == pytest.approx(presence * volume.events, rel=0.02)


def test_a_playlist_is_published_at_the_site_of_its_owner_and_artists_at_one_site() -> None:
    playlists, artists = (counts(SPOTIFY, name, rng(1, name)) for name in ("playlist", "artist"))
    assert np.array_equal(playlists.site, site_of(SPOTIFY, playlists.topic // PLAYLISTS))
    assert not artists.site.any()


def test_the_table_has_the_site_of_the_subscriber(pairs: SubscriptionPairs) -> None:
    table = as_table(SCHEMAS["subscriptions"], subscriptions(SPOTIFY, pairs)).slice(1000, 100)
    codes = site_of(SPOTIFY, table["subscriber"].to_numpy())
    assert table["site"].to_pylist() == [SPOTIFY.sites[code] for code in codes]
    assert table["service"].to_pylist() == [SERVICES[code] for code in pairs.service[1000:1100]]


def test_twitter_has_presence_only() -> None:
    twitter = replace(profile("twitter", 0.01, 1), topics=10)
    subscriber, topic = np.array([3, 3, 4]), np.array([1, 2, 1])
    found = with_others(twitter, subscriber, topic, rng(1, "others"))
    assert (found.subscriber.tolist(), found.topic.tolist(), set(found.service.tolist())) == ([3, 3, 4], [1, 2, 1], {0})
