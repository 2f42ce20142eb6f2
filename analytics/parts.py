"""The writer of trace tables. A table is written part by part; several processes may write parts at the same time."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq

from infra.kernel.manifest import MANIFEST, Manifest

from .schema import SCHEMAS

ROWS_PER_GROUP: Final = 1 << 20


def write_part(folder: Path, table: str, number: int, columns: Mapping[str, Any]) -> int:
    """Writes `<folder>/<table>/part-<number>.parquet` and returns its number of rows. The same columns give the same bytes.

    `columns`: NumPy or Arrow arrays (a text column may be dictionary-encoded) or lists, by name. A column that may be null and is
    missing is null. Raises OSError, and ValueError for columns that do not fit the table.
    """
    schema = SCHEMAS[table]
    found = as_table(schema, columns)
    path = folder / table / f"part-{number:05d}.parquet"
    path.parent.mkdir(exist_ok=True)
    pq.write_table(found, path, compression="zstd", row_group_size=ROWS_PER_GROUP, use_dictionary=_words(schema), write_statistics=True)
    return int(found.num_rows)


def as_table(schema: pa.Schema, columns: Mapping[str, Any]) -> pa.Table:
    """Returns `columns` as a table of `schema`. Raises ValueError for a column that the schema does not have, or that does not fit."""
    if unknown := columns.keys() - set(schema.names):
        raise ValueError(f"no such column: {', '.join(sorted(unknown))}")
    rows = max(map(len, columns.values()), default=0)
    arrays = [_array(columns[field.name], field) if field.name in columns else pa.nulls(rows, field.type) for field in schema]
    table = pa.Table.from_arrays(arrays, schema=schema)
    table.validate()
    return table


def write_manifest(folder: Path, manifest: Manifest) -> None:
    """Writes the manifest into `folder`. It is the last file of a trace, because it tells the rows of all others."""
    (folder / MANIFEST).write_bytes(manifest.encode())


def _array(values: Any, field: pa.Field) -> pa.Array:
    found = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)
    return found if found.type == field.type else found.cast(field.type)


def _words(schema: pa.Schema) -> list[str]:
    """Returns the names of the text columns. They have few different words, so a dictionary makes them small."""
    return [field.name for field in schema if field.type == pa.string()]
