"""What a broker counts. Event counters have no label per topic or user (design 5.5)."""

from typing import Final

from infra.runtime.metrics import Metric

METRICS: Final = (
    Metric("broker_events_accepted_total", "counter", "Events of publishers that this broker accepted.", "events"),
    Metric("broker_events_rejected_total", "counter", "Events of publishers that were refused, by code.", "events", "code"),
    Metric("broker_events_matched_total", "counter", "Events that at least one aggregator or site wanted.", "events"),
    Metric("broker_events_unmatched_total", "counter", "Events that nobody wanted. They are dropped.", "events"),
    Metric("broker_events_forwarded_total", "counter", "Events passed on to the broker of this site that owns the topic.", "events"),
    Metric("broker_events_misrouted_total", "counter", "Events that arrived for a topic of another owner and could not go on.", "events"),
    Metric("broker_events_duplicate_total", "counter", "Events dropped because their id was seen before: a retry.", "events"),
    Metric("broker_events_offloaded_total", "counter", "Wanted events that were not delivered because their topic is out.", "events"),
    Metric("broker_deliveries_total", "counter", "Copies queued to aggregators and sites: one per event and interested link.", "copies"),
    Metric("broker_site_copies_total", "counter", "Copies sent to other sites: at most one per event and site.", "copies"),
    Metric("broker_site_events_received_total", "counter", "Events that came from the counterpart at another site.", "events"),
    Metric("broker_site_events_stale_total", "counter", "Events from other sites that nobody here wanted any more.", "events"),
    Metric("broker_http_requests_total", "counter", "Requests of publishing services, whatever the answer.", "requests"),
    Metric("broker_http_turned_away_total", "counter", "Connections that were not let in: too many, or too often.", "connections", "code"),
    Metric("broker_http_refused_total", "counter", "HTTP requests answered with an error, of whomever, by code.", "requests", "code"),
    Metric("broker_link_drops_total", "counter", "Events not queued because a link was full, presence first.", "events"),
    Metric("broker_links_slow_total", "counter", "Links closed because too much waited for the peer.", "links"),
    Metric("broker_forward_refused_total", "counter", "Events refused because too much waited for their owner already.", "events"),
    Metric("broker_handover_overflow_total", "counter", "Events that came while too many waited for topics to change hands.", "events"),
    Metric("broker_protocol_errors_total", "counter", "Links closed because the peer broke the link protocol.", "errors"),
    Metric("broker_interest_rows", "gauge", "Topics in the interest table, wanted at this site or at another one.", "rows"),
    Metric("broker_topics_lingering", "gauge", "Topics that nobody follows any more and that are recorded for a while.", "topics"),
    Metric("broker_links_behind", "gauge", "Subscribing links that get what is recorded from the window until they have it all.", "links"),
    Metric("broker_window_served_total", "counter", "Events given from the window to links that were behind.", "events"),
    Metric(
        "broker_window_passed_total", "counter", "Stamps that links lacked when they had gone: at most so many events are lost.", "stamps"
    ),
    Metric("broker_window_events", "gauge", "Events in the window, for those who were cut off.", "events"),
    Metric("broker_window_bytes", "gauge", "Memory of the window, about; at most window_bytes.", "bytes"),
    Metric("broker_links", "gauge", "Open links: aggregators, services and other brokers, both ways.", "links"),
    Metric("broker_sites_live", "gauge", "Sites with a broker that can be reached, this one included.", "sites"),
    Metric("broker_view_number", "gauge", "Number of the view of live slots; lasting differences mean a split.", "view"),
    Metric("broker_topics_offloaded", "gauge", "Topics that are out of real time, whoever owns them.", "topics"),
    Metric("broker_assignment_epoch", "gauge", "Epoch of the assignment in force here; 0: there was none yet.", "epoch"),
    Metric("broker_assignments_stale_total", "counter", "Assignments ignored because a newer one is in force.", "assignments"),
    Metric("broker_assignment_topics_refused_total", "counter", "Topics in assignments that never leave real time.", "topics"),
    Metric("broker_tally_missed_total", "counter", "Events that are not counted for the decision service: too many topics.", "events"),
    Metric("broker_forward_bytes", "gauge", "Bytes of events on their way to owners that have not confirmed them.", "bytes"),
    Metric("broker_handover_bytes", "gauge", "Bytes of events that wait while topics change hands.", "bytes"),
    Metric("broker_link_queue_bytes", "gauge", "Bytes that wait to be written to links.", "bytes"),
    Metric("broker_operator_requests_total", "counter", "Requests of operators over HTTP.", "requests"),
    Metric("broker_operator_refused_total", "counter", "Requests of operators that were refused.", "requests"),
    Metric("broker_revocations", "gauge", "Revocations and bans that are known, those that are lifted or over included.", "entries"),
    Metric("broker_revocations_turned_away_total", "counter", "Revocations of other brokers for which there was no room.", "entries"),
    Metric("broker_revocations_kept", "gauge", "Whether revocations are kept on disk (broker.state).", "disks"),
    Metric("broker_audit_failures_total", "counter", "Lines of the audit log that could not be written.", "lines"),
)
