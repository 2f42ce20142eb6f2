"""What the social service counts."""

from typing import Final

from infra.runtime.metrics import Metric

from ..metrics import service_metrics

METRICS: Final = (
    *service_metrics("social"),
    Metric("social_joined_total", "counter", "Users who were told that a friend has joined (SB-5).", "users"),
    Metric("social_posted_total", "counter", "Wall posts that were taken (SB-34).", "posts"),
)
