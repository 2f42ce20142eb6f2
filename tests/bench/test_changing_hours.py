"""The simulated hours: the day of the source, with everything that changes in it."""

from itertools import pairwise

import numpy as np
import pytest

from analytics.planning.instance import Instance
from bench.changing_hours import Follow, hours
from tests.support.generated import drawn


@pytest.fixture(scope="module")
def follow() -> Follow:
    workload = drawn("spotify", 1 / 200, seed=1)
    return Follow(workload.profile, workload.subscriber, workload.topic, workload.events)


@pytest.fixture(scope="module")
def two_days(follow: Follow) -> list[Instance]:
    return list(hours(follow, 48))


def pairs(found: Instance) -> set[tuple[int, int]]:
    subscriber = np.repeat(found.subscriber_ids, found.topics_of.lengths)
    return set(zip(subscriber.tolist(), found.topic_ids[found.topics_of.values].tolist(), strict=True))


def test_the_same_seed_gives_the_same_hours(follow: Follow, two_days: list[Instance]) -> None:
    """An hour is the same whatever hour the iteration begins with."""
    (again,) = hours(follow, 1, first=7)
    assert pairs(again) == pairs(two_days[7])
    assert again.events.tolist() == two_days[7].events.tolist()


def test_most_is_published_in_the_evening_and_least_at_night(two_days: list[Instance]) -> None:
    """Spec A4: peak about 18:00, trough about 02:00."""
    published = [int(each.events.sum()) for each in two_days[:24]]
    assert abs(int(np.argmax(published)) - 18) <= 1
    assert abs(int(np.argmin(published)) - 2) <= 1


def test_live_subscriptions_hardly_vary_at_equal_hours(follow: Follow, two_days: list[Instance]) -> None:
    """Spec A4 (WA-13): less than 5 %. A topic without events in an hour is in no instance, so all topics have many events here."""
    loud = Follow(follow.profile, follow.subscriber, follow.topic, np.full_like(follow.events, 10**6))
    first, second = (len(next(hours(loud, 1, first=hour)).topics_of.values) for hour in (12, 36))
    assert second == pytest.approx(first, rel=0.05)


def test_users_join_and_leave_and_follows_begin_and_end(follow: Follow, two_days: list[Instance]) -> None:
    for before, after in pairwise(two_days[:24]):
        joined = np.setdiff1d(after.subscriber_ids, before.subscriber_ids)
        left = np.setdiff1d(before.subscriber_ids, after.subscriber_ids)
        assert len(joined) > 0
        assert len(left) > 0
    loud = Follow(follow.profile, follow.subscriber, follow.topic, np.full_like(follow.events, 10**6))
    early, late = (next(hours(loud, 1, first=hour)) for hour in (0, 23))
    users = set(np.intersect1d(early.subscriber_ids, late.subscriber_ids).tolist())
    begun, ended = ({pair for pair in some if pair[0] in users} for some in (pairs(late) - pairs(early), pairs(early) - pairs(late)))
    assert 0 < len(begun) < 0.05 * len(follow.topic)
    assert 0 < len(ended) < 0.05 * len(follow.topic)
