"""The checks that read no rows: of the manifest, and of the footers of the Parquet files."""

from pathlib import Path
from typing import Final
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq

from analytics.errors import TraceError
from analytics.trace import Trace
from infra.kernel.manifest import MANIFEST, MANIFESTS
from infra.kernel.trace import TABLES, Column, Table

from .defects import Defects

DAY_MS: Final = 86_400_000
# Times that have a date in every time zone: the years 2 to 9998.
_DATED_MS: Final = (-62_104_060_800_000, 253_370_764_800_000)
# Programs that write Parquet declare text in two ways; the text in the file is the same.
_TYPES: Final = {"int64": (pa.int64(),), "string": (pa.string(), pa.large_string())}
_MAGIC: Final = b"PAR1"
_AGAIN: Final = "write or copy it again"


def quick_check(trace: Trace) -> None:
    """Raises TraceError with the first thing that is wrong with the manifest or the files. Reads no rows."""
    defects = Defects()
    check_files(trace, defects)
    errors = [defect for defect in defects.all() if defect.severity == "error"]
    if errors:
        more = f" (and {len(errors) - 1} more: `segue analyze validate {trace.path}` tells them)" if errors[1:] else ""
        raise TraceError(f"{errors[0]}{more}")


def check_files(trace: Trace, defects: Defects) -> dict[str, list[Path]]:
    """Adds to `defects` what is wrong. Returns the files of each table whose rows can be read."""
    _check_manifest(trace, defects)
    readable = {name: _check_table(trace, table, defects) for name, table in TABLES.items()}
    if not any(info.rows for info in trace.manifest.tables.values()):
        defects.add(trace.path, "the trace is empty: no table has a row", "make it again; what it was made from may be empty")
    for folder in sorted(trace.path.iterdir()):
        if folder.is_dir() and folder.name not in TABLES:
            defects.add(folder, "is no table of a trace and is not read", f"tables are {', '.join(TABLES)}", severity="warning")
    return readable


def _check_manifest(trace: Trace, defects: Defects) -> None:
    manifest, files = trace.manifest, sorted(trace.path.glob(MANIFESTS))
    file = trace.path if files[1:] else files[0]
    _check_period(trace, file, defects)
    for name, info in manifest.tables.items():
        if not 0 < info.fraction <= 1 or info.rows < 0:
            what = f"{name} has {info.rows} rows, fraction {info.fraction}"
            defects.add(file, what, "rows are 0 or more, a fraction is over 0, at most 1", table=name)
    try:
        ZoneInfo(manifest.time_zone)
    except (KeyError, ValueError, OSError):
        defects.add(file, f"there is no time zone {manifest.time_zone!r}", "give a name as Europe/Stockholm or UTC")


def _check_period(trace: Trace, file: Path, defects: Defects) -> None:
    start_ms, end_ms = trace.manifest.start_ms, trace.manifest.end_ms
    if (start_ms is None) != (end_ms is None) or (start_ms is not None and end_ms is not None and start_ms >= end_ms):
        defects.add(file, f"the period {start_ms} to {end_ms} is none", "give start_ms and a later end_ms, or neither")
    elif start_ms is None or end_ms is None:
        if timed := [name for name, table in TABLES.items() if table.by_time and trace.has(name)]:
            defects.add(file, f"there is no period, but {timed[0]} have times", "give start_ms and end_ms")
    elif start_ms < _DATED_MS[0] or end_ms > _DATED_MS[1]:
        what = f"the period {start_ms} to {end_ms} is not within the years 2 to 9998"
        defects.add(file, what, "times are in Unix milliseconds, neither micro- nor nanoseconds")
    elif end_ms - start_ms < DAY_MS:
        what = f"the period is {(end_ms - start_ms) / 3_600_000:.1f} hours, shorter than a day"
        defects.add(file, what, "the figures of the day and the week will be left out", severity="warning")


def _check_table(trace: Trace, table: Table, defects: Defects) -> list[Path]:
    info, files = trace.manifest.tables.get(table.name), trace.files(table.name)
    folder = trace.path / table.name
    if info is None and files:
        defects.add(
            folder, "has files, but the manifest does not speak of it", f"add it under tables in {MANIFEST}, or remove it", table=table.name
        )
    if info is not None and info.rows and not files:
        what = f"has no *.parquet file, but the manifest says {info.rows:,} rows"
        defects.add(folder, what, f"{_AGAIN}, or correct {MANIFEST}", table=table.name)
    rows = {file: _check_file(file, table, defects) for file in files}
    total = sum(filter(None, rows.values()))
    if info is not None and files and None not in rows.values() and total != info.rows:
        what = f"has {total:,} rows, but the manifest says {info.rows:,}"
        defects.add(folder, what, f"copy all files of it, or correct {MANIFEST}", table=table.name)
    return [file for file, found in rows.items() if found is not None]


def _check_file(file: Path, table: Table, defects: Defects) -> int | None:
    """Returns the number of rows in `file`, or None if they cannot be read."""
    try:
        with pq.ParquetFile(file) as found:
            schema, rows = found.schema_arrow, int(found.metadata.num_rows)
    except (pa.ArrowException, OSError) as error:
        defects.add(file, _unreadable(file, error), _AGAIN, table=table.name)
        return None
    wrong = [_check_column(file, table, column, schema, defects) for column in table.columns]
    if strange := [name for name in schema.names if name not in [column.name for column in table.columns]]:
        defects.add(file, f"has a column {strange[0]!r} more, which is not read", "leave it out", table=table.name, severity="warning")
    return None if any(wrong) else rows


def _check_column(file: Path, table: Table, column: Column, schema: pa.Schema, defects: Defects) -> bool:
    """Returns whether the column is wrong, and adds why."""
    if column.name not in schema.names:
        what, remedy = "the column is missing", f"add it as {column.type}: {column.meaning}"
    elif (found := _plain(schema.field(column.name).type)) not in _TYPES[column.type]:
        what, remedy = f"has the type {found}", f"convert it to {column.type}"
    else:
        return False
    defects.add(file, what, remedy, table=table.name, column=column.name)
    return True


def _plain(found: pa.DataType) -> pa.DataType:
    return found.value_type if pa.types.is_dictionary(found) else found


def _unreadable(file: Path, error: Exception) -> str:
    if isinstance(error, OSError) and error.errno is not None:
        return f"cannot be read: {error.strerror}"
    with file.open("rb") as raw:
        begun = raw.read(len(_MAGIC)) == _MAGIC
    return "ends early: the end of a Parquet file is missing or damaged" if begun else "is no Parquet file"
