"""What the playlist service counts."""

from typing import Final

from infra.runtime.metrics import Metric

from ..metrics import service_metrics

METRICS: Final = (
    *service_metrics("playlist"),
    Metric("playlist_changes_total", "counter", "Changes of playlists that were taken, by kind.", "changes", "op"),
    Metric("playlist_conflicts_total", "counter", "Changes for a version that is not the present one.", "changes"),
    Metric("playlist_published_total", "counter", "Events handed to the engine.", "events"),
)
