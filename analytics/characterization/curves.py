"""Files of curves: `curves/<key>.parquet`, exact, and `curves/<key>.csv`, thinned to what a plot can show."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

FOLDER: Final = "curves"
# Rows of a CSV.
MOST_ROWS: Final = 2000
_SPLIT: Final = "figure"


def csv(folder: Path, name: str, columns: Mapping[str, Any]) -> None:
    """Writes `curves/<name>.csv` in `folder`: `columns` are arrays of the same length."""
    pd.DataFrame(dict(columns)).to_csv(folder / FOLDER / f"{name}.csv", index=False, float_format="%.12g")


def parquet(folder: Path, name: str, columns: Mapping[str, Any]) -> None:
    """Writes `curves/<name>.parquet` in `folder`, as one file: `columns` are arrays of the same length."""
    pq.write_table(pa.table(dict(columns)), folder / FOLDER / f"{name}.parquet")


def keep(frame: "DataFrame", path: Path, *, by_figure: bool = False) -> "DataFrame":
    """Writes `frame` once at `path` and returns it read back, so that nothing computes it again.

    `by_figure`: one folder for each `figure`.
    """
    # On disk and not in Spark's cache: memory stays with the exchanges, and what is lost with a machine of a cluster is not computed again.
    writer = frame.write.option("mapreduce.fileoutputcommitter.marksuccessfuljobs", "false")
    (writer.partitionBy(_SPLIT) if by_figure else writer).parquet(str(path))
    return frame.sparkSession.read.schema(frame.schema).parquet(str(path))


def collected(frame: "DataFrame") -> pd.DataFrame:
    """Returns the rows of `frame`, whose number must not grow with the data."""
    # Not toPandas: it gives deprecation warnings on every call.
    return pd.DataFrame.from_records(frame.collect(), columns=frame.columns)


def publish(kept: Path, folder: Path, key: str) -> None:
    """Moves what `keep(by_figure=True)` wrote in `kept` of the figure `key` to its place in `folder`, as a folder of Parquet files."""
    target = folder / FOLDER / f"{key}.parquet"
    (kept / f"{_SPLIT}={key}").rename(target)
    for checksum in target.glob(".*.crc"):
        checksum.unlink()
