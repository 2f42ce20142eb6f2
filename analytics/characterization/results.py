"""The results of a characterization so far: what was found, and what could not be found and why."""

import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from analytics.figures import FIGURES
from analytics.measures import MEASURES
from analytics.summary import TailFit
from infra.kernel.trace import SERVICES, TABLES

_SERVICE: Final = "{service}"
# The figures of measures that are not named after them.
_FIGURES: Final = {"sessions": "online", "sessions.mean_length_s": "session_length"}


def quiet(step: str) -> None:
    """Ignores the step: the observer where nobody watches."""


@dataclass(slots=True)
class Results:
    """The results, filled by each part of the job.

    What the manifest's `limits` rule out is not recorded; `skipped` has the reason instead. `begun` is told the name of each step. The
    other fields are those of `WorkloadSummary`.
    """

    limits: Mapping[str, str]
    begun: Callable[[str], None] = quiet
    measures: dict[str, float] = field(default_factory=dict)
    fits: dict[str, TailFit] = field(default_factory=dict)
    rows: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    binning: dict[str, str] = field(default_factory=dict)
    timings_s: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Tells that the step `name` has begun, and measures how long the block takes."""
        self.begun(name)
        began_s = time.perf_counter()
        yield
        self.timings_s[name] = time.perf_counter() - began_s

    def wants(self, key: str) -> bool:
        """Returns whether a figure, or a measure, can be had as far as is known."""
        return key not in self.skipped and _figure(key) not in self.skipped and self._limit(key) is None

    def measure(self, name: str, value: float | None, why_not: str = "too few values") -> None:
        """Takes the measure `name`. If `value` is None or not finite, it is skipped for the reason `why_not`."""
        if not self.wants(name):
            return
        if value is None or not math.isfinite(value):
            self.skipped[name] = why_not
        else:
            self.measures[name] = float(value)

    def measure_all(self, values: Mapping[str, float | None], why_not: str = "too few values") -> None:
        """Takes several measures."""
        for name, value in values.items():
            self.measure(name, value, why_not)

    def skip(self, key: str, why: str) -> None:
        """Says that a figure or a measure cannot be had. The first reason counts."""
        self.skipped.setdefault(key, why)

    def lacks(self, table: str, why: str = "") -> None:
        """Says that none of the figures that need `table` can be had.

        `why`: by default, because it is not there.
        """
        why = why or f"the trace has no {table} ({TABLES[table].meaning})"
        for figure in FIGURES.values():
            if table in figure.needs:
                self.skip(figure.key, why)

    def note(self, key: str, text: str) -> None:
        """Adds a sentence on how a figure was binned or sampled."""
        self.binning[key] = f"{self.binning[key]} {text}" if key in self.binning else text

    def close(self) -> None:
        """Gives a reason to every figure and measure that is missing."""
        for key in FIGURES:
            # The manifest knows its source better than the job does: its reason replaces ours.
            if reason := self._limit(key):
                self.skipped[key] = reason
        for name in _names():
            if name not in self.measures and (reason := self._limit(name) or self.skipped.get(_figure(name))):
                self.skip(name, reason)

    def _limit(self, key: str) -> str | None:
        return self.limits.get(key) or self.limits.get(_figure(key))


def _figure(name: str) -> str:
    """Returns the key of the figure that a measure is about."""
    prefix = name.partition(".")[0]
    return _FIGURES.get(name) or _FIGURES.get(prefix, prefix)


def _names() -> Iterator[str]:
    for name in MEASURES:
        yield from (name.replace(_SERVICE, service) for service in SERVICES) if _SERVICE in name else (name,)
