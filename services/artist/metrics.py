"""The metrics of the artist monitoring service."""

from typing import Final

from infra.kernel.roles import ARTIST
from infra.runtime.metrics import Metric

from ..metrics import service_metrics

METRICS: Final = (
    *(metric for metric in service_metrics(ARTIST) if not metric.name.startswith("artist_outbox_")),
    Metric("artist_announced_total", "counter", "Items of the catalogue that were announced (SB-35).", "items"),
    Metric("artist_runs_total", "counter", "Runs that were finished: about one a day (SB-36).", "runs"),
    Metric("artist_runs_failed_total", "counter", "Runs that broke off. The next run continues them.", "runs"),
    Metric("artist_running", "gauge", "1 while a run is under way.", "runs"),
)
