"""The result of a comparison."""

from collections import defaultdict
from math import isnan
from typing import Final

import msgspec

VERSION: Final = 1
# A distance gets the first words whose number is above it.
WORDS: Final = ((0.05, "nearly the same"), (0.15, "similar"), (0.35, "different"), (float("inf"), "very different"))

MEANINGS: Final = (
    "Distributions: the largest difference of the two distribution functions (Kolmogorov-Smirnov), as counted, and of the values over "
    "their mean; in decades, how far values must move on a logarithmic axis (Wasserstein).",
    "Means: the mean difference of their logarithms (base 10) over bins of x, and what is left of it when one is lifted to the other.",
    "Lines over time and cycles: the root of the mean square difference of their mean day (week), over their mean, and of each over its "
    "own mean; r is the correlation of the two.",
)


class Score(msgspec.Struct, frozen=True, kw_only=True):
    """A distance between two curves, or between two lines of a figure.

    - `figure`: its key. `series`: name of the line, where it has several.
    - `distance`: as counted. `shape`: each divided by its mean first. `MEANINGS` says what they are for each kind of figure.
    - `decades`: Wasserstein distance on log10 of the values.
    - `correlation`: of two lines, over their mean day or week.
    """

    figure: str
    series: str = ""
    distance: float
    shape: float
    decades: float | None = None
    correlation: float | None = None


class Ratio(msgspec.Struct, frozen=True, kw_only=True):
    """A measure of both. `ratio`: that of B over that of A, None where A has 0."""

    a: float
    b: float
    ratio: float | None


class ComparisonResult(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a comparison found.

    - `a`, `b`: names of the two. `scores`: from the largest distance to the least.
    - `measures`: those that both have. `missing`: why a figure is not compared, by its key.
    """

    version: int = VERSION
    a: str
    b: str
    scores: list[Score]
    measures: dict[str, Ratio]
    missing: dict[str, str]

    def reasons(self) -> dict[str, list[str]]:
        """Returns the keys of the figures that are missing, by the reason."""
        found = defaultdict(list)
        for key, why in self.missing.items():
            found[why].append(key)
        return dict(found)


def in_words(distance: float) -> str:
    """Returns a distance as somebody would say it."""
    return next(words for limit, words in WORDS if distance < limit)


def thresholds() -> str:
    """Returns what the words of `in_words` mean."""
    told = [f"{words}: below {limit:g}" for limit, words in WORDS[:-1]]
    return f"{'; '.join(told)}; {WORDS[-1][1]}: {WORDS[-2][0]:g} or more"


def known(value: float) -> float | None:
    """Returns `value`, or None for a NaN."""
    return None if isnan(value) else value
