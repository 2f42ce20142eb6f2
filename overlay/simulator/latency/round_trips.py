"""Round trips that were measured between hosts, read from a square of numbers."""

from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Final, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from analytics.importers.rows import cells_of, opened

from ..errors import OverlayError

Floats = NDArray[np.float64]
Unit = Literal["s", "ms", "us"]
_US_PER: Final[dict[str, float]] = {"s": 1e6, "ms": 1e3, "us": 1.0}
_DELIMITERS: Final = (b"\t", b",", b";")
# Milliseconds whose median is outside are in another unit: it is below on one local network, and above on no network.
_LIKELY_MS: Final = (2.0, 20_000.0)
# Nobody waits longer than this for the median host.
_MOST_US: Final = 60e6
# One-way times are 32-bit numbers of microseconds.
_LARGEST_US: Final = 2.0 * np.iinfo(np.int32).max


class _Cell(NamedTuple):
    """A number and where it stands, for errors. Rows are counted from 1 as the lines of the file are, and columns from 1."""

    path: Path
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}, column {self.column}"


def read_round_trips(path: Path, unit: Unit | None = None, *, fills_zeros: bool = False) -> NDArray[np.int32]:
    """Returns the times of one way, in microseconds: half of what the file says at row i and column j for the way from host i to host j.

    - `path`: as many rows as columns, of numbers between tabs, blanks, commas or semicolons. It may be packed by gzip.
    - `unit`: of the numbers. Without it they are milliseconds, unless they look like something else.
    - `fills_zeros`: a 0 between two hosts is too short to be measured, or missing. The opposite way is taken if it has a number, else half
      of the smallest number in the file.

    Two nodes on one host are as far apart as it is from the nearest other: that stands on the diagonal, whatever the file has there. Raises
    OverlayError and TraceError, which name the file, the line and the column, and say what to do.
    """
    lines, found = _square(path)
    if fills_zeros:
        found = _filled(found)
    _check_zeros(path, lines, found)
    trips_us = found * _US_PER[_unit(path, found, unit)]
    _check_largest(path, lines, trips_us)
    one_way = np.rint(trips_us / 2).astype(np.int32)
    np.fill_diagonal(one_way, np.where(np.eye(len(found), dtype=np.bool_), np.iinfo(np.int32).max, one_way).min(axis=1))
    return one_way


def _square(path: Path) -> tuple[list[int], Floats]:
    """Returns the numbers of the file, and the line of each row. Raises OverlayError if they are no square."""
    lines: list[int] = []
    rows: list[list[float]] = []
    for line, row in _rows(path):
        if rows and len(row) != len(rows[0]):
            raise OverlayError(
                f"{path}, line {line}: has {len(row)} numbers, and line {lines[0]} has {len(rows[0])}; give each row as many"
            )
        lines.append(line)
        rows.append(row)
    if len(rows) < 2:
        raise OverlayError(f"{path}: has {len(rows)} rows; give the round trips between two hosts or more")
    if len(rows) != len(rows[0]):
        raise OverlayError(f"{path}: has {len(rows)} rows of {len(rows[0])} numbers; give a square: a row and a column for each host")
    return lines, np.array(rows)


def _rows(path: Path) -> Iterator[tuple[int, list[float]]]:
    with opened(path) as file:
        for line, text in enumerate(file, 1):
            delimiter = next((each for each in _DELIMITERS if each in text.strip()), None)
            cells = cells_of(text, delimiter)
            # A delimiter at the end of a row divides it from nothing.
            while cells and not cells[-1]:
                cells.pop()
            if cells and not cells[0].startswith(b"#"):
                yield line, [_number(cell, _Cell(path, line, column)) for column, cell in enumerate(cells, 1)]


def _number(cell: bytes, place: _Cell) -> float:
    try:
        found = float(cell)
    except ValueError:
        raise OverlayError(f"{place}: {cell[:40].decode(errors='replace')!r} is no number; give a round trip") from None
    if not isfinite(found):
        raise OverlayError(f"{place}: is {found}, so no round trip is known; fill it in, or leave that host out")
    if found < 0:
        raise OverlayError(f"{place}: {found:g} is negative, which no round trip is; fill it in, or leave that host out")
    return found


def _filled(found: Floats) -> Floats:
    least = found[found > 0].min(initial=np.inf)
    return np.where(found > 0, found, np.where(found.T > 0, found.T, least / 2 if isfinite(least) else 0.0))


def _check_zeros(path: Path, lines: list[int], found: Floats) -> None:
    zeros = np.argwhere((found == 0) & ~np.eye(len(found), dtype=np.bool_))
    if len(zeros):
        row, column = zeros[0].tolist()
        more = f", the first of {len(zeros):,}" if len(zeros) > 1 else ""
        raise OverlayError(
            f"{_Cell(path, lines[row], column + 1)}: a round trip of 0 between two hosts{more}; fill it in, or say that zeros are to be "
            "filled: by the opposite way, else by half of the smallest number"
        )


def _unit(path: Path, found: Floats, told: Unit | None) -> Unit:
    """Returns the unit of the numbers. Raises OverlayError if they look like another one than is `told`, or than milliseconds."""
    middle = float(np.median(found[~np.eye(len(found), dtype=np.bool_)]))
    if told is not None:
        if middle * _US_PER[told] > _MOST_US:
            raise OverlayError(f"{path}: the median round trip would be {middle:g} {told}; say a smaller unit than {told}")
        return told
    low, high = _LIKELY_MS
    if not low <= middle <= high:
        likely = "s" if middle < low else "us"
        raise OverlayError(
            f"{path}: the median round trip would be {middle:g} ms, so the numbers are hardly milliseconds; say their unit: {likely}, "
            "or ms if they are"
        )
    return "ms"


def _check_largest(path: Path, lines: list[int], trips_us: Floats) -> None:
    if trips_us.max() > _LARGEST_US:
        row, column = np.unravel_index(int(trips_us.argmax()), trips_us.shape)
        raise OverlayError(
            f"{_Cell(path, lines[int(row)], int(column) + 1)}: a round trip of {trips_us.max() / 60e6:.0f} minutes is more than an hour; "
            "mend it, or say another unit"
        )
