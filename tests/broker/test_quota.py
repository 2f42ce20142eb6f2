"""Quota: a service that publishes too much is told so, and others publish as before."""

import pytest

from broker.quota import PublishingQuota
from infra.kernel.topics import Topic, parse_topic


def quota(max_events_per_s: float = 10_000.0, max_topic_events_per_s: float = 1_000.0) -> PublishingQuota:
    return PublishingQuota(max_events_per_s, max_topic_events_per_s)


def topic(n: int) -> Topic:
    return parse_topic(f"hm://presence/user/u{n}/")


def allowed(made: PublishingQuota, service: str, number: int, topics: int, now_s: float) -> int:
    return number - len(made.check(service, [topic(n % topics) for n in range(number)], now_s))


def test_a_service_has_its_events_a_second_and_takes_nothing_of_another() -> None:
    """DPS-26."""
    made = quota(max_events_per_s=100.0)
    assert allowed(made, "presence", 1000, 500, now_s=0.0) == 200
    assert allowed(made, "playlist", 1000, 500, now_s=0.0) == 200
    assert allowed(made, "presence", 1000, 500, now_s=1.0) == 100


@pytest.mark.parametrize("batch", [1, 7, 30, 300])
def test_what_is_allowed_does_not_depend_on_how_events_are_sent_together(batch: int) -> None:
    """DPS-26."""
    made = quota(max_events_per_s=100.0)
    assert sum(allowed(made, "presence", batch, batch, now_s=0.0) for _ in range(0, 2100, batch)) == 200


def test_a_topic_has_its_events_a_second_whoever_publishes_them() -> None:
    made = quota(max_topic_events_per_s=10.0)
    assert allowed(made, "presence", 100, 1, now_s=0.0) == 20
    assert allowed(made, "playlist", 100, 1, now_s=0.0) == 0
    assert allowed(made, "presence", 100, 100, now_s=0.0) == 99
    assert allowed(made, "presence", 100, 1, now_s=0.5) == 5


def test_what_the_service_may_not_publish_takes_nothing_of_the_topic() -> None:
    made = quota(max_events_per_s=5.0, max_topic_events_per_s=10.0)
    assert allowed(made, "presence", 100, 1, now_s=0.0) == 10
    assert allowed(made, "playlist", 10, 1, now_s=0.0) == 10


def test_those_that_are_too_many_are_named_and_told_how_long_to_wait() -> None:
    made = quota(max_events_per_s=1.0, max_topic_events_per_s=0.5)
    one, other = topic(1), topic(2)
    refused = made.check("presence", [one, one, other, other], 0.0)
    assert list(refused) == [2, 3, 1]
    assert refused[1].reason == "over 0.5 events a second on this topic; send it again later"
    assert refused[3].reason == "presence publishes over 1 events a second here; send it again later"
    assert [refused[position].wait_s for position in (1, 2, 3)] == pytest.approx([2.0, 1.0, 1.0])
    assert list(made.check("presence", [one, other], 1.0)) == [1, 0]
