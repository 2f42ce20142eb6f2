"""Lines over time and cycles as files."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .curves import MOST_ROWS, csv, parquet
from .cycles import hour_shares, weekday_means
from .grid import MINUTE_MS, Floats, Grid, Ints, Series
from .results import Results

# Returns the lines to draw, in bins of so many fine ones.
Draw = Callable[[int], Mapping[str, Floats]]


def rates(grid: Grid, series: Series) -> Draw:
    """Returns what draws counts of fine bins as rates per hour."""
    return lambda per_bin: {name: grid.per_hour(counts, per_bin) for name, counts in series.items()}


def levels(grid: Grid, series: Series) -> Draw:
    """Returns what draws the level at the end of each bin, which is that of its last fine bin."""

    def draw(per_bin: int) -> Mapping[str, Floats]:
        last = np.minimum(np.arange(per_bin, grid.bins + per_bin, per_bin), grid.bins) - 1
        return {name: level[last] for name, level in series.items()}

    return draw


def write_line(grid: Grid, key: str, draw: Draw, results: Results, folder: Path) -> None:
    """Writes the line of figure `key` in the bins that were asked for, and in wider ones in the CSV, so that it stays short.

    `draw`: gives the line in bins of `grid`. `results`: takes its rows. `folder`: where `curves/` is.
    """
    exact = _long("time_ms", grid.times_ms(grid.per_bin), draw(grid.per_bin))
    parquet(folder, key, exact)
    results.rows[key] = rows = len(exact["value"])
    # Whole bins are merged: each bin of the CSV covers so many bins of the Parquet file.
    merged = -(-rows // MOST_ROWS)
    csv(folder, key, _long("time_ms", grid.times_ms(grid.per_bin * merged), draw(grid.per_bin * merged)))
    bin_ms = grid.per_bin * grid.step_ms
    wider = f", in the CSV of {_told(bin_ms * merged)}" if merged > 1 else ""
    results.note(key, f"Bins of {_told(bin_ms)}{wider}, from local midnight on.")


def write_cycles(grid: Grid, series: Series, results: Results, folder: Path) -> None:
    """Writes the day and the week of each series, over whole days; skips both where there is none.

    `grid`: the bins of `series`. `results`: takes the rows. `folder`: where `curves/` is.
    """
    if not len(grid.whole):
        for key in ("daily", "weekly"):
            results.skip(key, f"the period of {grid.days * 24:.1f} hours has no whole day from midnight to midnight")
        return
    if not any(grid.by_day(counts).any() for counts in series.values()):
        for key in ("daily", "weekly"):
            results.skip(key, "nothing was published on a day that lies wholly in the period")
        return
    _write_cycle("daily", "hour", {name: hour_shares(grid, counts) for name, counts in series.items()}, results, folder)
    _write_cycle("weekly", "day", {name: weekday_means(grid, counts) for name, counts in series.items()}, results, folder)
    days = f"{len(grid.whole):,} whole day{'s' * (len(grid.whole) > 1)}"
    missing = 7 - len(set(grid.weekday.tolist()))
    results.note("daily", f"Of {days}.")
    results.note("weekly", f"Means of {days}." + (f" Weekdays that do not occur: {missing}." if missing else ""))


def _write_cycle(key: str, unit: str, series: Series, results: Results, folder: Path) -> None:
    if not results.wants(key):
        return
    length = len(next(iter(series.values())))
    columns = _long(unit, np.arange(length, dtype=np.int64), series)
    there = np.isfinite(columns["value"])
    columns = {name: values[there] for name, values in columns.items()}
    parquet(folder, key, columns)
    csv(folder, key, columns)
    results.rows[key] = int(there.sum())


def _long(axis: str, places: Ints, series: Series) -> dict[str, npt.NDArray[Any]]:
    """Returns one row for each place of each series."""
    return {
        axis: np.tile(places, len(series)),
        "series": np.repeat(np.array(list(series), dtype=object), len(places)),
        "value": np.concatenate(list(series.values())),
    }


def _told(width_ms: int) -> str:
    """Returns `60 minutes`, `5 seconds`."""
    return f"{width_ms // MINUTE_MS} minutes" if width_ms >= MINUTE_MS else f"{width_ms // 1000} seconds"
