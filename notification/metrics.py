"""What the notification module counts."""

from typing import Final

from infra.kernel.roles import NOTIFICATION
from infra.runtime.http.web_metrics import web_metrics
from infra.runtime.metrics import Metric

METRICS: Final = (
    Metric("notification_links", "gauge", "Open links: access points, presence and brokers.", "links"),
    *web_metrics(NOTIFICATION),
    Metric("notification_accepted_total", "counter", "Notices that were taken in and stored for all their followers.", "notices"),
    Metric("notification_duplicates_total", "counter", "Notices that came again with the same id.", "notices"),
    Metric("notification_rows_total", "counter", "Rows written to the log: one for each follower of each notice.", "rows"),
    Metric("notification_backlog_parts", "gauge", "Parts of the log with rows that are not decided yet.", "parts"),
    Metric("notification_decided_total", "counter", "Rows that were decided by the rules.", "rows"),
    Metric("notification_live_total", "counter", "Live copies handed to the engine.", "events"),
    Metric(
        "notification_live_failed_total",
        "counter",
        "Live copies that no broker took for ten seconds; they go again while their users are online.",
        "events",
    ),
    Metric("notification_live_retold_total", "counter", "Live copies whose user got the newest one by a retry.", "events"),
    Metric("notification_live_lost_total", "counter", "Outcomes of live copies dropped because too many waited for the store.", "events"),
    Metric("notification_scheduled_total", "counter", "Mails, pushes and messages to webhooks put on the agenda.", "tasks"),
    Metric("notification_sent_total", "counter", "Mails, pushes and messages to webhooks that were tried, by result.", "tasks", "state"),
    Metric("notification_webhook_attempts_total", "counter", "Attempts at endpoints of users, by how they ended.", "attempts", "state"),
    Metric("notification_calls_total", "counter", "Calls of clients that were answered, by op.", "calls", "op"),
    Metric("notification_calls_refused_total", "counter", "Calls that were refused.", "calls"),
    Metric("notification_presence_unanswered_total", "counter", "Questions to presence without a full answer.", "questions"),
    Metric("notification_mail_trouble", "gauge", "1 while no mail goes out at all.", "mail server"),
    Metric("notification_swept_total", "counter", "Rows deleted because their time was over.", "rows"),
    Metric("notification_clock_doubted", "gauge", "1 while nothing expires because the clock has leapt ahead.", "clock"),
)
