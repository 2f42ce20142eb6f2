"""What the decision service counts."""

from typing import Final

from infra.runtime.metrics import Metric

METRICS: Final = (
    Metric("ods_links", "gauge", "Open links: brokers and access points of all sites.", "links"),
    Metric("ods_pairs", "gauge", "Pairs of a user and a topic that access points have told of.", "pairs"),
    Metric("ods_pairs_refused_total", "counter", "Pairs that are not planned for: there are `max_pairs`, or `max_topics`.", "pairs"),
    Metric("ods_counts_refused_total", "counter", "Counts of topics that are not planned for: there are `max_topics`.", "topics"),
    Metric("ods_rounds_total", "counter", "Decisions that were made.", "rounds"),
    Metric("ods_failures_total", "counter", "Rounds that ended without a decision; the last one stands.", "rounds"),
    Metric("ods_late_total", "counter", "Brokers and access points that did not answer a survey in time.", "answers"),
    Metric("ods_moves_total", "counter", "Topics that have left real time, or come back.", "topics"),
    Metric("ods_epoch", "gauge", "Epoch of the last decision; 0 before the first.", "epoch"),
    Metric("ods_topics_planned", "gauge", "Topics with events and followers in the last period.", "topics"),
    Metric("ods_topics_offloaded", "gauge", "Topics that are out of real time now.", "topics"),
    Metric("ods_capacity_deliveries", "gauge", "The limit, in deliveries in a period; -1 is none.", "deliveries"),
    Metric("ods_expected_deliveries", "gauge", "What the topics in real time are expected to cost in a period.", "deliveries"),
    Metric("ods_reduced_deliveries", "gauge", "What topics that are out are expected to cost besides, at most.", "deliveries"),
    Metric(
        "ods_expected_satisfaction", "gauge", "Subscribers (b3m), or the sum of their fractions (fb3m), that are expected.", "subscribers"
    ),
    Metric("ods_bound_satisfaction", "gauge", "What no choice of topics could surpass.", "subscribers"),
    Metric("ods_run_seconds", "gauge", "How long the last decision took to compute.", "seconds"),
)
