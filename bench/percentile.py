"""Percentiles of latencies (pure)."""

from collections.abc import Sequence


def percentile(ordered: Sequence[float], share: float) -> float:
    """Returns the value that `share` of all values do not exceed (nearest rank); 0 where there are none."""
    if not ordered:
        return 0.0
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
