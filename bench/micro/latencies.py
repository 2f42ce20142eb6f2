"""Latencies: how long something took, many times (pure)."""

from collections.abc import Iterable
from typing import Self

import msgspec

from ..percentile import percentile


class Latencies(msgspec.Struct, frozen=True, kw_only=True):
    """The percentiles of `count` latencies in milliseconds; all 0 where there are none."""

    count: int
    p50_ms: float
    p99_ms: float
    max_ms: float

    @classmethod
    def of(cls, waited_ms: Iterable[float]) -> Self:
        """Returns the percentiles of these latencies (milliseconds)."""
        ordered = sorted(waited_ms)
        return cls(
            count=len(ordered), p50_ms=percentile(ordered, 0.5), p99_ms=percentile(ordered, 0.99), max_ms=ordered[-1] if ordered else 0.0
        )
