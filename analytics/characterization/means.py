"""Means over x, slopes and rank correlations of points: of size and NNR, and of popularity and events."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import pandas as pd
from pyspark.sql import functions as f

from .curves import collected, keep
from .distribution import bin_of, by_figure, steps

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

COARSE_PER_DECADE: Final = 10
# The mean of fewer values of a heavy tail says little.
FEWEST_PER_BIN: Final = 10


@dataclass(frozen=True, slots=True)
class Cloud:
    """Points under the name `key`.

    - `rows`: x and y of each point, both above 0. `largest`: no x is larger.
    - `unit`: of what is shown, in y.
    """

    key: str
    rows: "DataFrame"
    largest: int
    unit: float


@dataclass(frozen=True, slots=True)
class Means:
    """The means of a cloud.

    - `value`, `n`, `mean`: the thinned curve. `rows`: how many the exact curve has.
    - `bin_x`, `bin_mean`: the means of all points in a tenth of a decade each.
    """

    value: npt.NDArray[np.int64]
    n: npt.NDArray[np.int64]
    mean: npt.NDArray[np.float64]
    rows: int
    bin_x: npt.NDArray[np.float64]
    bin_mean: npt.NDArray[np.float64]


def means(clouds: list[Cloud], scratch: Path) -> tuple[dict[str, Means], Path]:
    """Returns the means of each cloud, and the folder with the exact ones.

    That folder, in `scratch`, has `figure=<key>`: value, n, mean; values rise.
    """
    parts = [
        each.rows.groupBy(f.col("x").alias("value"))
        .agg(f.count("*").alias("n"), (f.sum("y") / f.lit(each.unit) / f.count("*")).alias("mean"))
        .select(f.lit(each.key).alias("figure"), "value", "n", "mean")
        for each in clouds
    ]
    together = parts[0] if len(parts) == 1 else parts[0].unionAll(parts[1])
    exact = scratch / "means"
    # Ordered after grouping: what is exchanged are the different x, not the points.
    kept = keep(together.orderBy("figure", "value"), exact, by_figure=True)
    bins = _bins(kept.withColumn("bin", bin_of(f.col("value"), by_figure({each.key: steps(each.largest) for each in clouds}))))
    return {each.key: _thinned(bins[bins["figure"] == each.key], steps(each.largest)) for each in clouds}, exact


def spearman(rows: "DataFrame", rank_x: "DataFrame", rank_y: "DataFrame") -> float | None:
    """Returns the rank correlation of x and y of `rows`, exact, with ties at the mean of their ranks.

    `rank_x`, `rank_y`: the rank of each value, see `ranks`.
    """
    first = rank_x.select(f.col("value").alias("x"), f.col("rank").alias("rank_x"))
    second = rank_y.select(f.col("value").alias("y"), f.col("rank").alias("rank_y"))
    # Pearson's r of midranks is Spearman's also where there are ties; the formula with squared differences is not.
    found = rows.join(first, "x").join(second, "y").agg(f.corr("rank_x", "rank_y")).first()
    return None if found is None else found[0]


def beyond_line(exact: Path, key: str, slope: float, intercept: float, limit: int, like: "DataFrame") -> float | None:
    """Returns the mean of y over the points with x above `limit`, over what the line says for them.

    - `exact`, `key`: the folder of exact means, and which of them.
    - `slope`, `intercept`: of the line in logarithms to base 10.
    - `like`: any frame of the session.
    """
    above = like.sparkSession.read.parquet(str(exact / f"figure={key}")).where(f.col("value") > limit)
    said = f.col("n") * f.pow(f.lit(10.0), intercept + slope * f.log10("value"))
    found = above.agg(f.sum(f.col("n") * f.col("mean")) / f.sum(said)).first()
    return None if found is None else found[0]


def _bins(binned: "DataFrame") -> pd.DataFrame:
    n = f.col("n")
    ends = (
        column.alias(f"{end}_{name}")
        for name in ("value", "n", "mean")
        for end, column in (("low", f.min_by(name, "value")), ("high", f.max_by(name, "value")))
    )
    grouped = binned.groupBy("figure", "bin").agg(
        f.count("*").alias("rows"),
        f.sum("n").alias("points"),
        f.sum(n * f.col("value")).alias("sum_x"),
        f.sum(n * f.col("mean")).alias("sum_y"),
        *ends,
    )
    return collected(grouped).sort_values(["figure", "bin"], ignore_index=True)


def _thinned(bins: pd.DataFrame, per_decade: int) -> Means:
    ends = [bins[[f"{end}_{name}" for name in ("value", "n", "mean")]].to_numpy(np.float64) for end in ("low", "high")]
    last = ends[1][-1:] if len(bins) and ends[1][-1, 0] > ends[0][-1, 0] else ends[1][:0]
    value, n, mean = np.concatenate([ends[0], last]).T
    coarse = bins.groupby(bins["bin"] // (per_decade // COARSE_PER_DECADE))[["points", "sum_x", "sum_y"]].sum()
    enough = coarse[coarse["points"] >= FEWEST_PER_BIN]
    points = enough["points"].to_numpy(np.float64)
    return Means(
        value.astype(np.int64),
        n.astype(np.int64),
        mean,
        int(bins["rows"].sum()),
        enough["sum_x"].to_numpy(np.float64) / points,
        enough["sum_y"].to_numpy(np.float64) / points,
    )
