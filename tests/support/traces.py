"""Small traces, written by hand."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from analytics.building import building
from analytics.parts import write_manifest, write_part
from infra.kernel.manifest import Manifest, TableInfo

BARE = Manifest(name="small", origin="generated", source="a test", pseudonymisation="none", start_ms=0, end_ms=10)
_WHOLE: Final = TableInfo(rows=0)


def write(path: Path, about: Manifest = BARE, **columns: Mapping[str, Any]) -> Path:
    """Writes a trace with these columns of each table, and returns `path`. `about.tables` says which tables are samples."""
    with building(path) as folder:
        rows = {table: write_part(folder, table, 0, each) for table, each in columns.items()}
        tables = {table: msgspec.structs.replace(about.tables.get(table, _WHOLE), rows=count) for table, count in rows.items()}
        write_manifest(folder, msgspec.structs.replace(about, tables=tables))
    return path


def ring(path: Path, users: int) -> Path:
    """Writes a trace and returns `path`. Each user follows the next three around a ring, and user n has n + 1 events."""
    pairs = [(user, (user + step) % users) for user in range(users) for step in (1, 2, 3)]
    subscribers, topics = map(list, zip(*pairs, strict=True))
    return write(
        path,
        subscriptions={"subscriber": subscribers, "service": ["presence"] * len(pairs), "topic": topics},
        counts={"service": ["presence"] * users, "topic": list(range(users)), "events": list(range(1, users + 1))},
    )
