"""Quota: how many events a service may publish at one broker, and how many may be published on one topic. Pure."""

from collections import defaultdict
from collections.abc import Sequence
from functools import partial
from typing import Final

from infra.kernel.rates import Bucket, Buckets, Rate, RateRefused
from infra.kernel.topics import Topic

# So many topics are remembered that were published on lately.
TOPICS: Final = 65_536


class PublishingQuota:
    """Events a second, counted for each service that may publish and for each topic. What services publish over links is not counted."""

    def __init__(self, per_s: float, topic_per_s: float) -> None:
        self._per_s, self._topic_per_s = per_s, topic_per_s
        rate = Rate.of(per_s)
        self._burst = rate.burst
        self._services: defaultdict[str, Bucket] = defaultdict(partial(Bucket, rate))
        self._topics: Buckets[Topic] = Buckets(Rate.of(topic_per_s), TOPICS)

    def check(self, service: str, topics: Sequence[Topic], now_s: float) -> dict[int, RateRefused]:
        """Counts events of `service`, one on each of `topics`. Returns the refusals of those that are too many, by position.

        An event that the service may not publish any more takes nothing of its topic.
        """
        refused = self._check_service(service, len(topics), now_s)
        left = topics[: len(topics) - len(refused)] if refused else topics
        for position, wait_s in self._topics.allow_each(left, now_s).items():
            refused[position] = RateRefused(wait_s, f"over {self._topic_per_s:g} events a second on this topic; send it again later")
        return refused

    def _check_service(self, service: str, number: int, now_s: float) -> dict[int, RateRefused]:
        """Counts `number` events. Those that are too many are the last ones, since all come at the same time."""
        bucket = self._services[service]
        if number <= self._burst and not bucket.allow(now_s, number):
            return {}
        waits_s = [bucket.allow(now_s) for _ in range(number)]
        why = f"{service} publishes over {self._per_s:g} events a second here; send it again later"
        return {position: RateRefused(wait_s, why) for position, wait_s in enumerate(waits_s) if wait_s}
