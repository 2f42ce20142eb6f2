"""The import of a data set: read it, write it as a trace, say in the manifest what it is."""

from pathlib import Path

from analytics.building import building
from analytics.errors import TraceError
from analytics.parts import write_manifest, write_part
from infra.kernel.manifest import Manifest, TableInfo

from . import edges
from .draft import Draft
from .edge_columns import EdgeOptions
from .format import Format


def import_trace(form: Format, path: Path, target: Path, *, asked: EdgeOptions | None = None) -> Manifest:
    """Reads the files at `path` in the form `form`, makes the trace `target` of them, and returns its manifest.

    `asked`: how to read an edge list, if not as it comes. Raises TraceError, and then there is no `target`.
    """
    if asked is not None and form is not edges.FORMAT:
        raise TraceError(f"{form.key}: knows its columns and which way its rows go; --undirected, --src, --dst, --weight are for edges")
    if not path.exists():
        raise TraceError(f"{path}: there is no such file or folder; it must be {form.path}")
    with building(target) as folder:
        draft = form.read(path) if asked is None else edges.read_edges(path, asked)
        tables = {table: TableInfo(rows=write_part(folder, table, 0, columns)) for table, columns in draft.tables.items()}
        if not any(info.rows for info in tables.values()):
            raise TraceError(f"{path}: nothing is left of its rows ({'; '.join(draft.notes)}); is this the right file?")
        manifest = _manifest(form, path, draft, tables)
        write_manifest(folder, manifest)
    return manifest


def _manifest(form: Format, path: Path, draft: Draft, tables: dict[str, TableInfo]) -> Manifest:
    start_ms, end_ms = draft.period_ms or (None, None)
    return Manifest(
        name=form.key if path.is_dir() else f"{form.key}: {path.name.partition('.')[0]}",
        origin="imported",
        source=form.source,
        start_ms=start_ms,
        end_ms=end_ms,
        time_zone=form.time_zone,
        pseudonymisation=form.pseudonymisation,
        tables=tables,
        limits=dict(form.limits if draft.limits is None else draft.limits),
        notes=(form.becomes, *form.notes, *draft.notes),
    )
