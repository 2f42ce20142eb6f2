"""The metrics of the playlist service."""

from typing import Final

from infra.kernel.roles import PLAYLIST
from infra.runtime.metrics import Metric

from ..metrics import service_metrics

METRICS: Final = (
    *service_metrics(PLAYLIST),
    Metric("playlist_changes_total", "counter", "Changes of playlists that were taken, by kind.", "changes", "op"),
    Metric("playlist_conflicts_total", "counter", "Changes for a version that is not the present one.", "changes"),
    Metric("playlist_published_total", "counter", "Events handed to the engine.", "events"),
)
