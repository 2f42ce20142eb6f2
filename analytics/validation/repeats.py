"""The check of keys: the same pair twice would count twice everywhere.

Keys are hashed to 64 bits, the hashes are sorted, and neighbours are compared. A table of more rows than fit into memory is read in
several passes, each for its share of the hashes. Hashes that occur twice are then looked up and the keys themselves are compared, so that
a chance collision is no defect. Memory is 16 bytes for each of at most ROWS_PER_PASS rows.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow.parquet as pq

from infra.kernel.trace import Table

from .batches import Progress, batches
from .defects import Defects
from .hashes import Hashes, hashes

ROWS_PER_PASS: Final = 1 << 26
_LOOKED_UP: Final = 10_000


def check_repeats(files: Sequence[Path], table: Table, defects: Defects, progress: Progress, *, rows_per_pass: int = ROWS_PER_PASS) -> None:
    """Adds a defect if rows of a table have the same key.

    `files`, `table`: what to read. `progress`: is told what was read. `rows_per_pass`: about how many rows one pass keeps in memory.
    """
    passes = -(-sum(pq.read_metadata(file).num_rows for file in files) // rows_per_pass)
    repeated, suspects = 0, [np.empty(0, dtype=np.uint64)]
    for number in range(passes):
        found = _share(files, table, number, passes, rows_per_pass, progress)
        twice = found[1:][found[1:] == found[:-1]]
        repeated += len(twice)
        suspects.append(np.unique(twice)[:_LOOKED_UP])
    if repeated:
        _look_up(files, table, np.unique(np.concatenate(suspects))[:_LOOKED_UP], repeated, defects, progress)


def _share(files: Sequence[Path], table: Table, number: int, passes: int, limit: int, progress: Progress) -> Hashes:
    """Returns the hashes of this pass, sorted."""
    parts, taken = [], 0
    for batch in batches(files, table, table.key, f"{table.name}: keys, pass {number + 1} of {passes}", progress):
        found = hashes(batch, table.key)
        parts.append(found[found % np.uint64(passes) == number] if passes > 1 else found)
        taken += len(parts[-1])
        # Hashes fall evenly into shares. Only rows with the same key can make one share that much larger: enough has been seen.
        if taken > 2 * limit:
            break
    share = np.concatenate(parts)
    share.sort()
    return share


def _look_up(files: Sequence[Path], table: Table, suspects: Hashes, repeated: int, defects: Defects, progress: Progress) -> None:
    first: dict[tuple[object, ...], tuple[Path, int]] = {}
    for batch in batches(files, table, table.key, f"{table.name}: repeated keys", progress):
        for place in np.flatnonzero(np.isin(hashes(batch, table.key), suspects)):
            key = tuple(batch.rows.column(name)[int(place)].as_py() for name in table.key)
            row = batch.offset + int(place) + 1
            file, before = first.setdefault(key, (batch.file, row))
            if (file, before) != (batch.file, row):
                what = f"{', '.join(map(repr, key))} again, as in row {before:,}{'' if file == batch.file else f' of {file.name}'}"
                columns = ", ".join(table.key)
                defects.add(batch.file, what, "keep one row of each", table=table.name, column=columns, row=row, rows=repeated)
                return
