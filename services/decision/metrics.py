"""The metrics of the decision service."""

from typing import Final

from infra.runtime.metrics import Metric

METRICS: Final = (
    Metric("decision_links", "gauge", "Open links: brokers and access points of all sites.", "links"),
    Metric("decision_pairs", "gauge", "Pairs of a user and a topic, as access points have reported them.", "pairs"),
    Metric("decision_pairs_refused_total", "counter", "Pairs that are not planned for: there are `max_pairs`, or `max_topics`.", "pairs"),
    Metric("decision_counts_refused_total", "counter", "Counts of topics that are not planned for: there are `max_topics`.", "topics"),
    Metric("decision_rounds_total", "counter", "Decisions that were made.", "rounds"),
    Metric("decision_failures_total", "counter", "Rounds that ended without a decision; the last one stands.", "rounds"),
    Metric("decision_late_total", "counter", "Brokers and access points that did not answer a survey in time.", "answers"),
    Metric("decision_moves_total", "counter", "Topics that have left real time, or come back.", "topics"),
    Metric("decision_epoch", "gauge", "Epoch of the last decision; 0 before the first.", "epoch"),
    Metric("decision_topics_planned", "gauge", "Topics with events and followers in the last period.", "topics"),
    Metric("decision_topics_offloaded", "gauge", "Topics that are out of real time now.", "topics"),
    Metric("decision_capacity_deliveries", "gauge", "The limit, in deliveries in a period; -1: there is none.", "deliveries"),
    Metric("decision_expected_deliveries", "gauge", "What the topics in real time are expected to cost in a period.", "deliveries"),
    Metric("decision_reduced_deliveries", "gauge", "What the topics that are out are expected to cost, at most.", "deliveries"),
    Metric(
        "decision_expected_satisfaction",
        "gauge",
        "Expected satisfied subscribers (b3m), or the expected sum of their fractions (fb3m).",
        "subscribers",
    ),
    Metric("decision_bound_satisfaction", "gauge", "The satisfaction that no choice of topics could exceed.", "subscribers"),
    Metric("decision_run_seconds", "gauge", "How long the last decision took to compute.", "seconds"),
)
