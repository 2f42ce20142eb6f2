"""The metrics that every publisher service with a store has."""

from infra.runtime.http.web_metrics import web_metrics
from infra.runtime.metrics import Metric


def service_metrics(role: str) -> tuple[Metric, ...]:
    """Returns the rows of `ServiceRole.counters` and of an outbox, under the name of `role`."""
    return (
        Metric(f"{role}_links", "gauge", "Open links: access points, brokers and other services.", "links"),
        *web_metrics(role),
        Metric(f"{role}_calls_total", "counter", "Calls over links that were answered, by op.", "calls", "op"),
        Metric(f"{role}_calls_refused_total", "counter", "Calls over links that were refused.", "calls"),
        Metric(f"{role}_outbox_waiting", "gauge", "Promises to other roles that are in memory and not kept yet.", "tasks"),
        Metric(f"{role}_outbox_done_total", "counter", "Promises to other roles that were kept.", "tasks"),
        Metric(f"{role}_outbox_retries_total", "counter", "Tries that failed and will be repeated.", "tries"),
        Metric(f"{role}_outbox_refused_total", "counter", "Promises that nobody will ever take. They are set aside.", "tasks"),
        Metric(f"{role}_notified_total", "counter", "Followers for whom the notification module has stored something.", "followers"),
    )
