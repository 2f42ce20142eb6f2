"""What an aggregator counts. Subscribes and unsubscribes are those that the brokers see: the first in and the last out."""

from typing import Final

from infra.runtime.metrics import Metric

METRICS: Final = (
    Metric("aggregator_topics", "gauge", "Topics that at least one access point wants: one broker subscription each (SB-14).", "topics"),
    Metric("aggregator_links", "gauge", "Open links: access points and brokers.", "links"),
    Metric("aggregator_brokers_live", "gauge", "Brokers of the site that are linked and alive.", "brokers"),
    Metric("aggregator_link_queue_bytes", "gauge", "Bytes that wait to be written to links.", "bytes"),
    Metric("aggregator_events_received_total", "counter", "Events that brokers sent.", "events"),
    Metric("aggregator_events_stale_total", "counter", "Events received that no access point wanted any more.", "events"),
    Metric("aggregator_deliveries_total", "counter", "Copies queued to access points: one per event and access point.", "copies"),
    Metric("aggregator_subscribes_total", "counter", "Subscriptions sent to brokers: a topic's first subscriber came.", "subscriptions"),
    Metric("aggregator_unsubscribes_total", "counter", "Subscriptions withdrawn: a topic's last subscriber left.", "subscriptions"),
    Metric("aggregator_link_drops_total", "counter", "Events not queued because a link was full, presence first.", "events"),
    Metric("aggregator_links_slow_total", "counter", "Links closed because too much waited for the peer.", "links"),
    Metric("aggregator_failovers_total", "counter", "Times that the link to a broker was lost.", "failovers"),
    Metric("aggregator_protocol_errors_total", "counter", "Links closed because the peer broke the link protocol.", "errors"),
)
