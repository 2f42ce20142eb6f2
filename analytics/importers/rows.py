"""Rows of a published text file, plain or gzip. They are read whole, or refused with file, line and remedy."""

import gzip
import zlib
from array import array
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO, Final, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from analytics.errors import TraceError

Columns = dict[str, NDArray[np.int64]]

_GZIP: Final = b"\x1f\x8b"
_COMMENT: Final = b"#"
_REMEDY: Final = "mend or remove the line"
# The year 10000: a time beyond it is in another unit.
UNIX_S: Final = 253_402_300_800
UNIX_MS: Final = 1000 * UNIX_S


class Layout(NamedTuple):
    """The layout of a file: its columns hold integers that are not negative.

    - `columns`: their names. `delimiter`: between them; None for blanks.
    - `headers`: the first lines that there may be, with one space between names; empty where rows begin at once.
    - `words`: what the last column may say, if it holds words. They become their places in this tuple.
    - `below`: values of a column are smaller than this.
    - `places`: where the columns are in a row, counted from 0, if it has others as well.
    - `skips_first`: whether the first row is passed over.
    """

    columns: tuple[str, ...]
    headers: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    below: Mapping[str, int] = MappingProxyType({})
    places: tuple[int, ...] = ()
    delimiter: bytes | None = None
    skips_first: bool = False


def find(path: Path, *names: str) -> Path:
    """Finds the first file in the folder `path` that has one of these names, as it is or with `.gz`.

    Raises TraceError where there is none.
    """
    if not path.is_dir():
        raise TraceError(f"{path}: must be the folder that holds {' or '.join(names)} (or the same with .gz)")
    for name in names:
        for found in (path / name, path / f"{name}.gz"):
            if found.is_file():
                return found
    raise TraceError(f"{path}: has no {' or '.join(names)} (plain or .gz); name the folder of the published files")


def find_one(path: Path, name: str) -> Path:
    """Returns `path` itself if it is a file, else the file of that name in the folder `path`. Raises TraceError as `find` does."""
    return path if path.is_file() else find(path, name)


def read_rows(path: Path, layout: Layout) -> Columns:
    """Reads the columns of a file by name. Empty lines and those that begin with # are passed over.

    Raises TraceError that names the line, and for files that cannot be read, end early or hold no rows.
    """
    # Eight bytes a number; a list of Python's integers would take 36.
    cells = array("q")
    for number, fields in _rows(path, layout):
        try:
            cells.extend(map(int, fields))
        except (OverflowError, ValueError):
            raise TraceError(f"{path}, line {number}: a number does not fit into 64 bits; {_REMEDY}") from None
    if not cells:
        raise TraceError(f"{path}: has no rows; download it again")
    table = np.frombuffer(cells, dtype=np.int64).reshape(-1, len(layout.columns))
    columns = {name: np.ascontiguousarray(table[:, place]) for place, name in enumerate(layout.columns)}
    _check_below(path, columns, layout)
    return columns


def line_of(path: Path, layout: Layout, row: int) -> int:
    """Returns the number of the line in which a row stands that `read_rows` has read. Rows are counted from 0.

    Numbers of lines are not kept: the file is read again up to that row, once, for a message.
    """
    number, _ = next(islice(_rows(path, layout), row, None))
    return number


def first_row(path: Path) -> bytes:
    """Returns the first line of a file that is neither empty nor a comment. Raises TraceError where there is none."""
    with opened(path) as file:
        found = next((line for line in file if line.strip() and not line.lstrip().startswith(_COMMENT)), None)
    if found is None:
        raise TraceError(f"{path}: has no rows; download it again")
    return found


def cells_of(line: bytes, delimiter: bytes | None) -> list[bytes]:
    """Returns the cells of a row, without blanks and quotation marks around them."""
    return line.split() if delimiter is None else [cell.strip().strip(b'"') for cell in line.split(delimiter)]


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Opens a file, plain or packed by gzip. Raises TraceError, within the block as well, where it cannot be read to its end."""
    try:
        with path.open("rb") as raw:
            packed = raw.read(len(_GZIP)) == _GZIP
            raw.seek(0)
            # A GzipFile is read like any binary file.
            yield cast(BinaryIO, gzip.GzipFile(fileobj=raw)) if packed else raw
    except EOFError:
        raise TraceError(f"{path}: ends early; download it again") from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise TraceError(f"{path}: is damaged ({error}); download it again") from None
    except OSError as error:
        raise TraceError(f"{path}: cannot be read: {error.strerror or error}") from None


def _check_header(path: Path, line: bytes, layout: Layout) -> None:
    found = b" ".join(line.split())
    if found not in [header.encode() for header in layout.headers]:
        raise TraceError(f"{path}, line 1: must be the header {' or '.join(map(repr, layout.headers))}, not {_shown(found)}")


def _check_below(path: Path, columns: Columns, layout: Layout) -> None:
    for name, limit in layout.below.items():
        large = columns[name] >= limit
        if large.any():
            row = int(large.argmax())
            raise TraceError(
                f"{path}, line {line_of(path, layout, row)}: column {name}: {columns[name][row]} is not below {limit}; {_REMEDY}"
            )


def _rows(path: Path, layout: Layout) -> Iterator[tuple[int, list[bytes]]]:
    """Yields the rows with the numbers of their lines. Each has as many cells as there are columns, all of digits."""
    with opened(path) as file:
        lines = enumerate(file, 1)
        if layout.headers:
            _check_header(path, next(lines, (1, b""))[1], layout)
        yield from _fields(path, lines, layout)


def _fields(path: Path, lines: Iterator[tuple[int, bytes]], layout: Layout) -> Iterator[tuple[int, list[bytes]]]:
    width = len(layout.columns)
    words = {word.encode(): b"%d" % place for place, word in enumerate(layout.words)}
    skips = layout.skips_first
    for number, line in lines:
        row = fields = cells_of(line, layout.delimiter)
        if not any(fields) or fields[0].startswith(_COMMENT):
            continue
        if skips:
            skips = False
            continue
        if layout.places:
            fields = [fields[place] for place in layout.places if place < len(fields)]
        cells = [*fields[:-1], words.get(fields[-1], b"?")] if words else fields
        # One look at all cells together: this line runs for every row of the file.
        if len(cells) != width or not b"".join(cells).isdigit():
            raise TraceError(f"{path}, line {number}: {_complaint(row, fields, layout)}; {_REMEDY}")
        yield number, cells


def _complaint(row: list[bytes], fields: list[bytes], layout: Layout) -> str:
    if len(fields) != len(layout.columns):
        wanted = f"{max(layout.places) + 1} columns or more" if layout.places else f"{len(layout.columns)} columns"
        return f"must have {wanted} ({', '.join(layout.columns)}), not {len(row)}"
    *numbers, last = zip(layout.columns, fields, strict=True)
    for name, field in numbers if layout.words else [*numbers, last]:
        if not field.isdigit():
            reason = "is negative" if field.startswith(b"-") and field[1:].isdigit() else "is no whole number"
            return f"column {name}: {_shown(field)} {reason}"
    return f"column {last[0]}: must be {' or '.join(layout.words)}, not {_shown(last[1])}"


def _shown(field: bytes) -> str:
    return repr(field[:40].decode(errors="replace"))
