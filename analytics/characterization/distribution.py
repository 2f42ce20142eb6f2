"""Exact distributions at any size: frequencies, CCDFs and midranks, without ordering all rows in one place.

Values are put in bins that are evenly wide on a logarithmic axis. A bin's total is known after one grouping, and there are at most some
1,500 bins. So what lies above a bin is summed in this process, and what lies above a value within its bin is summed where the bin is. The
smallest value of each bin, with its exact CCDF, is the thinned curve.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from pyspark.sql import Window
from pyspark.sql import functions as f

from .curves import collected, keep

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

_BINS: Final = 1500
# So that bins of a tenth of a decade are made of whole ones.
_COARSE_PER_DECADE: Final = 10


@dataclass(frozen=True, slots=True)
class Population:
    """Values that are counted under the name `key`; all of them are above 0.

    - `values`: has the one column `value`. `largest`: no value is larger.
    - `total`: what 100 % is.
    """

    key: str
    values: "DataFrame"
    largest: int
    total: float


@dataclass(frozen=True, slots=True)
class Thinned:
    """A curve as a plot shows it.

    - `value`: rises. `count`: how many have it exactly. `ccdf`: the share of all that have it or more.
    - `n`: all values, with this `mean`. `distinct`: how many are different (the rows of the exact curve).
    - `total`: what 100 % is.
    """

    value: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]
    ccdf: npt.NDArray[np.float64]
    n: int
    mean: float
    distinct: int
    total: float

    @property
    def percent(self) -> npt.NDArray[np.float64]:
        """`value` in percent of the total."""
        return 100.0 * self.value.astype(np.float64) / self.total


def steps(largest: int) -> int:
    """Returns the bins per decade: a multiple of 10, and at most 1,500 in all up to `largest`. Below 30 every whole number has its own."""
    decades = math.log10(max(largest, 1)) + 1
    return _COARSE_PER_DECADE * max(1, int(_BINS / _COARSE_PER_DECADE / decades))


def bin_of(value: "Column", per_decade: "Column | int") -> "Column":
    """Returns the number of the bin that `value` is in."""
    return f.floor(f.log10(value) * per_decade)


def by_figure(numbers: Mapping[str, float]) -> "Column":
    """Returns the number of the row's `figure`."""
    found = f.lit(None).cast("double")
    for key, number in numbers.items():
        found = f.when(f.col("figure") == key, f.lit(float(number))).otherwise(found)
    return found


def distributions(populations: Sequence[Population], scratch: Path) -> tuple[dict[str, Thinned], Path]:
    """Returns the thinned curve of each population, and the folder with the exact ones.

    That folder, in `scratch`, has `figure=<key>`: value, percent, count, ccdf; values rise.
    """
    frequencies = keep(_frequencies(populations), scratch / "frequencies")
    bins = _bins(frequencies)
    thinned = {each.key: _thinned(bins[bins["figure"] == each.key], each.total) for each in populations}
    exact = scratch / "exact"
    if len(bins):
        keep(_exact(frequencies, bins, {each.key: each.total for each in populations}), exact, by_figure=True)
    return {key: curve for key, curve in thinned.items() if curve.n}, exact


def ranks(exact: Path, key: str, thinned: Thinned, like: "DataFrame") -> "DataFrame":
    """Returns the frame of value and rank: the mean of the ranks (from 1, rising) of all that have the value.

    `exact`: the folder of exact curves. `key`, `thinned`: which of them. `like`: any frame of the session.
    """
    curve = like.sparkSession.read.parquet(str(exact / f"figure={key}"))
    # n (1 - ccdf) have less; those with the value have the ranks after these, and (count + 1) / 2 is the mean of 1 ... count.
    return curve.select("value", (thinned.n * (1 - f.col("ccdf")) + (f.col("count") + 1) / 2).alias("rank"))


def _frequencies(populations: Sequence[Population]) -> "DataFrame":
    """Returns figure, value, count, bin."""
    stacked = [each.values.select(f.lit(each.key).alias("figure"), f.col("value").cast("long")) for each in populations]
    together = stacked[0]
    for other in stacked[1:]:
        together = together.unionAll(other)
    # One grouping of all figures is one exchange, of rows that are counted already: as many as there are different values.
    counted = together.groupBy("figure", "value").agg(f.count("*").alias("count"))
    return counted.withColumn("bin", bin_of(f.col("value"), by_figure({each.key: steps(each.largest) for each in populations})))


def _bins(frequencies: "DataFrame") -> pd.DataFrame:
    """Returns one row per bin, in order: its total, the rows in it, its first and last value with the count of each, how many reach it."""
    grouped = frequencies.groupBy("figure", "bin").agg(
        f.sum("count").alias("total"),
        f.sum(f.col("value").cast("double") * f.col("count")).alias("sum"),
        f.count("*").alias("rows"),
        f.min("value").alias("low"),
        f.min_by("count", "value").alias("low_count"),
        f.max("value").alias("high"),
        f.max_by("count", "value").alias("high_count"),
    )
    found = collected(grouped).astype({"total": np.int64}).sort_values(["figure", "bin"], ignore_index=True)
    found["at_least"] = found[::-1].groupby("figure")["total"].cumsum()
    found["n"] = found.groupby("figure")["total"].transform("sum")
    return found


def _thinned(bins: pd.DataFrame, total: float) -> Thinned:
    n = int(bins["total"].sum())
    value, count, at_least = (bins[name].to_numpy(np.int64) for name in ("low", "low_count", "at_least"))
    # A bin is shown by its smallest value. The last one is shown by its largest as well, or the curve would end too early.
    if len(bins) and bins["high"].iat[-1] > value[-1]:
        last = int(bins["high_count"].iat[-1])
        value, count, at_least = np.append(value, bins["high"].iat[-1]), np.append(count, last), np.append(at_least, last)
    return Thinned(value, count, at_least / max(n, 1), n, float(bins["sum"].sum()) / max(n, 1), int(bins["rows"].sum()), total)


def _exact(frequencies: "DataFrame", bins: pd.DataFrame, totals: dict[str, float]) -> "DataFrame":
    spark = frequencies.sparkSession
    rows = bins[["figure", "bin", "at_least", "n"]].astype(object).values.tolist()
    known = f.broadcast(spark.createDataFrame(rows, "figure string, bin long, at_least long, n long"))
    # A window over a whole figure would bring all of it to one task. Within a bin it is small, and the rest is known from `bins`.
    before = Window.partitionBy("figure", "bin").orderBy("value").rowsBetween(Window.unboundedPreceding, -1)
    reached = f.col("at_least") - f.coalesce(f.sum("count").over(before), f.lit(0))
    return (
        frequencies.join(known, ["figure", "bin"])
        # By range, so that files follow each other in order of values, and each is sorted where it is.
        .repartitionByRange("figure", "bin")
        .select(
            "figure",
            "value",
            (100.0 * f.col("value") / by_figure(totals)).alias("percent"),
            "count",
            (reached / f.col("n")).alias("ccdf"),
        )
        .sortWithinPartitions("figure", "value")
    )
