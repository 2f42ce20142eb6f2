"""What an access point counts. A subscription is the pair (user, topic); a topic is stored once whoever wants it."""

from typing import Final

from infra.runtime.metrics import Metric

METRICS: Final = (
    Metric("accesspoint_connections", "gauge", "Clients connected now.", "connections"),
    Metric("accesspoint_topics", "gauge", "Topics that at least one connected client wants.", "topics"),
    Metric("accesspoint_subscriptions", "gauge", "Pairs (connection, topic) held now.", "subscriptions"),
    Metric("accesspoint_outbox_bytes", "gauge", "Bytes that wait to be written to clients, all outboxes together.", "bytes"),
    Metric("accesspoint_paused_connections", "gauge", "Clients whose socket takes nothing more for now.", "connections"),
    Metric("accesspoint_unfinished_connections", "gauge", "Connections that have not said hello yet.", "connections"),
    Metric("accesspoint_rests_total", "counter", "Times that a client was too fast, and was not read for a while.", "rests"),
    Metric("accesspoint_upstream_connected", "gauge", "1 while an aggregator is linked, 0 while none is.", "bool"),
    Metric("accesspoint_draining", "gauge", "1 while the access point sends its clients away before it stops, 0 otherwise.", "bool"),
    Metric("accesspoint_topics_offloaded", "gauge", "Topics that are out of real time, wanted here or not.", "topics"),
    Metric("accesspoint_assignment_epoch", "gauge", "Epoch of the assignment in force here; 0: there was none yet.", "epoch"),
    Metric("accesspoint_assignments_stale_total", "counter", "Assignments ignored because a newer one is in force.", "assignments"),
    Metric("accesspoint_offloaded_notices_total", "counter", "Messages that told clients what left or came back.", "messages"),
    Metric("accesspoint_connects_total", "counter", "Clients whose WebSocket handshake was answered.", "connections"),
    Metric("accesspoint_disconnects_total", "counter", "Connections ended, by code, `closed` or `lost`.", "connections", "code"),
    Metric("accesspoint_evictions_total", "counter", "Clients closed with slow-consumer.", "connections"),
    Metric("accesspoint_messages_total", "counter", "Messages from clients that made sense, by op.", "messages", "op"),
    Metric(
        "accesspoint_refused_total", "counter", "Messages, requests and connections answered with an error, by code.", "messages", "code"
    ),
    Metric("accesspoint_acts_total", "counter", "Presence actions passed on to the presence service.", "actions"),
    Metric("accesspoint_acts_private_total", "counter", "Presence actions of private sessions, which go no further.", "actions"),
    Metric("accesspoint_verdicts_asked_total", "counter", "Topics of users about which somebody was asked who may see them.", "topics"),
    Metric("accesspoint_verdicts_cached", "gauge", "Answers to that which are remembered.", "verdicts"),
    Metric("accesspoint_follows_waiting", "gauge", "Questions of clients that wait for such an answer.", "questions"),
    Metric("accesspoint_rosters", "gauge", "Users whose friends are known here, because a client of theirs follows them.", "users"),
    Metric("accesspoint_friend_topics", "gauge", "Subscriptions held because the topic is of a friend.", "subscriptions"),
    Metric("accesspoint_friend_topics_beyond", "gauge", "Topics of friends for which a connection has no room.", "topics"),
    Metric("accesspoint_rosters_asked_total", "counter", "Pages that services were asked for about friends and their playlists.", "pages"),
    Metric("accesspoint_rosters_refused_total", "counter", "Such pages that did not come. They are asked for again.", "pages"),
    Metric("accesspoint_follows_ended_total", "counter", "Subscriptions ended because the user may not see the topic any more.", "topics"),
    Metric(
        "accesspoint_hook_asked_total",
        "counter",
        "Questions to the hook, by kind: connect, subscribe, and again for what is held.",
        "questions",
        "kind",
    ),
    Metric("accesspoint_hook_failed_total", "counter", "Those that had no answer that could be used, by kind.", "questions", "kind"),
    Metric("accesspoint_hook_from_cache_total", "counter", "Topics about which the hook need not be asked again.", "topics"),
    Metric("accesspoint_hook_cached", "gauge", "Answers of the hook that are remembered.", "answers"),
    Metric("accesspoint_hook_open", "gauge", "Questions to the hook that are under way or wait for their turn.", "questions"),
    Metric("accesspoint_calls_bytes", "gauge", "Bytes of requests that services have not answered yet.", "bytes"),
    Metric("accesspoint_links_slow_total", "counter", "Links closed because too much waited for the peer.", "links"),
    Metric("accesspoint_events_received_total", "counter", "Events that the aggregator sent.", "events"),
    Metric("accesspoint_events_stale_total", "counter", "Events received that no client wanted any more.", "events"),
    Metric("accesspoint_deliveries_total", "counter", "Events put into outboxes: one per event and subscribed connection.", "events"),
    Metric("accesspoint_delivered_bytes_total", "counter", "Bytes of those events, WebSocket frame headers included.", "bytes"),
    Metric("accesspoint_shed_total", "counter", "Events of very popular topics that came faster than they could be sent.", "events"),
    Metric("accesspoint_skipped_total", "counter", "Events replaced in an outbox by a newer one of their topic.", "events"),
    Metric("accesspoint_catch_ups_total", "counter", "Pulls for sessions whose live notifications may have been lost.", "pulls"),
    Metric(
        "accesspoint_recoveries_total", "counter", "Times that a client asked for what it missed, and how it went.", "recoveries", "result"
    ),
    Metric("accesspoint_replayed_total", "counter", "Events that clients got because they had missed them.", "events"),
    Metric("accesspoint_upstream_failovers_total", "counter", "Times that an aggregator was lost and another one took over.", "failovers"),
    Metric(
        "accesspoint_upstream_moves_total", "counter", "Moves from an aggregator that left; a cut one may lose events.", "moves", "kind"
    ),
)
