"""Quota: a service that publishes too much is told so, and others publish as before."""

from contextlib import suppress

import pytest

from broker.quota import PublishingQuota
from infra.kernel.rates import RateRefused
from infra.kernel.topics import Topic, parse_topic


def quota(max_events_per_s: float = 10_000.0, max_topic_events_per_s: float = 1_000.0) -> PublishingQuota:
    return PublishingQuota(max_events_per_s, max_topic_events_per_s)


def topic(n: int) -> Topic:
    return parse_topic(f"hm://presence/user/u{n}/")


def allowed(made: PublishingQuota, service: str, number: int, topics: int, now_s: float) -> int:
    taken = 0
    for n in range(number):
        with suppress(RateRefused):
            made.check(service, topic(n % topics), now_s)
            taken += 1
    return taken


def test_a_service_has_its_events_a_second_and_takes_nothing_of_another() -> None:
    """DPS-26."""
    made = quota(max_events_per_s=100.0)
    assert allowed(made, "presence", 1000, 500, now_s=0.0) == 200
    assert allowed(made, "playlist", 1000, 500, now_s=0.0) == 200
    assert allowed(made, "presence", 1000, 500, now_s=1.0) == 100


def test_a_topic_has_its_events_a_second_whoever_publishes_them() -> None:
    made = quota(max_topic_events_per_s=10.0)
    assert allowed(made, "presence", 100, 1, now_s=0.0) == 20
    assert allowed(made, "playlist", 100, 1, now_s=0.0) == 0
    assert allowed(made, "presence", 100, 100, now_s=0.0) == 99
    assert allowed(made, "presence", 100, 1, now_s=0.5) == 5


def test_one_that_is_refused_is_told_how_long_to_wait() -> None:
    made = quota(max_events_per_s=1.0)
    allowed(made, "presence", 2, 2, now_s=0.0)
    with pytest.raises(RateRefused, match="presence publishes over 1 events a second here") as refused:
        made.check("presence", topic(1), 0.0)
    assert refused.value.wait_s == pytest.approx(1.0)
