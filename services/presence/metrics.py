"""What the presence service counts."""

from typing import Final

from infra.runtime.metrics import Metric

METRICS: Final = (
    Metric("presence_users", "gauge", "Users whose last action is kept in memory: one event each (SB-29).", "users"),
    Metric("presence_links", "gauge", "Open links: access points and brokers.", "links"),
    Metric("presence_actions_total", "counter", "Actions of users that were taken, by kind.", "actions", "kind"),
    Metric("presence_refused_total", "counter", "Actions that were refused.", "actions"),
    Metric("presence_published_total", "counter", "Events handed to the engine.", "events"),
)
