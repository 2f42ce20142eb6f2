"""The curves of a characterization, read back: thinned for a plot, or exact for a comparison."""

from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from numpy.typing import NDArray

from analytics.errors import TraceError
from analytics.figures import Figure

Column = NDArray[np.float64]

_COLUMNS: Final = {
    "ccdf": ("value", "percent", "count", "ccdf"),
    "mean": ("value", "n", "mean"),
    "line": ("time_ms", "series", "value"),
    "cycle": ("series", "value"),
}
_POINTS: Final = ("x", "y")
_CYCLES: Final = {"daily": "hour", "weekly": "day"}


class Curve:
    """Columns of equal length. `curve["value"]` is an array of numbers; `curve.series` has the names of the lines, in their order."""

    def __init__(self, columns: dict[str, Column], series: NDArray[np.object_] | None = None) -> None:
        self._columns, self._series = columns, series

    def __getitem__(self, name: str) -> Column:
        return self._columns[name]

    def __len__(self) -> int:
        return len(next(iter(self._columns.values())))

    @property
    def series(self) -> list[str]:
        """The names of the lines, in their order."""
        return [] if self._series is None else list(dict.fromkeys(self._series.tolist()))

    def of(self, series: str) -> "Curve":
        """Returns the rows of one line."""
        assert self._series is not None
        return self.where(self._series == series)

    def where(self, wanted: NDArray[np.bool_]) -> "Curve":
        """Returns the rows for which `wanted` is true."""
        kept = None if self._series is None else self._series[wanted]
        return Curve({name: column[wanted] for name, column in self._columns.items()}, kept)


def columns(figure: Figure) -> tuple[str, ...]:
    """Returns the names of the columns that the curve of `figure` has."""
    return (_CYCLES[figure.key], *_COLUMNS["cycle"]) if figure.kind == "cycle" else _COLUMNS[figure.kind]


def thinned(folder: Path, figure: Figure) -> Curve:
    """Reads the curve of `figure` as a plot needs it. Raises TraceError that names the file."""
    return _read_csv(folder / "curves" / f"{figure.key}.csv", columns(figure))


def points(folder: Path, figure: Figure) -> Curve | None:
    """Reads the sample of points beside the curve of `figure`; None where there is none. Raises TraceError."""
    path = folder / "curves" / f"{figure.key}_points.csv"
    return _read_csv(path, _POINTS) if path.exists() else None


def exact(folder: Path, figure: Figure, wanted: tuple[str, ...]) -> Curve:
    """Reads every row of the curve of `figure`.

    `folder`: of the characterization. `wanted`: the columns to read. Where only thinned rows were kept, it reads these. Raises TraceError
    that names the file.
    """
    path = folder / "curves" / f"{figure.key}.parquet"
    if not path.exists():
        return _read_csv(path.with_suffix(".csv"), wanted)
    try:
        return _curve(pa.parquet.read_table(path, columns=list(wanted)), wanted, path)
    except (OSError, pa.ArrowException) as error:
        raise TraceError(f"{path}: is no curve of {figure.key}: {error}") from None


def _read_csv(path: Path, wanted: tuple[str, ...]) -> Curve:
    types = {name: pa.string() if name == "series" else pa.float64() for name in wanted}
    options = pa.csv.ConvertOptions(column_types=types, include_columns=list(wanted))
    try:
        return _curve(pa.csv.read_csv(path, convert_options=options), wanted, path)
    except FileNotFoundError:
        raise TraceError(f"{path}: is missing; characterize the trace again") from None
    except (OSError, KeyError, pa.ArrowException) as error:
        raise TraceError(f"{path}: is no curve with the columns {', '.join(wanted)}: {error}") from None


def _curve(found: pa.Table, wanted: tuple[str, ...], path: Path) -> Curve:
    if missing := set(wanted) - set(found.column_names):
        raise TraceError(f"{path}: lacks the column {', '.join(sorted(missing))}; characterize the trace again")
    numbers = {name: found[name].to_numpy().astype(np.float64) for name in wanted if name != "series"}
    return Curve(numbers, np.asarray(found["series"].to_pylist(), dtype=object) if "series" in wanted else None)
