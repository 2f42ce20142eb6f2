"""Rows counted by fine bin of time: lines and cycles need no more than that, and it is no bigger than the period is long."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from pyspark.sql import functions as f

from .curves import collected
from .grid import Floats, Grid

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame


@dataclass(frozen=True, slots=True)
class Binned:
    """Counts by some words and fine bin.

    - `series`: by words, a number for each of `bins` fine bins.
    - `outside`: by words, how many rows are not in the period.
    """

    series: Mapping[tuple[str, ...], Floats]
    bins: int
    outside: Mapping[tuple[str, ...], int]

    def only(self, at: int, word: str) -> "Binned":
        """Returns the counts whose word number `at`, from 0, is `word`."""
        series = {words: counts for words, counts in self.series.items() if words[at] == word}
        return Binned(series, self.bins, {words: rows for words, rows in self.outside.items() if words[at] == word})

    def rows(self, at: int) -> dict[str, int]:
        """Returns how many rows there are in all, by word number `at`."""
        return {word: int(self.total({at: word}).sum()) + sum(self.only(at, word).outside.values()) for word in self.words(at)}

    def total(self, wanted: Mapping[int, str]) -> Floats:
        """Returns the sum of the series whose words, by number from 0, are as `wanted`."""
        chosen = [counts for words, counts in self.series.items() if all(words[at] == word for at, word in wanted.items())]
        total: Floats = np.sum([np.zeros(self.bins), *chosen], axis=0)
        return total

    def words(self, at: int) -> set[str]:
        """Returns the words number `at` that occur."""
        return {words[at] for words in (*self.series, *self.outside)}


def binned(rows: "DataFrame", grid: Grid, *words: "Column") -> Binned:
    """Counts `rows`, which have `time_ms`, by `words` (at least one, none of them null) and fine bin of `grid`."""
    names = [f"word{number}" for number in range(len(words))]
    keys = [word.cast("string").alias(name) for word, name in zip(words, names, strict=True)]
    # Counted where the rows are, then exchanged: at most one row for each bin and combination of words, from each piece of the table.
    found = collected(rows.groupBy(*keys, _bin(grid)).agg(f.count("*").alias("n")))
    inside = found["bin"] >= 0
    series = {key: _dense(part, "n", grid.bins) for key, part in found[inside].groupby(names)}
    return Binned(series, grid.bins, {key: int(part["n"].sum()) for key, part in found[~inside].groupby(names)})


def summed(rows: "DataFrame", grid: Grid, *columns: str) -> dict[str, Floats]:
    """Returns the sum of each of `columns` of `rows` in each fine bin of `grid`."""
    found = collected(rows.groupBy(_bin(grid)).agg(*(f.sum(column).alias(column) for column in columns)))
    inside = found[found["bin"] >= 0]
    return {column: _dense(inside, column, grid.bins) for column in columns}


def _bin(grid: Grid) -> "Column":
    """Returns the number of the fine bin that `time_ms` is in; -1 outside of the period."""
    inside = (f.col("time_ms") >= grid.start_ms) & (f.col("time_ms") < grid.end_ms)
    return f.when(inside, f.floor((f.col("time_ms") - grid.origin_ms) / grid.step_ms)).otherwise(-1).alias("bin")


def _dense(rows: pd.DataFrame, column: str, bins: int) -> Floats:
    counts = np.zeros(bins)
    counts[rows["bin"].to_numpy(np.int64)] = rows[column].to_numpy(np.float64)
    return counts
