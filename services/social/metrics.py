"""The metrics of the social service."""

from typing import Final

from infra.kernel.roles import SOCIAL
from infra.runtime.metrics import Metric

from ..metrics import service_metrics

METRICS: Final = (
    *service_metrics(SOCIAL),
    Metric("social_joined_total", "counter", "Users who were told that a friend has joined (SB-5).", "users"),
    Metric("social_followed_total", "counter", "Users who were told that somebody follows them now.", "users"),
    Metric("social_followed_untold_total", "counter", "Users who were not told of a follower, because so many had come.", "users"),
    Metric("social_barred_total", "counter", "Pairs of an owner and an asker that access points had to ask about again.", "pairs"),
    Metric("social_posted_total", "counter", "Wall posts that were taken (SB-34).", "posts"),
)
