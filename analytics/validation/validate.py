"""The check of every row of a trace, in memory that does not grow with its rows."""

from collections.abc import Sequence
from pathlib import Path

from analytics.trace import Trace
from infra.kernel.trace import TABLES, Table

from .agreement import check_agreement
from .batches import Damaged, Progress
from .defects import Defects, Report
from .files import check_files
from .repeats import check_repeats
from .rows import check_rows


def validate(trace: Trace, progress: Progress = lambda _step, _done, _total: None) -> Report:
    """Returns everything that is wrong with a trace. `progress` is told the step, the rows read in it, and the rows of the step.

    Tables that cannot be read whole are looked at as far as that goes. What is not asked of a trace is not checked: events on topics that
    nobody follows are fine.
    """
    defects = Defects()
    files = check_files(trace, defects)
    rows = {name: _check_table(files[name], table, trace, defects, progress) for name, table in TABLES.items() if files[name]}
    if all(rows.get(name) and _is_whole(trace, name, files[name]) for name in ("counts", "publications")):
        check_agreement(files["counts"], files["publications"], defects, progress)
    return Report(defects.all(), {name: found for name, found in rows.items() if found is not None})


def _check_table(files: Sequence[Path], table: Table, trace: Trace, defects: Defects, progress: Progress) -> int | None:
    """Returns the number of rows of a table, or None if they cannot all be read."""
    try:
        rows = check_rows(files, table, trace.manifest, defects, progress)
        if table.key:
            check_repeats(files, table, defects, progress)
    except Damaged as damage:
        what = f"cannot be read beyond row {damage.offset:,}: it is damaged"
        defects.add(damage.file, what, "write or copy it again", table=table.name)
        return None
    return rows


def _is_whole(trace: Trace, table: str, readable: Sequence[Path]) -> bool:
    """Returns whether a table is no sample and all of its files can be read."""
    info = trace.manifest.tables.get(table)
    return info is not None and info.fraction == 1 and list(readable) == trace.files(table)
