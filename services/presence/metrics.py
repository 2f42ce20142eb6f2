"""The metrics of the presence service."""

from typing import Final

from infra.runtime.metrics import Metric

METRICS: Final = (
    Metric("presence_users", "gauge", "Users whose last action is kept in memory: one event each (SB-29).", "users"),
    Metric("presence_online_users", "gauge", "Users that are online, or were within the last minute.", "users"),
    Metric("presence_links", "gauge", "Open links: access points, brokers, other presence services.", "links"),
    Metric("presence_actions_total", "counter", "Actions of users that were taken, by kind.", "actions", "kind"),
    Metric("presence_refused_total", "counter", "Actions and questions that were refused.", "requests"),
    Metric("presence_published_total", "counter", "Events handed to the engine.", "events"),
    Metric("presence_leases_refused_total", "counter", "Clients that are not counted as online: there are too many users.", "clients"),
    Metric("presence_whereabouts_total", "counter", "Users in questions about who is online, and where.", "users"),
    Metric("presence_unanswered_total", "counter", "Answers of other presence services that did not come in time.", "answers"),
)
