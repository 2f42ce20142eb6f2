"""The comparison of two characterizations: `comparison.json` and `compare.html`."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

import msgspec

from analytics.building import building
from analytics.figures import FIGURES, Figure
from analytics.report.curves import columns, exact
from analytics.report.plot import Plot
from analytics.summary import WorkloadSummary, read

from .overlay import overlay
from .page import render
from .result import ComparisonResult, Ratio, Score
from .scores import LEAST_COMMON, LEAST_VALUES, Side, scores
from .source import characterization

RESULT: Final = "comparison.json"
PAGE: Final = "compare.html"
_TOO_LITTLE: Final = (
    f"one of them has fewer than {LEAST_VALUES} values, or the two have too little in common: fewer than {LEAST_COMMON} bins of x, "
    "hours or days"
)
_NEEDED: Final = {"ccdf": ("value", "count"), "mean": ("value", "n", "mean")}


def compare(a: Path, b: Path, out: Path, begun: Callable[[str], None] = lambda _: None) -> ComparisonResult:
    """Compares the characterizations in `a` and `b` and writes both files to `out`, which appears whole or not at all.

    A trace is characterized first (see `characterization`). `begun` is told each step. Raises TraceError if `out` exists, or if `a` or `b`
    is neither a trace nor a characterization.
    """
    with building(out) as folder:
        a, b = characterization(a, begun), characterization(b, begun)
        mine, theirs = read(a), read(b)
        both = _Both(a, mine, b, theirs)
        for figure in FIGURES.values():
            begun(figure.title)
            both.compare(figure)
        result = both.result()
        (folder / RESULT).write_bytes(msgspec.json.format(msgspec.json.encode(result)) + b"\n")
        (folder / PAGE).write_text(render(result, mine, theirs, both.plots), encoding="utf-8")
    return result


class _Both:
    """Two characterizations, and what is known so far of how they differ."""

    def __init__(self, a: Path, mine: WorkloadSummary, b: Path, theirs: WorkloadSummary) -> None:
        self.plots: dict[str, list[Plot]] = {}
        self._sides = ((a, mine), (b, theirs))
        self._names = _names(a, mine, b, theirs)
        self._scores: list[Score] = []
        self._missing: dict[str, str] = {}

    def compare(self, figure: Figure) -> None:
        """Adds scores and plots of one figure, or the reason why there are none."""
        if why := self._why_not(figure):
            self._missing[figure.key] = why
            return
        one, other = (_side(folder, figure, summary) for folder, summary in self._sides)
        if found := scores(figure, one, other):
            self._scores += found
            self.plots[figure.key] = overlay(figure, one, other, self._names)
        else:
            self._missing[figure.key] = _TOO_LITTLE

    def result(self) -> ComparisonResult:
        """Returns all scores, ratios and reasons."""
        (_, mine), (_, theirs) = self._sides
        found = sorted(self._scores, key=lambda score: -score.distance)
        a, b = self._names
        return ComparisonResult(a=a, b=b, scores=found, measures=ratios(mine.measures, theirs.measures), missing=self._missing)

    def _why_not(self, figure: Figure) -> str:
        lacking = [
            f"{name}: {summary.skipped.get(figure.key, 'not drawn')}"
            for name, (_, summary) in zip(self._names, self._sides, strict=True)
            if figure.key not in summary.rows
        ]
        return "; ".join(lacking)


def ratios(a: dict[str, float], b: dict[str, float]) -> dict[str, Ratio]:
    """Returns the measures that both have, with their ratios."""
    return {name: Ratio(a=a[name], b=b[name], ratio=b[name] / a[name] if a[name] else None) for name in a if name in b}


def _names(a: Path, mine: WorkloadSummary, b: Path, theirs: WorkloadSummary) -> tuple[str, str]:
    """Returns the names of the traces, with those of the folders where they are the same."""
    one, other = mine.manifest.name, theirs.manifest.name
    return (one, other) if one != other else (f"{one} ({a.name})", f"{other} ({b.name})")


def _side(folder: Path, figure: Figure, summary: WorkloadSummary) -> Side:
    return Side(exact(folder, figure, _NEEDED.get(figure.kind, columns(figure))), summary.manifest.time_zone)
