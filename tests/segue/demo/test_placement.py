"""Placement: friends mostly together on sites of nearly equal size, and the traffic it predicts."""

import random
from collections import Counter
from itertools import combinations

import pytest

from segue.demo.dataset import Dataset
from segue.demo.placement import Placement, Traffic, place

SITES = ("sto", "lon", "ash")


def cliques(count: int, size: int) -> dict[str, list[str]]:
    """Groups in which everybody is friends with everybody, and no friendship between groups."""
    friends: dict[str, list[str]] = {f"u{group}.{member}": [] for group in range(count) for member in range(size)}
    for one, other in combinations(friends, 2):
        if one.split(".")[0] == other.split(".")[0]:
            friends[one].append(other)
            friends[other].append(one)
    return friends


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_about_a_tenth_of_the_traffic_crosses_sites_on_the_whole_data_set(lastfm: Dataset, seed: int) -> None:
    """SB-27: cross-site traffic is 0.05 to 0.2 of the local traffic; the sites have nearly the same number of users."""
    events = lastfm.total_plays()
    placement = place(lastfm.friends, events, SITES, random.Random(seed))
    traffic = placement.traffic(lastfm.friends, events)
    assert traffic.deliveries == 1_298_104_563
    local = traffic.deliveries - traffic.cross_site_deliveries
    assert 0.05 <= traffic.cross_site_deliveries / local <= 0.2
    sizes = Counter(placement.site_of.values())
    assert set(sizes) == set(SITES)
    assert all(abs(size * 3 / 1_892 - 1) <= 0.05 for size in sizes.values())


@pytest.mark.parametrize("users", [20, 100, 300])
def test_subsets_are_placed_with_friends_mostly_together(lastfm: Dataset, users: int) -> None:
    subset = lastfm.subset(users, random.Random(users))
    placement = place(subset.friends, subset.total_plays(), SITES, random.Random(users))
    assert placement.traffic(subset.friends, subset.total_plays()).cross_site_share < 1 / 3
    assert placement.site_of.keys() == subset.friends.keys()


def test_the_same_seed_gives_the_same_placement(lastfm: Dataset) -> None:
    subset = lastfm.subset(120, random.Random(1))
    first, again = (place(subset.friends, subset.total_plays(), SITES, random.Random(4)) for _ in range(2))
    assert first == again


def test_where_nothing_would_cross_users_change_places_until_about_a_tenth_does() -> None:
    friends = cliques(12, 20)
    events = dict.fromkeys(friends, 5)
    placement = place(friends, events, SITES, random.Random(6))
    assert 0.1 <= placement.traffic(friends, events).cross_site_share <= 0.15
    assert set(Counter(placement.site_of.values()).values()) <= {76, 77, 78, 79, 80, 81, 82, 83, 84}


def test_one_site_takes_everybody() -> None:
    friends = cliques(2, 3)
    placement = place(friends, dict.fromkeys(friends, 1), ["sto"], random.Random(1))
    assert set(placement.site_of.values()) == {"sto"}
    assert placement.traffic(friends, dict.fromkeys(friends, 1)).cross_site_share == 0.0


def test_more_sites_than_users_and_users_without_friends_or_events_are_placed() -> None:
    assert len(set(place({"a": [], "b": []}, {"a": 0, "b": 0}, SITES, random.Random(1)).site_of.values())) == 2
    assert place({}, {}, SITES, random.Random(1)).site_of == {}


def test_traffic_counts_each_delivery_and_each_site_once() -> None:
    """SB-24: one message per event and other site with a friend, however many friends are there."""
    placement = Placement(site_of={"a": "sto", "b": "lon", "c": "lon", "d": "ash", "e": "sto"})
    friends = {"a": ["b", "c", "d", "e"], "b": ["a"], "c": ["a"], "d": ["a"], "e": ["a"]}
    traffic = placement.traffic(friends, {"a": 10, "b": 1, "c": 0, "d": 0, "e": 1})
    assert traffic == Traffic(deliveries=42, cross_site_deliveries=31, link_messages=21)
    assert traffic.cross_site_share == pytest.approx(31 / 42)


def test_traffic_agrees_with_playing_every_event(lastfm: Dataset) -> None:
    subset = lastfm.subset(60, random.Random(2))
    events = {user: number % 4 for number, user in enumerate(subset.friends)}
    site_of = {user: random.Random(user).choice(SITES) for user in subset.friends}
    played = [(user, friend) for user, times in events.items() for _ in range(times) for friend in subset.friends[user]]
    hops = [
        site
        for user, times in events.items()
        for _ in range(times)
        for site in SITES
        if site != site_of[user] and any(site_of[friend] == site for friend in subset.friends[user])
    ]
    traffic = Placement(site_of=site_of).traffic(subset.friends, events)
    assert traffic.deliveries == len(played)
    assert traffic.cross_site_deliveries == sum(site_of[user] != site_of[friend] for user, friend in played)
    assert traffic.link_messages == len(hops)


def test_traffic_of_nothing_has_a_share_of_zero() -> None:
    assert Traffic(deliveries=0, cross_site_deliveries=0, link_messages=0).cross_site_share == 0.0
