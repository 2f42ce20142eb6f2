"""Rows of Parquet files, as batches of a bounded size that know the place of each row."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from infra.kernel.trace import Table

Bools = NDArray[np.bool_]
# Step, rows that were read, rows of the step.
Progress = Callable[[str, int, int], None]

ROWS: Final = 1 << 20


class RowBatch(NamedTuple):
    """Some rows of a file. Text columns are dictionary-encoded. `offset`: how many rows of the file are before them."""

    file: Path
    offset: int
    rows: pa.RecordBatch

    def numbers(self, column: str) -> NDArray[np.int64]:
        """Returns a column of integers; null is 0."""
        values: NDArray[np.int64] = self.rows.column(column).fill_null(0).to_numpy(zero_copy_only=False)
        return values

    def nulls(self, column: str) -> Bools:
        """Returns which rows are null in a column."""
        found: Bools = self.rows.column(column).is_null().to_numpy(zero_copy_only=False)
        return found

    def among(self, column: str, words: Sequence[str]) -> Bools:
        """Returns which rows say one of these words; null does not."""
        texts = self.rows.column(column)
        if not len(texts.dictionary):
            return np.zeros(len(texts), dtype=np.bool_)
        # Each different word is looked at once; rows have only its index. Null has none, and is taken out at the end.
        wanted = pc.is_in(texts.dictionary.cast(pa.string()), value_set=pa.array(words, pa.string())).to_numpy(zero_copy_only=False)
        found: Bools = wanted[texts.indices.fill_null(0).to_numpy(zero_copy_only=False)]
        return found & ~self.nulls(column)


def batches(files: Sequence[Path], table: Table, columns: Sequence[str], step: str, progress: Progress) -> Iterator[RowBatch]:
    """Yields all rows of the files, in order. Raises Damaged where a file cannot be read to its end.

    - `files`, `table`: what to read. `columns`: which columns of it.
    - `step`, `progress`: `progress` is told the step, the rows that were read, and the rows of the step.
    """
    texts = [column.name for column in table.columns if column.type == "string" and column.name in columns]
    total, done = sum(pq.read_metadata(file).num_rows for file in files), 0
    for file in files:
        offset = 0
        try:
            with pq.ParquetFile(file, read_dictionary=texts) as found:
                for rows in found.iter_batches(batch_size=ROWS, columns=list(columns)):
                    yield RowBatch(file, offset, rows)
                    offset += len(rows)
                    done += len(rows)
                    progress(step, done, total)
        except (pa.ArrowException, OSError) as error:
            raise Damaged(file, offset) from error


class Damaged(Exception):  # noqa: N818 - says what the file is
    """A file that cannot be read beyond some row."""

    def __init__(self, file: Path, offset: int) -> None:
        self.file, self.offset = file, offset
        super().__init__(f"{file}: cannot be read beyond row {offset:,}")
