"""The tables of a trace for planning. They are checked first, and then read part by part, without Spark."""

from collections.abc import Callable, Iterator
from functools import reduce
from operator import and_
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
from pyarrow.parquet import RowGroupMetaData

from analytics.errors import TraceError
from analytics.schema import SCHEMAS
from analytics.trace import Trace
from infra.kernel.trace import TABLES

_ROWS: Final = 1 << 20
# Parts are read ahead while one is worked on; the default of 16 batches of 4 files holds gigabytes.
_AHEAD: Final = 4
# Codes are faster to compare than strings.
_CODES: Final = pa.dictionary(pa.int32(), pa.string())


def dataset(trace: Trace, table: str) -> ds.FileSystemDataset:
    """Returns all rows, with the types of the table's definition.

    Raises NotSupported if there are none. Raises TraceError if the files are gone, or if one is no Parquet or has other columns.
    """
    trace.info(table)
    files = trace.files(table)
    if not files:
        raise TraceError(f"{trace.path / table}: the manifest says that there are {table}, but there is no *.parquet file")
    found = ds.dataset(files, schema=SCHEMAS[table], format="parquet")
    for fragment in found.get_fragments():
        try:
            _check_columns(fragment.path, table, fragment.physical_schema)
        except (pa.ArrowException, OSError) as error:
            raise TraceError(f"{fragment.path}: cannot be read: {error}") from None
    return found


def batches(found: ds.FileSystemDataset, columns: Any, wanted: pc.Expression | None) -> Iterator[pa.RecordBatch]:
    """Yields the `columns` of the rows that are `wanted`, in order.

    Raises TraceError for a row without a value, and for a file that cannot be read to its end.
    """
    try:
        for batch in found.to_batches(columns=columns, filter=wanted, batch_size=_ROWS, batch_readahead=_AHEAD, fragment_readahead=1):
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                if column.null_count:
                    raise TraceError(f"{_with_nulls(found, name)}: column {name} has rows without a value; give each one")
            yield batch
    except (pa.ArrowException, OSError) as error:
        raise TraceError(f"{Path(found.files[0]).parent}: cannot be read: {error}") from None


def matching(found: ds.FileSystemDataset, columns: list[str], wanted: dict[str, str]) -> Iterator[pa.RecordBatch]:
    """Yields the `columns` of the rows with the `wanted` values, in any order.

    Values are not read where the statistics of the file say that all are the same.
    """
    compared = reduce(and_, (ds.field(column) == value for column, value in wanted.items()))
    coded = pa.schema([field.with_type(_CODES) if field.name in wanted else field for field in found.schema])
    codes = ds.ParquetFileFormat(dictionary_columns=set(wanted))
    sure: list[ds.ParquetFileFragment] = []
    others: list[ds.ParquetFileFragment] = []
    for fragment in found.get_fragments():
        for part in fragment.split_by_row_group(compared):
            [group] = part.row_groups
            if _all_match(group.metadata, wanted):
                sure.append(part)
            else:
                others.append(codes.make_fragment(part.path, part.filesystem, row_groups=[group.id]))
    yield from batches(ds.FileSystemDataset(sure, found.schema, found.format), columns, None)
    yield from batches(ds.FileSystemDataset(others, coded, codes), columns, compared)


def _check_columns(path: str, table: str, schema: pa.Schema) -> None:
    for column in TABLES[table].columns:
        place = schema.get_field_index(column.name)
        found = schema.field(place).type if place >= 0 else None
        if column.may_be_null and (found is None or pa.types.is_null(found)):
            continue
        if found is None or not _FITS[column.type](found):
            raise TraceError(f"{path}: column {column.name} is {found or 'missing'}; it must be {column.type} (docs/trace.md)")


def _is_text(found: pa.DataType) -> bool:
    if pa.types.is_dictionary(found):
        return _is_text(found.value_type)
    return bool(pa.types.is_string(found) or pa.types.is_large_string(found))


_FITS: Final[dict[str, Callable[[pa.DataType], bool]]] = {"int64": pa.types.is_integer, "string": _is_text}


def _with_nulls(found: ds.FileSystemDataset, column: str) -> str:
    """Returns the first file with a row that has no value in `column`."""
    return next(str(each.path) for each in found.get_fragments() if each.count_rows(filter=ds.field(column).is_null()))


def _all_match(group: RowGroupMetaData, wanted: dict[str, str]) -> bool:
    """Returns whether statistics show that each row has the `wanted` values.

    A bound may be a shortened value, so it proves something only if both bounds are the wanted value.
    """
    known = {each.path_in_schema: each.statistics for each in map(group.column, range(group.num_columns))}
    found = [(known.get(column), value) for column, value in wanted.items()]
    return all(each and each.has_min_max and each.null_count == 0 and each.min == each.max == value for each, value in found)
