"""A table of the data set: tab-separated UTF-8 text under gzip, with a header line. Every error names file and line."""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from infra.kernel.errors import SegueError

# Far above every real id and count, and far below where int() itself refuses.
_MOST_DIGITS: Final = 15


class DatasetError(SegueError):
    """Data that cannot be used. The message names the file, the line where there is one, and what to do."""


class DatasetTable:
    """A table while it is being read. It knows at which line it is, for the errors.

    The file at `path` must have `columns` as its header.
    """

    def __init__(self, path: Path, *columns: str) -> None:
        self._path = path
        self._columns = list(columns)
        self._line = 0

    def __iter__(self) -> Iterator[list[str]]:
        """Yields the cells of each row below the header.

        Raises DatasetError where there is no such file, no gzip, no UTF-8, or a wrong number of cells.
        """
        self._line = 0
        for line in self._text().removesuffix("\n").split("\n"):
            self._line += 1
            cells = line.split("\t")
            if self._line == 1 and cells != self._columns:
                raise self.error(f"the header is {line!r} and must be {'<tab>'.join(self._columns)}")
            if len(cells) != len(self._columns):
                raise self.error(f"{len(cells)} cells instead of {len(self._columns)} ({', '.join(self._columns)})")
            if self._line > 1:
                yield cells

    def error(self, why: str) -> DatasetError:
        """Returns an error about the current line, which the caller raises."""
        return DatasetError(f"{self._path}, line {self._line}: {why}")

    def number(self, cell: str) -> int:
        """Returns the cell as a whole number above 0. Raises DatasetError if it is none."""
        if cell.isascii() and cell.isdecimal() and len(cell) <= _MOST_DIGITS and int(cell) > 0:
            return int(cell)
        raise self.error(f"{cell[:40]!r} is not a whole number above 0 of at most {_MOST_DIGITS} digits")

    def _text(self) -> str:
        try:
            return gzip.decompress(self._path.read_bytes()).decode("utf-8")
        except FileNotFoundError:
            raise DatasetError(f"{self._path} is missing; name the folder that holds the tables with --data DIR") from None
        except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
            raise DatasetError(f"{self._path} cannot be read as UTF-8 text under gzip ({error}); fetch or convert it again") from error
