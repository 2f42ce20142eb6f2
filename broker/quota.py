"""Quota: how many events a service may publish at one broker, and how many may be published on one topic. Pure."""

from typing import Final

from infra.kernel.rates import Buckets, Rate, RateRefused
from infra.kernel.topics import Topic

# What may come at once after a pause: as much as in so many seconds.
BURST_S: Final = 2.0
# So many services and topics are remembered that were published on lately.
SERVICES: Final = 1024
TOPICS: Final = 65_536


class PublishingQuota:
    """Events a second, counted for each service and for each topic. What services publish over links is not counted."""

    def __init__(self, per_s: float, topic_per_s: float) -> None:
        self._per_s, self._topic_per_s = per_s, topic_per_s
        self._services: Buckets[str] = Buckets(Rate(self._per_s, self._per_s * BURST_S), SERVICES)
        self._topics: Buckets[Topic] = Buckets(Rate(self._topic_per_s, self._topic_per_s * BURST_S), TOPICS)

    def check(self, service: str, topic: Topic, now_s: float) -> None:
        """Counts an event of `service` on `topic`. Raises `RateRefused` if it is one too many."""
        if wait_s := self._services.allow(service, now_s):
            raise RateRefused(wait_s, f"{service} publishes over {self._per_s:g} events a second here; send it again later")
        if wait_s := self._topics.allow(topic, now_s):
            raise RateRefused(wait_s, f"over {self._topic_per_s:g} events a second on this topic; send it again later")
