"""The plain view of a run: lines of text without control codes, for logs and files."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console, RenderableType

from .figures import Figures
from .oracle import CROSS_SITE, LOCAL, Latency

LINE_EVERY_S: Final = 5.0


class ShowPhase:
    """A step of a run. `total` is None where nobody knows how much there is to do. `outcome` is its result, in words."""

    def __init__(self, name: str, total: float | None, unit: str) -> None:
        self.name, self.total, self.unit = name, total, unit
        self.done = 0.0
        self.outcome = ""
        self.is_over = False
        self._start_s = time.perf_counter()
        self._end_s: float | None = None

    @property
    def took_s(self) -> float:
        """How long it took, or has taken so far, in seconds."""
        return (time.perf_counter() if self._end_s is None else self._end_s) - self._start_s

    def one_done(self) -> None:
        """Takes note that one more of `total` is done."""
        self.done += 1

    def end(self) -> None:
        """Ends the step."""
        self._end_s = time.perf_counter()
        self.is_over = True


class Show:
    """A view of a run, entered (`with show:`) while there is something to see."""

    def __init__(self, console: Console) -> None:
        self.console = console
        self._line_due_s = LINE_EVERY_S

    def __enter__(self) -> "Show":
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    @contextmanager
    def phase(self, name: str, total: float | None = None, unit: str = "") -> Iterator[ShowPhase]:
        """Begins the step `name` of `total` `unit`s, which ends with the block; `total` is None where nobody knows it."""
        phase = ShowPhase(name, total, unit)
        self.begun(phase)
        yield phase
        phase.end()
        self.ended(phase)

    def begun(self, phase: ShowPhase) -> None:
        """Shows that a step has begun."""

    def ended(self, phase: ShowPhase) -> None:
        """Shows that a step is over."""
        self._line(f"{phase.name:8} {phase.outcome} ({phase.took_s:.1f} s)")

    def say(self, text: str) -> None:
        """Shows a line that the user must see."""
        self._line(text)

    def next_act(self) -> None:
        """Clears what was shown of the act before."""

    def playing(self, figures: Figures) -> None:
        """Shows new figures of the running play."""
        if figures.elapsed_s >= self._line_due_s:
            self._line_due_s += LINE_EVERY_S
            self._line(line(figures))

    def summary(self, summary: RenderableType) -> None:
        """Shows the summary, which is the end."""
        with self.console.capture() as text:
            self.console.print(summary)
        self._line("\n".join(["", *map(str.rstrip, text.get().splitlines())]))

    def _line(self, text: str) -> None:
        self.console.print(text, soft_wrap=True, highlight=False, markup=False)


def line(figures: Figures) -> str:
    """Returns the figures in one line."""
    local, cross_site = (_latency(figures.latency_ms[reach]) for reach in (LOCAL, CROSS_SITE))
    return (
        f"{figures.elapsed_s:5.0f} s  {figures.events:,} plays ({figures.events_per_s:,.0f}/s), {figures.delivered:,} deliveries "
        f"({figures.deliveries_per_s:,.0f}/s), {figures.lost:,} lost; latency local {local}, cross-site {cross_site}"
    )


def _latency(latency: Latency) -> str:
    return f"p50 {milliseconds(latency.p50)}, p99 {milliseconds(latency.p99)}"


def milliseconds(value: float | None) -> str:
    """Returns a time such as `2.1 ms` or `210 ms`; `-` where there is none."""
    return "-" if value is None else f"{value:.1f} ms" if value < 99.95 else f"{value:,.0f} ms"
