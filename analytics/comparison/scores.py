"""The scores of one figure of two characterizations."""

from typing import Final, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analytics.figures import Figure
from analytics.report.curves import Column, Curve

from .distance import correlation, ks, log_means, over_mean, rms_difference, shape_ks, wasserstein_log10
from .result import Score, known

# Fewer hours, days or bins of x say nothing about a shape, and fewer values nothing about a distribution.
LEAST_COMMON: Final = 3
LEAST_VALUES: Final = 5


class Side(NamedTuple):
    """One side of a comparison: an exact curve, and the time zone that it is told in."""

    curve: Curve
    time_zone: str


def scores(figure: Figure, a: Side, b: Side) -> list[Score]:
    """Returns one score, or one for each line that both have; none where `a` and `b` of `figure` have too little in common."""
    if not len(a.curve) or not len(b.curve):
        return []
    match figure.kind:
        case "ccdf":
            return _distributions(figure, a.curve, b.curve)
        case "mean":
            return _means(figure, a.curve, b.curve)
        case "line" | "cycle":
            both = [series for series in a.curve.series if series in b.curve.series]
            found = (_lines(figure, series, profile(figure, a, series), profile(figure, b, series)) for series in both)
            return [score for score in found if score is not None]


def profile(figure: Figure, side: Side, series: str) -> dict[int, float]:
    """Returns the mean of a line at each hour of the day, or on each day of the week.

    `figure`: of which `side` has the curve. `series`: name of the line.
    """
    rows = side.curve.of(series)
    at = _hours(rows["time_ms"], side.time_zone) if figure.kind == "line" else rows["hour" if figure.key == "daily" else "day"]
    found, place = np.unique(at.astype(np.int64), return_inverse=True)
    # Means, because the sums of two periods of different length cannot be compared.
    means = np.bincount(place, rows["value"]) / np.bincount(place)
    return dict(zip(found.tolist(), means.tolist(), strict=True))


def _hours(time_ms: Column, time_zone: str) -> NDArray[np.int64]:
    times = pd.to_datetime(time_ms.astype(np.int64), unit="ms", utc=True).tz_convert(time_zone)
    return np.asarray(times.hour, dtype=np.int64)


def _distributions(figure: Figure, a: Curve, b: Curve) -> list[Score]:
    (x, n), (y, m) = ((each["value"], each["count"]) for each in (a, b))
    if min(n.sum(), m.sum()) < LEAST_VALUES:
        return []
    decades = known(wasserstein_log10(x, n, y, m))
    return [Score(figure=figure.key, distance=ks(x, n, y, m), shape=shape_ks(x, n, y, m), decades=decades)]


def _means(figure: Figure, a: Curve, b: Curve) -> list[Score]:
    mine, theirs = (log_means(each["value"], each["n"], each["mean"]) for each in (a, b))
    common = sorted(mine.keys() & theirs.keys())
    if len(common) < LEAST_COMMON:
        return []
    # Differences of logarithms: a factor between the two is a constant here, and taking the mean away leaves the shape.
    apart = np.array([mine[each] - theirs[each] for each in common])
    return [Score(figure=figure.key, distance=float(np.abs(apart).mean()), shape=float(np.abs(apart - apart.mean()).mean()))]


def _lines(figure: Figure, series: str, mine: dict[int, float], theirs: dict[int, float]) -> Score | None:
    common = sorted(mine.keys() & theirs.keys())
    if len(common) < LEAST_COMMON:
        return None
    a, b = (np.array([each[at] for at in common]) for each in (mine, theirs))
    ones = np.ones(len(common))
    return Score(
        figure=figure.key,
        series=series,
        distance=rms_difference(a, b),
        shape=rms_difference(over_mean(a, ones), over_mean(b, ones)),
        correlation=known(correlation(a, b)),
    )
