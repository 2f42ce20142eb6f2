"""A data set becomes a trace."""

from pathlib import Path

from analytics.building import building
from analytics.errors import TraceError
from analytics.parts import write_manifest, write_part
from infra.kernel.manifest import Manifest, TableInfo

from .draft import Draft
from .edges import both_ways
from .format import Format


def import_trace(form: Format, path: Path, target: Path, *, undirected: bool = False) -> Manifest:
    """Reads the files at `path` and makes the trace `target` of them; returns its manifest.

    `undirected`: rows hold both ways. Raises TraceError, and then there is no `target`.
    """
    if undirected and not form.may_be_undirected:
        raise TraceError(f"{form.key}: says itself which way its rows go; leave out --undirected")
    if not path.exists():
        raise TraceError(f"{path}: there is no such file or folder; it must be {form.path}")
    with building(target) as folder:
        draft = both_ways(path) if undirected else form.read(path)
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
        limits=dict(form.limits),
        notes=(form.becomes, *form.notes, *draft.notes),
    )
