"""The day and the week in counts of fine bins: pure functions of arrays."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from .grid import DAY_MS, Floats, Grid, Series

_SATURDAY: Final = 5
_SUNDAY: Final = 6
_SPIKE: Final = 3
# With fewer days, or fewer events than one an hour, a day has no peak that would come again.
_LEAST_DAYS: Final = 2
_LEAST_COUNT: Final = 24
_WEEK: Final = 7
Measures = dict[str, float | None]


def hour_shares(grid: Grid, counts: Floats) -> Floats:
    """Returns the share of each hour of the day in what there was on whole days. nan where there was nothing."""
    return _shares(grid.by_hour(counts).sum(axis=0))


def weekday_means(grid: Grid, counts: Floats) -> Floats:
    """Returns the mean of a whole day, for each weekday; nan for a weekday without a whole day."""
    daily, days = grid.by_day(counts), np.bincount(grid.weekday, minlength=7)
    with np.errstate(invalid="ignore"):
        return np.bincount(grid.weekday, weights=daily, minlength=7) / days


def weekday_shares(grid: Grid, counts: Floats) -> Floats:
    """Returns `weekday_means` as shares of their sum over the weekdays that there are."""
    means = weekday_means(grid, counts)
    return means / np.nansum(means)


def peak_and_trough(grid: Grid, counts: Floats) -> tuple[float | None, float | None]:
    """Returns the centres of the hours of the day with most and least, smoothed over three hours.

    None with fewer than two whole days, or fewer than 24 of what is counted on them.
    """
    day = grid.by_hour(counts).sum(axis=0)
    if len(grid.whole) < _LEAST_DAYS or day.sum() < _LEAST_COUNT:
        return None, None
    # The day is a circle: 23:00 is smoothed with midnight.
    smooth = (np.roll(day, 1) + day + np.roll(day, -1)) / 3
    return float(np.argmax(smooth)) + 0.5, float(np.argmin(smooth)) + 0.5


def publication_measures(grid: Grid, series: Series) -> Measures:
    """Returns the measures of the publications of each service that has any."""
    total = sum(counts.sum() for counts in series.values())
    found: Measures = {}
    for service, counts in series.items():
        found[f"publications.share.{service}"] = counts.sum() / total
        found[f"publications.peak_hour.{service}"], found[f"publications.trough_hour.{service}"] = peak_and_trough(grid, counts)
        found[f"publications.weekend.{service}"] = _weekend(grid, counts, (_SATURDAY, _SUNDAY))
        found[f"publications.sunday.{service}"] = _weekend(grid, counts, (_SUNDAY,))
    found["publications.daily_order"] = _daily_order(grid, series)
    found["publications.spikes_per_day.artist"] = _spikes(grid, series["artist"]) if "artist" in series else None
    return found


def churn_measures(grid: Grid, begun: Floats, ended: Floats, presence: Floats | None) -> Measures:
    """Returns the measures of requests.

    `begun`, `ended`: requests to subscribe and to unsubscribe, by fine bin of `grid`. `presence`: its publications.
    """
    both = begun.sum() + ended.sum()
    peak, trough = peak_and_trough(grid, begun)
    return {
        "churn.imbalance": abs(begun.sum() - ended.sum()) / both * 2 if both >= _LEAST_COUNT else None,
        "churn.peak_hour": peak,
        "churn.trough_hour": trough,
        "churn.weekly_difference": None if presence is None else _weekly_difference(grid, begun, presence),
    }


def live_measures(grid: Grid, live: Mapping[str, Floats]) -> Measures:
    """Returns the measures of live subscriptions at the end of each fine bin, by service."""
    total = sum(live.values(), start=np.zeros(grid.bins))
    some = total > 0
    shares: Measures = {
        f"live.share.{service}": float(np.mean(level[some] / total[some])) if some.any() else None for service, level in live.items()
    }
    return shares | {"live.variation": _variation(grid, total)}


def _shares(counts: Floats) -> Floats:
    return counts / counts.sum() if counts.any() else np.full_like(counts, np.nan)


def _weekend(grid: Grid, counts: Floats, days: tuple[int, ...]) -> float | None:
    daily, free = grid.by_day(counts), np.isin(grid.weekday, days)
    worked = grid.weekday < _SATURDAY
    if len(grid.whole) < _WEEK or not free.any() or not daily[worked].any():
        return None
    return float(daily[free].mean() / daily[worked].mean())


def _daily_order(grid: Grid, series: Series) -> float | None:
    if len(grid.whole) < _LEAST_DAYS or not {"presence", "playlist"} <= series.keys() or not {"social", "artist"} & series.keys():
        return None
    presence, playlist, social, artist = (
        grid.by_day(series[service]) if service in series else np.zeros(len(grid.whole))
        for service in ("presence", "playlist", "social", "artist")
    )
    return float(np.mean((presence > playlist) & (playlist > social + artist)))


def _spikes(grid: Grid, counts: Floats) -> float | None:
    hours = grid.by_hour(counts)
    return float(np.mean((hours > _SPIKE * hours.mean(axis=1, keepdims=True)).sum(axis=1) == 1)) if len(hours) >= _LEAST_DAYS else None


def _weekly_difference(grid: Grid, begun: Floats, presence: Floats) -> float | None:
    if len(grid.whole) < _WEEK or not grid.by_day(begun).any() or not grid.by_day(presence).any():
        return None
    return float(np.nanmax(np.abs(weekday_shares(grid, begun) - weekday_shares(grid, presence))))


def _variation(grid: Grid, total: Floats) -> float | None:
    """Returns the largest difference between days at equal hours, over their mean.

    None with fewer than two whole days of 24 hours, or with nothing live at some hour.
    """
    fine = grid.by_day(np.ones(grid.bins))
    hours = grid.by_hour(total)[fine * grid.step_ms == DAY_MS]
    if len(hours) < 2 or not hours.mean(axis=0).all():
        return None
    return float(np.max(np.ptp(hours, axis=0) / hours.mean(axis=0)))
